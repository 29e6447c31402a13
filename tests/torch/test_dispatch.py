import collections
import functools

import torch
from torch._subclasses import DataDependentOutputException, DynamicOutputShapeException, FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_map
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
from torch.utils.checkpoint import set_checkpoint_early_stop


def _raised(error, call):
    try:
        call()
    except error as found:
        return str(found)
    raise AssertionError(f"no {error.__name__}")


class _Wrapper(torch.Tensor):
    """Holds a tensor, and notes the operators."""

    log = []
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.size(), strides=inner.stride(), dtype=inner.dtype,
                                                   device="cuda:1")

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.log.append(str(func))
        assert types == (cls,)

        def inner(x):
            return x.inner if isinstance(x, cls) else x

        out = tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x,
                       func(*tree_map(inner, args), **tree_map(inner, kwargs or {})))
        return return_and_correct_aliasing(func, args, kwargs, out)


def _logged(call):
    _Wrapper.log.clear()
    return call(), list(_Wrapper.log)


def test_a_class_answers_operators_on_its_tensors():
    x = _Wrapper(torch.arange(6.0).reshape(2, 3).t())
    assert (x.shape, x.stride(), str(x.device), x.dtype) == ((3, 2), (1, 3), "cuda:1", torch.float32)
    y, log = _logged(lambda: torch.sin(x) + 1)
    assert type(y) is _Wrapper and log == ["aten.sin.default", "aten.add.Tensor"]
    assert torch.equal(y.inner, torch.sin(x.inner) + 1)
    rows, log = _logged(lambda: torch.split(torch.ones(3, 2) * x, 2))
    assert log == ["aten.mul.Tensor", "aten.split.Tensor"] and [r.shape[0] for r in rows] == [2, 1]
    z, log = _logged(lambda: x.add_(1))
    assert z is x and log == ["aten.add_.Tensor"] and x.inner[0, 0] == 1
    linear, log = _logged(lambda: torch.nn.functional.linear(torch.ones(2), x))
    assert log == ["aten.t.default", "aten.mv.default"] or "aten.t.default" in log, log
    assert torch.equal(linear.inner, x.inner @ torch.ones(2))


def test_gradients_go_through_a_class_that_answers():
    x = _Wrapper(torch.tensor([1.0, 2.0])).requires_grad_()
    (y, log) = _logged(lambda: (x * x).exp())
    assert y.requires_grad and type(y.grad_fn).__name__ == "ExpBackward0" and not y.inner.requires_grad
    y.sum().backward()
    assert type(x.grad) is _Wrapper
    assert torch.allclose(x.grad.inner, 2 * x.inner * torch.exp(x.inner ** 2))
    kept = torch.nn.Parameter(_Wrapper(torch.ones(2)))
    assert type(kept) is _Wrapper and isinstance(kept, torch.nn.Parameter) and kept.requires_grad


