"""torch.library.opcheck: whether what a program says of its operator is what the operator does."""

import inspect

import torch
from torch import _ops
from torch.utils import _pytree as pytree

_ALL = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """A check failed."""


def _copied(value):
    """The value with tensors of its own."""

    def copy(t):
        if not isinstance(t, torch.Tensor):
            return t
        return t.detach().clone().requires_grad_(t.requires_grad)

    return pytree.tree_map(copy, value)


def _tensors(value):
    return [t for t in pytree.tree_leaves(value) if isinstance(t, torch.Tensor)]


def _storage(tensor):
    return tensor.untyped_storage().data_ptr()


class _Case:
    """An operator and one call of it."""

    def __init__(self, op, args, kwargs, tolerances):
        self.qualified = op._qualname if hasattr(op, "_qualname") else op._qualified_op_name
        self.definition = _ops._custom.get(self.qualified)
        if self.definition is None:
            raise RuntimeError(f"opcheck(op, ...): {op} is no operator that the program defined")
        self.args, self.kwargs, self.tolerances = args, kwargs, tolerances
        self.mutated = getattr(self.definition, "_mutates", ("unknown",))

    def call(self, args, kwargs):
        """What the operator gives, by its name in torch.ops."""
        namespace, _, name = self.qualified.partition("::")
        return getattr(getattr(torch.ops, namespace), name)(*args, **kwargs)

    def named(self, args, kwargs):
        """The arguments by the names that the function has for them."""
        function = getattr(self.definition, "_init_fn", self.definition)
        return inspect.signature(function).bind(*args, **kwargs).arguments

    def is_mutated(self, name):
        """Whether the operator says that it writes into an argument."""
        return "unknown" in self.mutated or name in self.mutated


def _test_schema(case):
    """Writes into arguments, and results that are arguments, only as declared."""
    args, kwargs = _copied((case.args, case.kwargs))
    given = case.named(args, kwargs)
    before = {name: [t.detach().clone() for t in _tensors(value)] for name, value in given.items()}
    results = _tensors(case.call(args, kwargs))
    for name, value in given.items():
        tensors = _tensors(value)
        changed = any(not torch.equal(t.detach().nan_to_num(), b.nan_to_num()) for t, b in zip(tensors, before[name]))
        if changed and not case.is_mutated(name):
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")
        places = {_storage(t) for t in tensors if t.numel()}
        if any(r.numel() and _storage(r) in places for r in results):
            raise RuntimeError(f"Argument {name} is not defined to alias output but was aliasing")


def _test_autograd_registration(case):
    """Results that need gradients come from a backward that the operator has, not from what its function records."""
    if getattr(case.definition, "_backward", None) is not None:
        return
    args, kwargs = _copied((case.args, case.kwargs))
    given = {id(t) for t in _tensors((args, kwargs))}
    if any(t.requires_grad and id(t) not in given for t in _tensors(case.call(args, kwargs))):
        raise AssertionError(
            f"{case.qualified}: at least one output of this operator has requires_grad=True but the operator does not have "
            "an autograd kernel defined at an autograd key: use torch.library.register_autograd")


def _shapes(value):
    return [(tuple(t.shape), t.dtype) for t in _tensors(value)]


def _test_faketensor(case):
    """The shapes that register_fake gives are those of the results."""
    fake = _ops._fakes.get(case.qualified)
    if fake is None:
        raise RuntimeError(f"{case.qualified}: there was no fake impl registered: use torch.library.register_fake")
    args, kwargs = _copied((case.args, case.kwargs))
    real = _shapes(case.call(*_copied((args, kwargs))))
    with torch.no_grad():
        told = _shapes(fake(*args, **kwargs))
    if real != told:
        raise AssertionError(f"{case.qualified}: the fake impl says {told}, the operator gives {real}")


def _outcome(function, args, kwargs):
    """(results, gradients of the arguments)"""
    args, kwargs = _copied((args, kwargs))
    results = function(*args, **kwargs)
    total = sum((t.sum() for t in _tensors(results) if t.requires_grad), start=torch.zeros(()))
    leaves = [t for t in _tensors((args, kwargs)) if t.requires_grad]
    if not leaves or not total.requires_grad:
        return _tensors(results), []
    grads = torch.autograd.grad(total, leaves, allow_unused=True)
    return _tensors(results), [g for g in grads if g is not None]


def _test_aot_dispatch_dynamic(case):
    """Compiled, with sizes that may differ, it gives what it gives as it is."""

    def function(*args, **kwargs):
        return case.call(args, kwargs)

    wanted = _outcome(function, case.args, case.kwargs)
    torch._dynamo.reset()
    made = _outcome(torch.compile(function, backend="aot_eager", dynamic=True, fullgraph=True), case.args, case.kwargs)
    for a, b in zip(pytree.tree_leaves(wanted), pytree.tree_leaves(made), strict=True):
        torch.testing.assert_close(b, a, **case.tolerances)


_TESTS = {"test_schema": _test_schema, "test_autograd_registration": _test_autograd_registration,
          "test_faketensor": _test_faketensor, "test_aot_dispatch_dynamic": _test_aot_dispatch_dynamic}


def opcheck(op, args, kwargs=None, *, test_utils=_ALL, raise_exception=True, atol=None, rtol=None):
    """{name of a check: "SUCCESS" or the exception} of a call of an operator of the program. OpCheckError for the first that
    fails, unless raise_exception is False."""
    if (atol is None) != (rtol is None):
        raise ValueError("opcheck: atol and rtol are given both, or neither")
    case = _Case(op, tuple(args), dict(kwargs or {}), {} if atol is None else {"atol": atol, "rtol": rtol})
    outcome = {}
    for name in (test_utils,) if isinstance(test_utils, str) else test_utils:
        if name not in _TESTS:
            raise RuntimeError(f"opcheck(op, ..., test_utils={test_utils}): expected to be a subset of {set(_ALL)}")
        try:
            _TESTS[name](case)
            outcome[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)") from error
            outcome[name] = error
    return outcome
