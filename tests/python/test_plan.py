"""What a plan says, and that it is what runs."""

import numpy as np
import optc
import pytest
from conftest import ROWS, squeezenet


@pytest.fixture(scope="module")
def model():
    return optc.compile(squeezenet()[0], synthesize_weights=True, threads=1)


def test_the_plan_is_a_table(model):
    pandas = pytest.importorskip("pandas")
    plan = model.plan
    frame = pandas.DataFrame(plan)
    assert list(frame.columns) == list(plan.columns) and len(frame) == len(plan)
    assert frame.equals(pandas.DataFrame(plan.columns))
    own = frame[frame.pool == "arena"]
    assert (own.offset + own.bytes).max() <= plan.arena_bytes
    assert (frame["first"] <= frame["last"]).all()
    assert frame[frame.kind == "input"].value.tolist() == ["%arg0"]
    assert (frame.node.str.contains("features.3")).any() and set(own.kind) == {"result", "scratch"}


def test_no_two_buffers_of_the_plan_share_bytes_at_a_time(model):
    rows = [row for row in model.plan if row["pool"] == "arena" and row["bytes"]]
    overlaps = {(over["input"], over["output"]) for over in model.plan.report["overlaps"]}
    for index, a in enumerate(rows):
        for b in rows[:index]:
            meets = a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]
            at_once = a["first"] <= b["last"] and b["first"] <= a["last"]
            names = (a["value"], b["value"])
            is_declared = names in overlaps or names[::-1] in overlaps
            assert not (meets and at_once) or a["buffer"] == b["buffer"] or is_declared, (a, b)


def test_the_plan_is_what_the_model_takes(model):
    plan = model.plan
    assert plan.arena_bytes == model.arena_bytes == plan.bound_bytes == model.prepare()
    assert plan.weights_bytes == model.weights_bytes > 1_000_000
    assert plan.peak_bytes == plan.live_bytes[plan.peak] > plan.arena_bytes / 2
    assert plan.pools[0]["name"] == "arena" and plan.pools[0]["size_bytes"] == plan.arena_bytes
    sparing = optc.compile(squeezenet()[0], synthesize_weights=True, threads=1, optimize="memory")
    assert sparing.arena_bytes < model.arena_bytes
    assert f"optc.arena = {plan.arena_bytes}" in str(plan.module)


def test_a_budget_is_met_or_the_fault_says_what_would_help(model):
    within = optc.compile(squeezenet()[0], synthesize_weights=True, threads=1, budget="2MB")
    assert within.arena_bytes <= 2_000_000
    with pytest.raises(optc.Error, match="budget of 1000 bytes") as caught:
        optc.compile(squeezenet()[0], synthesize_weights=True, threads=1, budget=1000)
    assert caught.value.diagnostics[0].notes


def test_the_plan_is_a_page(model, tmp_path):
    page = model.plan.to_html(tmp_path / "plan.html")
    assert (tmp_path / "plan.html").read_text() == page
    assert page.startswith("<!") and "http://" not in page.replace("http://www.w3.org/", "")
    assert "<iframe" in model.plan._repr_html_()


def test_a_plan_of_named_sizes_is_at_some():
    model = optc.compile(optc.Module.parse(ROWS), dims={"N": (1, 4096)}, threads=1)
    assert model.dims == {"N": (1, 4096)}
    plan = model.plan
    assert plan.sizes == {"N": 4096} and plan.arena_bytes <= plan.bound_bytes == model.arena_bytes
    small = model.plan_at(N=8)
    assert small.sizes == {"N": 8} and small.arena_bytes < plan.arena_bytes
    assert small.arena_bytes == model.prepare({"x": (8, 3)})
    with pytest.raises(optc.Error, match="the program has no named size `M`"):
        model.plan_at(M=8)
    fixed = optc.compile(optc.Module.parse(ROWS), dims={"N": 8}, threads=1)
    assert fixed.dims == {} and fixed.inputs[0].shape == (8, 3)
    with pytest.raises(optc.Error, match="4097"):
        model(np.ones((4097, 3), np.float32), np.ones((4097, 3), np.float32))
