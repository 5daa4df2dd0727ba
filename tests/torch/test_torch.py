"""That `torch.compile(backend="optc")` computes what torch does, or says why it leaves it to torch."""

import pathlib
import re
import warnings

import optc
import optc.torch
import pytest
import torch
from torch import nn
from torch.nn import functional


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    optc.torch.reset_report()
    torch.manual_seed(0)
    with torch.no_grad():
        yield


def close(found, expected):
    """That results are the same up to 1e-4, and of the same kind."""
    assert type(found) is type(expected)
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        return all(close(a, b) for a, b in zip(found, expected))
    if not isinstance(expected, torch.Tensor):
        return found == expected
    assert (found.dtype, found.shape, found.stride()) == (expected.dtype, expected.shape, expected.stride())
    return torch.allclose(found, expected, rtol=1e-4, atol=1e-4)


def run_by_optc(net, *calls, compilations=1):
    """Compiles a network, and compares each call; all must be run by optc."""
    compiled = torch.compile(net, backend="optc", options={"fallback": "error"})
    for arguments in calls:
        assert close(compiled(*arguments), net(*arguments))
    reports = optc.torch.report()
    assert sum(entry.calls for entry in reports) == len(calls)
    assert sum(entry.compilations for entry in reports) == compilations
    return compiled


def run_by_torch(net, *arguments, reason, options=None):
    """Compiles a network that optc can't run: it is right all the same, and told with this reason."""
    compiled = torch.compile(net, backend="optc", options=options)
    with pytest.warns(optc.torch.EagerWarning, match=reason):
        assert close(compiled(*arguments), net(*arguments))
    (entry,) = optc.torch.report()
    assert (entry.calls, entry.eager_calls) == (0, 1) and entry.reason in str(entry)


def test_the_example_of_the_page_runs():
    page = (pathlib.Path(__file__).parents[2] / "docs/PYTHON.md").read_text()
    code = re.search(r"## torch.compile\n+```python\n(.*?)```", page, re.DOTALL)[1]
    names = {"torch": torch, "optc": optc, "net": Residual(3), "x": torch.randn(1, 3, 8, 8)}
    exec(code, names)
    assert close(names["y"], names["net"](names["x"]))
    assert "1 calls by optc, 0 by torch" in str(optc.torch.report()[0])


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        return functional.relu(x + self.second(functional.relu(self.norm(self.first(x)))))


class Block(nn.Module):
    """A transformer's block: norm, attention, norm, two layers with GELU."""

    def __init__(self, width, heads, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        shape = (batch, length, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(self.norms[0](x)).view(shape).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


def mlp():
    return nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 8), nn.Softmax(dim=-1)).eval()


def cnn():
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), Residual(8),
        nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10),
    )  # fmt: skip
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    return net.eval()


def test_a_multilayer_perceptron():
    run_by_optc(mlp(), [torch.randn(4, 16)], [torch.randn(4, 16)])


def test_a_convolutional_network():
    run_by_optc(cnn(), [torch.randn(2, 3, 32, 32)], [torch.randn(2, 3, 32, 32)])


@pytest.mark.parametrize("causal", [False, True])
def test_a_block_of_a_transformer(causal):
    run_by_optc(Block(32, 4, causal).eval(), [torch.randn(2, 7, 32)], [torch.randn(2, 7, 32)])


def test_tensors_are_borrowed():
    text = """func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {
      %0 = nn.abs %x : tensor<4xbf16>
      return %0 : tensor<4xbf16>
    }"""
    model = optc.compile(optc.Module.parse(text))
    x = torch.tensor([-1.0, 0.5, -3.0, 4.0], dtype=torch.bfloat16)
    out = torch.zeros(4, dtype=torch.bfloat16)
    assert model(x, out=out)[0] is out and torch.equal(out, x.abs())
    with pytest.raises(BufferError, match="grad"):
        model(x.clone().requires_grad_())


