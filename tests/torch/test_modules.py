"""Modules: their tables, names, hooks and texts."""

import copy
from collections import OrderedDict

import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(2)])
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer("offset", torch.zeros(4))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)
        self.plain = torch.zeros(2)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return x * self.scale + self.offset


def test_names_follow_the_order_of_assignment():
    names = [n for n, _ in Net().named_parameters()]
    assert names == ["scale", "first.weight", "first.bias", "blocks.0.0.weight", "blocks.0.0.bias",
                     "blocks.1.0.weight", "blocks.1.0.bias"], names
    assert [n for n, _ in Net().named_modules()] == ["", "first", "blocks", "blocks.0", "blocks.0.0", "blocks.0.1",
                                                     "blocks.1", "blocks.1.0", "blocks.1.1"]
    assert [n for n, _ in Net().named_buffers()] == ["offset", "scratch"]


def test_state_dict_leaves_out_what_does_not_persist():
    net = Net()
    state = net.state_dict()
    assert "scratch" not in state and "offset" in state and isinstance(state, OrderedDict)
    other = Net()
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert torch.equal(other.first.weight, net.first.weight)
    del state["scale"]
    state["more"] = torch.ones(1)
    try:
        other.load_state_dict(state)
        raise SystemExit("no error")
    except RuntimeError as error:
        assert 'Missing key(s) in state_dict: "scale".' in str(error), error
        assert 'Unexpected key(s) in state_dict: "more".' in str(error), error
    assert other.load_state_dict(state, strict=False).missing_keys == ["scale"]


def test_attributes_move_between_the_tables():
    m = nn.Module()
    m.a = torch.ones(1)
    assert "a" in m.__dict__
    m.a = nn.Parameter(torch.ones(1))
    assert "a" in m._parameters and "a" not in m.__dict__
    m.a = None
    assert m._parameters == {"a": None}
    try:
        m.a = 3
        raise SystemExit("no error")
    except TypeError as error:
        assert str(error) == "cannot assign 'int' as parameter 'a' (torch.nn.Parameter or None expected)", error
    del m.a
    try:
        m.a
        raise SystemExit("no error")
    except AttributeError as error:
        assert str(error) == "'Module' object has no attribute 'a'", error


def test_an_assignment_before_init_is_refused():
    class Early(nn.Module):
        def __init__(self):
            self.w = nn.Parameter(torch.ones(1))

    try:
        Early()
        raise SystemExit("no error")
    except AttributeError as error:
        assert str(error) == "cannot assign parameters before Module.__init__() call", error


def test_hooks_see_and_change_what_passes():
    lin = nn.Linear(2, 2, bias=False)
    seen = []
    first = lin.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    lin.register_forward_hook(lambda m, args, out: seen.append(args[0].clone()) or out + 1)
    x = torch.ones(1, 2)
    out = lin(x)
    assert torch.allclose(out, (x * 2) @ lin.weight.T + 1)
    assert torch.equal(seen[0], x * 2)
    first.remove()
    assert torch.allclose(lin(x), x @ lin.weight.T + 1)


def test_full_backward_hooks_see_gradients():
    lin = nn.Linear(2, 1, bias=False)
    seen = []
    lin.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0], go[0])))
    x = torch.ones(3, 2, requires_grad=True)
    lin(x).sum().backward()
    assert len(seen) == 1
    assert torch.equal(seen[0][1], torch.ones(3, 1))
    assert torch.allclose(seen[0][0], lin.weight.detach().expand(3, 2))


def test_texts_are_those_of_pytorch():
    net = nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.Dropout(0.1)))
    assert repr(net) == ("Sequential(\n  (a): Linear(in_features=2, out_features=3, bias=True)\n"
                         "  (b): Dropout(p=0.1, inplace=False)\n)"), repr(net)
    alike = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])
    assert repr(alike) == "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)", repr(alike)
    assert repr(nn.Conv2d(1, 2, 3, padding=1, bias=False)) == (
        "Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)")
    assert repr(nn.BatchNorm1d(4)) == (
        "BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)")
    assert repr(nn.LSTM(2, 3, num_layers=2, batch_first=True)) == "LSTM(2, 3, num_layers=2, batch_first=True)"
    assert repr(nn.Parameter(torch.ones(2))) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert repr(nn.ParameterList([torch.ones(2, 3)])) == (
        "ParameterList(  (0): Parameter containing: [torch.float32 of size 2x3])"), repr(nn.ParameterList([torch.ones(2, 3)]))


def test_containers_behave_as_lists_and_dicts():
    s = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 3))
    assert len(s[1:]) == 2 and isinstance(s[:2], nn.Sequential) and s[-1].out_features == 3
    del s[1]
    assert list(s._modules) == ["0", "1"]
    s.insert(1, nn.Tanh())
    assert [type(m).__name__ for m in s] == ["Linear", "Tanh", "Linear"]
    d = nn.ModuleDict({"x": nn.ReLU()})
    d.update([("y", nn.Tanh())])
    assert list(d) == ["x", "y"] and "y" in d and len(d) == 2
    assert type(d.pop("x")).__name__ == "ReLU"


def test_copies_share_nothing():
    net = Net()
    made = copy.deepcopy(net)
    with torch.no_grad():
        made.scale.fill_(5)
    assert torch.equal(net.scale, torch.ones(4)) and isinstance(made.scale, nn.Parameter)


def test_modes_and_casts_reach_all_modules():
    net = Net().eval().double()
    assert not net.blocks[1][0].training
    assert {p.dtype for p in net.parameters()} == {torch.float64}
    assert net.offset.dtype is torch.float64
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_lazy_modules_learn_their_sizes():
    lazy = nn.LazyLinear(3)
    assert repr(lazy.weight) == "<UninitializedParameter>"
    assert lazy(torch.ones(2, 5)).shape == (2, 3)
    assert type(lazy) is nn.Linear and lazy.in_features == 5


def test_parametrizations_compute_the_weight():
    from torch.nn.utils import parametrize

    class Double(nn.Module):
        def forward(self, w):
            return 2 * w

        def right_inverse(self, w):
            return w / 2

    lin = nn.Linear(2, 2)
    before = lin.weight.detach().clone()
    parametrize.register_parametrization(lin, "weight", Double())
    assert type(lin).__name__ == "ParametrizedLinear" and parametrize.is_parametrized(lin, "weight")
    assert torch.allclose(lin.weight, before)
    assert [n for n, _ in lin.named_parameters()] == ["bias", "parametrizations.weight.original"]
    parametrize.remove_parametrizations(lin, "weight")
    assert type(lin) is nn.Linear and torch.allclose(lin.weight, before)
