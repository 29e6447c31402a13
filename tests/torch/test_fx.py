import operator

import torch
import torch.fx as fx
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.scale = nn.Parameter(torch.ones(3))
        self.layers = nn.ModuleList([nn.ReLU(), nn.Linear(3, 2)])

    def forward(self, x, y=None):
        z = torch.relu(self.linear(x) * self.scale).clamp(min=0.0, max=1.0)
        for layer in self.layers:
            z = layer(z)
        return {"a": torch.cat([z, z], dim=0).sum(), "b": z.shape[0]}


def test_symbolic_trace_writes_pytorchs_code():
    code = fx.symbolic_trace(Net()).code
    assert code == (
        "\n\n\ndef forward(self, x, y = None):\n"
        "    linear = self.linear(x);  x = None\n"
        "    scale = self.scale\n"
        "    mul = linear * scale;  linear = scale = None\n"
        "    relu = torch.relu(mul);  mul = None\n"
        "    clamp = relu.clamp(min = 0.0, max = 1.0);  relu = None\n"
        "    layers_0 = getattr(self.layers, \"0\")(clamp);  clamp = None\n"
        "    layers_1 = getattr(self.layers, \"1\")(layers_0);  layers_0 = None\n"
        "    cat = torch.cat([layers_1, layers_1], dim = 0)\n"
        "    sum_1 = cat.sum();  cat = None\n"
        "    getattr_1 = layers_1.shape;  layers_1 = None\n"
        "    getitem = getattr_1[0];  getattr_1 = None\n"
        "    return {'a': sum_1, 'b': getitem}\n    "), code


def test_traced_modules_compute_the_same():
    torch.manual_seed(0)
    net, x = Net(), torch.randn(2, 3)
    assert torch.equal(net(x)["a"], fx.symbolic_trace(net)(x)["a"])


def test_graphs_print_as_pytorch_prints_them():
    graph = fx.symbolic_trace(lambda x: torch.relu(x) + 1).graph
    assert str(graph) == (
        "graph():\n    %x : [num_users=1] = placeholder[target=x]\n"
        "    %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n"
        "    %add : [num_users=1] = call_function[target=operator.add](args = (%relu, 1), kwargs = {})\n    return add")


def test_names_are_free_and_legal():
    graph = fx.Graph()
    names = [graph.placeholder(n).name for n in ("x", "x", "len", "1a", "conv_2", "conv")]
    assert names == ["x", "x_1", "len_1", "_1a", "conv_2", "conv"], names


def test_nodes_are_replaced_and_erased():
    module = fx.symbolic_trace(lambda x: torch.relu(x) * 2)
    for node in module.graph.nodes:
        if node.target is torch.relu:
            with module.graph.inserting_after(node):
                new = module.graph.call_function(torch.tanh, node.args)
            node.replace_all_uses_with(new)
            module.graph.erase_node(node)
    module.graph.lint()
    module.recompile()
    assert torch.equal(module(torch.ones(2)), torch.tanh(torch.ones(2)) * 2)


def test_replace_pattern_finds_all():
    module = fx.symbolic_trace(lambda x, y: torch.relu(x) + torch.relu(y))
    found = fx.replace_pattern(module, lambda a: torch.relu(a), lambda a: torch.sigmoid(a) * 2)
    assert len(found) == 2
    one = torch.ones(1)
    assert torch.allclose(module(one, one), torch.sigmoid(one) * 4)


def test_interpreter_and_transformer():
    module = fx.symbolic_trace(lambda x: torch.neg(x) + x)

    class Doubling(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            return super().call_function(target, args, kwargs) * 2

    class Cos(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.cos if target is torch.neg else target, args, kwargs)

    assert Doubling(module).run(torch.ones(1)).item() == -2.0
    assert "torch.cos" in Cos(module).transform().code


def test_control_flow_on_proxies_is_an_error():
    try:
        fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)
    except fx.proxy.TraceError as error:
        assert "control flow" in str(error)
    else:
        raise AssertionError("no error")


def test_make_fx_gives_aten():
    module = make_fx(lambda x, y: torch.mm(x, y.t()).relu())(torch.ones(1, 2), torch.ones(3, 2))
    targets = [str(n.target) for n in module.graph.nodes if n.op == "call_function"]
    assert targets == ["aten.t.default", "aten.mm.default", "aten.relu.default"], targets
    assert module(torch.ones(1, 2), torch.ones(3, 2)).tolist() == [[2.0, 2.0, 2.0]]


def test_make_fx_follows_what_is_written_into():
    def f(x):
        y = x.clone()
        y.add_(1)
        return y.view(-1)

    assert make_fx(f)(torch.ones(2, 2))(torch.zeros(2, 2)).tolist() == [1.0, 1.0, 1.0, 1.0]


def test_make_fx_refuses_what_it_cannot_follow():
    try:
        module = make_fx(torch.func.grad(lambda x: (x * x).sum()))(torch.ones(2))
    except NotImplementedError as error:
        assert "cannot follow" in str(error)
    else:
        assert module(torch.tensor([1.0, 3.0])).tolist() == [2.0, 6.0]


def test_dispatch_modes_see_operators_and_answer_them():
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {})) * 10 if "mul" in str(func) else func(*args, **(kwargs or {}))

    with Mode():
        made = torch.ones(2) * 3
    assert made.tolist() == [30.0, 30.0] and seen == ["aten.ones.default", "aten.mul.Tensor"], seen


def test_export_lifts_parameters():
    net = nn.Linear(3, 2)
    program = torch.export.export(net, (torch.ones(1, 3),))
    assert [n.name for n in program.graph.nodes][:2] == ["p_weight", "p_bias"]
    assert torch.equal(program.module()(torch.ones(1, 3)), net(torch.ones(1, 3)))
    assert "aten.linear.default" in [str(n.target) for n in program.graph.nodes]
    assert "aten.linear.default" not in [str(n.target) for n in program.run_decompositions().graph.nodes]


def test_targets_keep_operators():
    node = fx.symbolic_trace(lambda x: x @ x).graph.find_nodes(op="call_function")[0]
    assert node.target is operator.matmul


def test_make_fx_follows_gradients():
    x = torch.randn(3)
    f = lambda t: (t.sin() * t).sum()  # noqa: E731
    made = make_fx(torch.func.grad(f))(x)
    other = torch.randn(3)
    assert torch.allclose(made(other), torch.func.grad(f)(other))
    targets = [str(n.target) for n in made.graph.nodes if n.op == "call_function"]
    assert "aten.cos.default" in targets, targets

    def pulled(t):
        out, pull = torch.func.vjp(lambda u: u.exp() * 2, t)
        return out, pull(torch.ones_like(out))[0]

    for a, b in zip(make_fx(pulled)(x)(other), pulled(other)):
        assert torch.allclose(a, b)


def test_aot_function_calls_both_compilers():
    from torch._functorch.aot_autograd import aot_function

    seen = []

    def compiler(name):
        def compile_graph(gm, inputs):
            seen.append((name, len(inputs), sum(n.op == "placeholder" for n in gm.graph.nodes)))
            return gm.forward

        return compile_graph

    def fn(a, b):
        return (a * b).sin().sum() + a.sum()

    a, b = (torch.randn(3, requires_grad=True) for _ in range(2))
    aot_function(fn, compiler("fw"), compiler("bw"))(a, b).backward()
    c, d = a.detach().requires_grad_(), b.detach().requires_grad_()
    fn(c, d).backward()
    assert torch.allclose(a.grad, c.grad) and torch.allclose(b.grad, d.grad)
    assert [(name, count == places) for name, count, places in seen] == [("fw", True), ("bw", True)], seen