def test_a_batch_of_any_size_has_one_program():
    net = Block(32, 4).eval()
    torch._dynamo.mark_dynamic(first := torch.randn(3, 7, 32), 0)
    compiled = run_by_optc(net, [first])
    for batch in (2, 5, 9):
        x = torch.randn(batch, 7, 32)
        assert close(compiled(x), net(x))
    (entry,) = optc.torch.report()
    assert (entry.calls, entry.compilations) == (4, 1)


def test_sizes_that_torch_finds_to_differ_are_named():
    net = cnn()
    compiled = torch.compile(net, backend="optc", options={"fallback": "error"})
    for batch in (2, 3, 4, 7, 1):
        x = torch.randn(batch, 3, 32, 32)
        assert close(compiled(x), net(x))
    # The first size, all others, and 1, which torch always takes for itself.
    assert [entry.compilations for entry in optc.torch.report()] == [1, 1, 1]


def test_a_size_that_decides_a_shape_is_compiled_for_each():
    class Rows(nn.Module):
        def forward(self, x, n: int):
            return x.repeat(n, 1) * n, n + 1

    net = Rows()
    compiled = torch.compile(net, backend="optc", options={"fallback": "error"})
    for n in (2, 3, 5, 3):
        x = torch.randn(4, 6)
        assert close(compiled(x, n), net(x, n))


def double(net):
    net[0].weight.mul_(2)


def write_through_data(net):
    net[0].weight.data.mul_(2)


def write_through_numpy(net):
    net[0].weight.numpy()[:] *= 2


def assign_data(net):
    net[0].weight.data = net[0].weight.data * 2


def replace(net):
    net[0].weight = nn.Parameter(net[0].weight * 2)


def load(net):
    net.load_state_dict({name: value * 2 for name, value in net.state_dict().items()})


SEEN = [double, assign_data, replace, load]
CHANGES = [(change, weights) for weights in ("contents", "versions") for change in SEEN]
CHANGES += [(change, "contents") for change in (write_through_data, write_through_numpy)]


@pytest.mark.parametrize("change, weights", CHANGES)
def test_weights_that_changed_are_never_used(change, weights):
    net, x = mlp(), torch.randn(4, 16)
    compiled = torch.compile(net, backend="optc", options={"fallback": "error", "weights": weights})
    before = compiled(x)
    for _ in range(2):
        change(net)
        found = compiled(x)
        assert close(found, net(x)) and not torch.allclose(found, before, atol=1e-3)
        before = found
    assert sum(entry.compilations for entry in optc.torch.report()) == 3


def test_weights_that_keep_changing_are_left_to_torch():
    net, x = mlp(), torch.randn(4, 16)
    compiled = torch.compile(net, backend="optc")
    with pytest.warns(optc.torch.EagerWarning, match="weights or sizes changed after 8 compilations"):
        for _ in range(10):
            double(net)
            assert close(compiled(x), net(x))
    (entry,) = optc.torch.report()
    assert (entry.compilations, entry.calls, entry.eager_calls) == (8, 8, 2)


def test_equal_weights_are_not_compiled_again():
    net, x = mlp(), torch.randn(4, 16)
    compiled = run_by_optc(net, [x])
    net.load_state_dict({name: value.clone() for name, value in net.state_dict().items()})
    assert close(compiled(x), net(x))
    assert optc.torch.report()[0].compilations == 1


def test_a_buffer_that_the_graph_writes_to_is_no_constant():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("sum", torch.zeros(3))

        def forward(self, x):
            self.sum += x
            return self.sum * 2

    net, other, x = Counter(), Counter(), torch.randn(3)
    compiled = torch.compile(net, backend="optc", options={"fallback": "error"})
    for _ in range(3):
        assert close(compiled(x), other(x)) and close(net.sum, other.sum)
    assert optc.torch.report()[0].compilations == 1


def test_results_share_memory_with_inputs_as_in_torch():
    class Views(nn.Module):
        def forward(self, x):
            return x[1:], x.exp().t(), x

    net, x = Views(), torch.randn(4, 6)
    found = run_by_optc(net, [x])(x)
    found[0].zero_()
    assert not x[1:].any() and found[2] is x


