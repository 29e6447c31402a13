"""pytree, assert_close, printed tensors, modes, custom operators."""

from collections import OrderedDict, namedtuple

import torch
from torch.utils import _pytree as pytree

Point = namedtuple("Point", "x y")


def test_trees():
    tree = {"b": [1, (2, None)], "a": Point(3, OrderedDict(z=4))}
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, None, 3, 4], leaves
    assert spec.num_leaves == 5
    assert pytree.tree_unflatten([10 * (v or 0) for v in leaves], spec) == {
        "b": [10, (20, 0)], "a": Point(30, OrderedDict(z=40))}
    assert pytree.tree_map(lambda a, b: a + b, [1, (2,)], [10, (20,)]) == [11, (22,)]
    assert repr(pytree.tree_structure([1, 2])) == "TreeSpec(list, None, [*,\n  *])"
    assert [pytree.keystr(p) for p, _ in pytree.tree_leaves_with_path(tree)] == [
        "['b'][0]", "['b'][1][0]", "['b'][1][1]", "['a'].x", "['a'].y['z']"]
    try:
        pytree.tree_unflatten([1], spec)
        raise SystemExit("no error")
    except ValueError as error:
        assert "has length 1 but the spec refers to a pytree that holds 5 items" in str(error), error


def test_assert_close():
    torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0 + 1e-7]))
    try:
        torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]))
        raise SystemExit("no error")
    except AssertionError as error:
        assert str(error) == (
            "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\n"
            "Greatest absolute difference: 1.0 at index (1,) (up to 1e-05 allowed)\n"
            "Greatest relative difference: 0.3333333432674408 at index (1,) (up to 1.3e-06 allowed)"), error
    try:
        torch.testing.assert_close(torch.ones(2), torch.ones(2, dtype=torch.float64))
        raise SystemExit("no error")
    except AssertionError as error:
        assert str(error) == "The values for attribute 'dtype' do not match: torch.float32 != torch.float64.", error


def test_printed_tensors():
    assert repr(torch.tensor([1.0, 2.5])) == "tensor([1.0000, 2.5000])"
    assert repr(torch.tensor([1.0, 200.0])) == "tensor([  1., 200.])"
    assert repr(torch.tensor([1e-5, 1.0])) == "tensor([1.0000e-05, 1.0000e+00])"
    assert repr(torch.tensor([1, -20])) == "tensor([  1, -20])"
    assert repr(torch.tensor(3.5)) == "tensor(3.5000)"
    assert repr(torch.tensor([True, False])) == "tensor([ True, False])"
    assert repr(torch.zeros(0)) == "tensor([])" and repr(torch.zeros(0, 2)) == "tensor([], size=(0, 2))"
    assert repr(torch.tensor([1, 2], dtype=torch.int32)) == "tensor([1, 2], dtype=torch.int32)"
    assert repr(torch.tensor([float("inf"), float("nan"), 1.0])) == "tensor([inf, nan, 1.])"
    assert repr(torch.ones(2, 2)) == "tensor([[1., 1.],\n        [1., 1.]])"
    assert repr(torch.arange(2000)) == "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"
    assert repr(torch.tensor([1 + 2j, 3 - 1j])) == "tensor([1.+2.j, 3.-1.j])"
    x = torch.ones(2, requires_grad=True)
    assert repr(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
    assert f"{torch.tensor(2.345):.2f}" == "2.35" or f"{torch.tensor(2.345):.2f}" == "2.34"


def test_subclasses_take_calls_over():
    seen = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(getattr(func, "__name__", "?"))
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(2).as_subclass(Logged)
    y = torch.nn.functional.relu(x + 1)
    assert type(y) is Logged and "relu" in seen, seen


def test_modes_see_calls():
    from torch.overrides import TorchFunctionMode

    class Count(TorchFunctionMode):
        calls = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            Count.calls += 1
            return func(*args, **(kwargs or {}))

    with Count():
        torch.ones(2) + 1
    assert Count.calls >= 2


def test_custom_operators():
    @torch.library.custom_op("mine::triple", mutates_args=())
    def triple(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    triple.register_autograd(lambda ctx, g: g * 3)
    x = torch.ones(2, requires_grad=True)
    torch.ops.mine.triple(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert triple(torch.ones(1)).item() == 3.0


def test_autocast_narrows_products():
    a = torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (a @ a).dtype is torch.bfloat16
        assert a.exp().dtype is torch.float32
    assert (a @ a).dtype is torch.float32


def test_settings_of_dynamo():
    import torch._dynamo

    with torch._dynamo.config.patch(recompile_limit=3):
        assert torch._dynamo.config.recompile_limit == 3
    assert torch._dynamo.config.recompile_limit == 8
    t = torch.ones(2)
    torch._dynamo.mark_dynamic(t, 0)
    assert t._dynamo_dynamic_indices == {0}
    lin = torch.nn.Linear(2, 2)
    compiled = torch.compile(lin, backend="eager")
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    assert compiled.in_features == 2 and isinstance(compiled, torch.nn.Module)