def test_a_class_may_leave_operators_to_the_engine():
    class Plain(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_dispatch__(func, types, args, kwargs or {})

    class Never(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    seen = []
    assert (torch.ones(2).as_subclass(Plain) + 1).tolist() == [2, 2] and torch.ops.aten.add.Tensor in seen
    said = _raised(TypeError, lambda: torch.ones(2).as_subclass(Never) + 1)
    assert said.startswith("Multiple dispatch failed for 'torch.ops.aten.add.Tensor'"), said
    said = _raised(RuntimeError, lambda: torch.Tensor._make_wrapper_subclass(torch.Tensor, (2,)))
    assert "__torch_dispatch__ must be defined" in said


class _Log(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names, self.needs = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        out = func(*args, **(kwargs or {}))
        self.needs.append(getattr(out, "requires_grad", None))
        return out


def test_a_mode_is_below_autograd():
    x = torch.ones(2, requires_grad=True)
    with _Log() as log:
        y = (x * 3).relu()
    assert log.names == ["aten.mul.Tensor", "aten.relu.default"] and log.needs == [False, False]
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    with _Log() as outer, _Log() as inner:
        torch.ones(2) + 1
    assert outer.names == inner.names == ["aten.ones.default", "aten.add.Tensor"]


def test_schemas_can_be_read():
    schema = torch.ops.aten.add_.Tensor._schema
    assert (schema.name, schema.overload_name, schema.is_mutable) == ("aten::add_", "Tensor", True)
    assert [(a.name, a.type, a.kwarg_only) for a in schema.arguments] == [
        ("self", "Tensor", False), ("other", "Tensor", False), ("alpha", "Scalar", True)]
    assert schema.returns[0].alias_info.is_write and not torch.ops.aten.add.Tensor._schema.is_mutable
    assert torch.ops.aten.view.default.is_view and not torch.ops.aten.add.Tensor.is_view


def test_fake_tensors_have_sizes_only():
    with FakeTensorMode() as mode:
        layer = torch.nn.Linear(4, 5)
        y = layer(torch.empty(3, 4))
        constant = torch.tensor([1.0, 2.0])
    assert type(y) is FakeTensor and y.shape == (3, 5) and str(y.device) == "cpu"
    assert repr(y) == "FakeTensor(..., size=(3, 5), grad_fn=<AddmmBackward0>)", repr(y)
    assert isinstance(layer.weight, torch.nn.Parameter) and constant.shape == (2,)
    real = torch.ones(2, 3)
    fake = mode.from_tensor(real)
    assert mode.from_tensor(real) is fake and fake.fake_mode is mode
    assert (fake.t() @ fake).shape == (3, 3) and fake.t().stride() == (1, 3)
    moved = fake.to("cuda")
    assert str(moved.fake_device) == "cuda" or str(moved.fake_device) == "cuda:0"
    assert _raised(DataDependentOutputException, lambda: fake.sum().item()) == "aten._local_scalar_dense.default"
    assert _raised(DynamicOutputShapeException, fake.nonzero) == "aten.nonzero.default"
    assert "convert all Tensors to FakeTensors" in _raised(AssertionError, lambda: fake + real)
    assert "two different devices" in _raised(RuntimeError, lambda: fake + moved)
    assert (fake + torch.tensor(1.0)).shape == (2, 3)


def _region(x, w):
    return torch.sin((x @ w) @ w).sum()


def test_selective_checkpoint_keeps_what_the_policy_says():
    ran = collections.Counter()

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            ran[str(func)] += 1
            return func(*args, **(kwargs or {}))

    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op == torch.ops.aten.mm.default else CheckpointPolicy.PREFER_RECOMPUTE

    x, w = torch.randn(3, 3, requires_grad=True), torch.randn(3, 3)
    wanted, = torch.autograd.grad(_region(x, w), x)
    counts = {}
    for name, how in (("listed", [torch.ops.aten.mm.default]), ("asked", policy), ("nothing", lambda *a, **k: False)):
        ran.clear()
        contexts = functools.partial(create_selective_checkpoint_contexts, how)
        with Count():
            got, = torch.autograd.grad(checkpoint(_region, x, w, use_reentrant=False, context_fn=contexts), x)
        assert torch.allclose(got, wanted)
        counts[name] = ran["aten.mm.default"]
    assert counts == {"listed": 4, "asked": 4, "nothing": 6}, counts
    said = _raised(ValueError, lambda: create_selective_checkpoint_contexts([torch.ops.aten.mm]))
    assert "torch.ops.aten.mm.default" in said
    _raised(TypeError, lambda: create_selective_checkpoint_contexts(3))


def test_the_region_stops_when_all_values_are_there():
    ends = []

    def region(x):
        y = x.sin().sin()
        ends.append(1)
        return y

    for stops, runs in ((None, 1), (True, 1), (False, 2)):
        ends.clear()
        x = torch.ones(2, requires_grad=True)
        with set_checkpoint_early_stop(stops):
            y = checkpoint(region, x, use_reentrant=False)
        y.sum().backward()
        assert len(ends) == runs and torch.allclose(x.grad, torch.cos(torch.sin(x)) * torch.cos(x)), (stops, len(ends))


def test_named_results_are_trees():
    found = torch.tensor([3.0, 1.0]).sort()
    doubled = tree_map(lambda t: t * 2, found)
    assert type(doubled) is type(found) and doubled.values.tolist() == [2, 6] and doubled.indices.tolist() == [2, 0]
    with FakeTensorMode():
        fake = torch.empty(2, 3).sort()
    assert [type(t) for t in fake] == [FakeTensor, FakeTensor]


def test_operators_of_a_library_are_implemented_by_name():
    library = torch.library.Library("dispatched", "DEF")
    library.define("plus(Tensor x, int n=2) -> Tensor")

    @torch.library.impl(library, "plus", "CompositeExplicitAutograd")
    def plus(x, n=2):
        return x + n

    assert torch.ops.dispatched.plus(torch.ones(1), 3).tolist() == [4]
    assert torch.ones(2, dtype=torch.int32).type(torch.DoubleTensor).dtype == torch.float64


def test_flops_are_counted_by_module():
    from torch.utils.flop_counter import FlopCounterMode

    net = torch.nn.Sequential(torch.nn.Linear(4, 8, bias=False), torch.nn.ReLU(), torch.nn.Conv1d(2, 3, 2))
    with FlopCounterMode(display=False) as counter:
        net(torch.ones(5, 2, 4))
    assert counter.get_total_flops() == 2 * 10 * 4 * 8 + 2 * 5 * 7 * (3 * 2 * 2)
    counts = counter.get_flop_counts()
    assert counts["Sequential.0"] == {torch.ops.aten.mm: 640} and counts["Sequential.2"] == {torch.ops.aten.convolution: 840}
