"""Opens pages of `optc plan --html` in Chromium, and compares what they show with `optc plan --json`."""

import json
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

OPTC, BROWSER, WORK = sys.argv[1:]

HOSTILE = """func.func @main(%x: tensor<64xf32> {optc.name = "</script><script>window.hit = 1</script>"}) -> tensor<64xf32> {
  %0 = nn.exp %x : tensor<64xf32> loc("<img src=x onerror='window.hit = 2'>")
  %1 = nn.softmax %0 {axis = 0} : tensor<64xf32>
  return %1 : tensor<64xf32>
}
"""


def chain(length):
    """A program of `length` steps, each with a buffer of its own."""
    rows = ["func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {"]
    before = "%x"
    for index in range(length):
        types = "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>"
        rows.append(f"  %{index} = nn.matmul {before}, %w : {types}")
        before = f"%{index}"
    rows += [f"  return {before} : tensor<8x8xf32>", "}"]
    return "\n".join(rows)


def made(name, text):
    path = f"{WORK}/{name}.mlir"
    with open(path, "w") as file:
        file.write(text)
    return [path]


def check(browser, arguments, hovers):
    page_path = f"{WORK}/page.html"
    command = [OPTC, "plan", *arguments, "--html", page_path, "--json", "-"]
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    errors, requests = [], []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    start = time.monotonic()
    page.goto(f"file://{page_path}")
    shown = time.monotonic() - start
    facts = page.inner_text("#facts")
    arena = plan["pools"][0]
    for number in [arena["size_bytes"], arena["lower_bound_bytes"], plan["naive_bytes"], plan["weights_bytes"]]:
        assert f"{number} bytes" in facts, (number, facts)
    steps = page.evaluate("steps")
    assert steps >= len(plan["steps"])
    box = page.locator("#map canvas").bounding_box()
    found = 0
    shared = {value["root"] for value in plan["values"] if value["root"] != value["name"]}
    arenas = [value for value in plan["values"] if value["pool"] == "arena" and value["size_bytes"]]
    values = [value for value in arenas if value["name"] == value["root"] and value["name"] not in shared]
    for value in sorted(values, key=lambda value: -value["size_bytes"])[:hovers]:
        x = box["x"] + (value["first"] + 0.5) / steps * box["width"]
        y = box["y"] + box["height"] * (1 - (value["offset"] + value["size_bytes"] / 2) / arena["size_bytes"])
        page.mouse.move(x, y)
        # Browsers hand over moves of the mouse with the next frame.
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        head = page.inner_text("#about h2")
        at = value["offset"] + value["size_bytes"] // 2
        there = [v["root"] for v in arenas if v["first"] <= value["first"] <= v["last"]
                 and v["offset"] <= at < v["offset"] + v["size_bytes"]]
        names = [name if not name.startswith("scratch") else "scratch" for name in there]
        assert head.split(":")[0] in names, (head, there)
        found += 1
    rows = page.locator("#list tbody tr").count()
    assert rows == min(len(plan["values"]), 2000), rows
    assert page.evaluate("window.hit") is None, "a name was run"
    assert len(requests) == 1, requests
    assert not errors, errors
    context.close()
    print(f"{arguments[0]}: {len(plan['values'])} values, {found} hovers right, shown in {shown:.2f} s")


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
    check(browser, ["examples/squeezenet1_1.onnx", "--synthesize-weights"], 40)
    check(browser, made("hostile", HOSTILE), 2)
    check(browser, made("chain", chain(20_000)), 5)
    browser.close()
