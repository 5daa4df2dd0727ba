"""Programs in the IR, and what is said of their faults."""

import optc
import pytest
from conftest import RELU


def test_a_module_is_what_it_prints():
    module = optc.Module.parse(RELU)
    again = optc.Module.parse(str(module))
    assert str(again) == str(module) and "nn.relu" in str(module)
    assert '"nn.relu"(' in module.to_text(generic=True)
    assert "loc(" in module.to_text(locations=True)


def test_a_pipeline_changes_the_module_or_leaves_it():
    module = optc.Module.parse(RELU)
    module.run_pipeline("fuse,inplace,plan", threads=2, target_cpu="x86-64-v3")
    assert "mem.place" in str(module) and 'optc.target = "x86-64-v3"' in str(module)
    before = str(module)
    for pipeline, message in [("fues", "did you mean `fuse`"), ("plan{planner=best}", "best"), ("fuse{", "fuse")]:
        with pytest.raises(optc.Error, match=message) as caught:
            module.run_pipeline(pipeline)
        assert caught.value.diagnostics[0].severity == "error"
        assert str(module) == before
    with pytest.raises(optc.Error, match="x86-64-v9"):
        module.run_pipeline("fuse", target_cpu="x86-64-v9")


def test_remarks_of_passes_are_diagnostics():
    module = optc.Module.parse("""func.func @main(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
      %0 = nn.cum_sum %x {axis = 0} : tensor<64x64xf32>
      %1 = nn.relu %0 : tensor<64x64xf32>
      return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
    }""")
    remarks = module.run_pipeline("fuse,inplace,plan")
    assert remarks and all(remark.severity == "remark" and remark.message for remark in remarks)


def test_every_fault_of_a_text_is_a_diagnostic():
    text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = nn.relu %x : tensor<5xf32>\n  %1 = nn.nag %x : tensor<4xf32>\n  return %x : tensor<4xf32>\n}"
    with pytest.raises(optc.Error) as caught:
        optc.Module.parse(text, name="net.mlir")
    faults = caught.value.diagnostics
    assert {fault.file for fault in faults} == {"net.mlir"}
    assert {fault.line for fault in faults} <= {2, 3} and all(fault.column > 0 for fault in faults)
    assert str(caught.value) == "\n".join(map(str, faults)) and "^" in str(faults[0])


def test_a_fault_of_a_model_names_its_node():
    onnx = pytest.importorskip("onnx")
    value = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Nonsense", ["x"], ["y"], "the_node")
    graph = onnx.helper.make_graph(
        [node], "g", [value("x", 1, [4])], [value("y", 1, [4])]
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    with pytest.raises(optc.Error) as caught:
        optc.compile(model)
    assert caught.value.diagnostics[0].name == "the_node"
    with pytest.raises(optc.Error, match="<bytes>"):
        optc.compile(b"\x08\xff")
    with pytest.raises(TypeError, match="not int"):
        optc.compile(3)


def test_options_that_are_wrong_are_told():
    module = optc.Module.parse(RELU)
    for arguments, message in [
        ({"optimize": "fast"}, "no goal `fast`"),
        ({"threads": 0}, "0 threads"),
        ({"target_cpu": "natve"}, "did you mean `native`"),
        ({"donate": ["z"]}, "no input `z`"),
        ({"budget": "4 parsecs"}, "a unit is kB"),
        ({"pools": ["tcm:align=3"]}, "3"),
        ({"entry": "f"}, "no function `f`"),
        ({"dims": {"N": 3}}, "N"),
        ({"symbolize": {"x": {0: "N"}}}, "#optc.dims<N>"),
    ]:
        with pytest.raises(optc.Error, match=message):
            optc.compile(module, **arguments)
    with pytest.raises(TypeError):
        optc.compile(module, threads="two")