def test_results_that_share_memory_are_left_to_torch():
    class Views(nn.Module):
        def forward(self, x):
            y = x.exp()
            return y, y.t()[2]

    net, x = Views(), torch.randn(4, 6)
    run_by_torch(net, x, reason="two of its results share memory")
    found = torch.compile(net, backend="optc")(x)
    found[0].zero_()
    assert not found[1].any()


def test_tensors_with_gaps_and_other_types():
    class Types(nn.Module):
        def forward(self, x, i, m, h):
            return (x.float() * 2).half(), i + 1, torch.logical_not(m), (h * 3), i.bool()

    half = torch.randn(6, 4).to(torch.bfloat16)
    arguments = [torch.randn(4, 6).t(), torch.arange(24).view(6, 4)[:, ::2], torch.rand(3) > 0.5, half]
    run_by_optc(Types(), arguments)


def test_inference_mode_and_other_threads():
    net, x = mlp(), torch.randn(4, 16)
    expected = net(x)
    with torch.inference_mode():
        run_by_optc(net, [x])
        assert close(torch.compile(net, backend="optc")(x), expected)


def test_gradients_are_left_to_torch():
    net, x = mlp(), torch.randn(4, 16)
    with torch.enable_grad():
        run_by_torch(net, x, reason="its results need gradients.*no_grad")
        torch._dynamo.reset()
        compiled = torch.compile(net, backend="optc")
        compiled(x).square().sum().backward()
        found = net[0].weight.grad.clone()
        net.zero_grad()
        net(x).square().sum().backward()
    assert close(found, net[0].weight.grad)


def test_random_numbers_are_left_to_torch():
    class Noise(nn.Module):
        def forward(self, x):
            return functional.dropout(x, 0.5, training=True)

    compiled, x = torch.compile(Noise(), backend="optc"), torch.ones(1000)
    with pytest.warns(optc.torch.EagerWarning, match="random numbers"):
        assert not torch.equal(compiled(x), compiled(x))


def test_products_of_f64_are_summed_in_f64():
    class Wide(nn.Module):
        def forward(self, x):
            return x @ x

    x = torch.randn(130, 130, dtype=torch.float64)
    compiled = run_by_optc(Wide(), (x,))
    assert torch.allclose(compiled(x), x @ x, rtol=1e-12, atol=1e-12)


def test_what_optc_lacks_is_left_to_torch():
    class Complex(nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x).real

    run_by_torch(Complex(), torch.eye(4), reason="linalg_eig")


def test_tensors_of_other_devices_are_left_to_torch():
    compiled = torch.compile(mlp().to("meta"), backend="optc")
    with pytest.warns(optc.torch.EagerWarning, match="on the device `meta`"):
        assert compiled(torch.empty(4, 16, device="meta")).shape == (4, 8)


def test_a_graph_that_fell_back_leaves_others_to_optc():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            y = self.layer(x)
            torch._dynamo.graph_break()
            return torch.linalg.eigvals(y).real.sort().values

    net, x = Two(), torch.randn(4, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert close(torch.compile(net, backend="optc")(x), net(x))
    first, second = optc.torch.report()
    assert (first.calls, first.reason) == (1, None) and first.name.split(",")[0].startswith(__file__)
    assert second.eager_calls == 1 and "linalg_eig" in second.reason


def test_a_fallback_can_be_an_error_and_options_are_checked():
    x = torch.ones(100)
    for options, message in [
        ({"fallback": "error"}, "random numbers"),
        ({"fallback": "cry"}, "`fallback` is 'cry'"),
        ({"weights": "none"}, "`weights` is 'none'"),
        ({"thread": 2}, "no option `thread`"),
    ]:
        torch._dynamo.reset()
        with pytest.raises(Exception, match=message):
            torch.compile(torch.rand_like, backend="optc", options=options)(x)


def test_options_of_the_compiler_are_handed_on():
    net, x = mlp(), torch.randn(4, 16)
    options = {"threads": 1, "optimize": "memory", "budget": 1}
    with pytest.warns(optc.torch.EagerWarning, match="budget of 1 byte"):
        assert close(torch.compile(net, backend="optc", options=options)(x), net(x))
