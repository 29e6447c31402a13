"""Compute again in backward instead of keeping values."""

import collections
import contextlib
import enum
import warnings

import torch
from torch import _absent
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

_defaults = {"early_stop": None, "debug": False}


def noop_context_fn():
    """Two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Whether computing again stops when all values are there."""
    before, _defaults["early_stop"] = _defaults["early_stop"], enable
    try:
        yield
    finally:
        _defaults["early_stop"] = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Whether mismatches are explained."""
    before, _defaults["debug"] = _defaults["debug"], enabled
    try:
        yield
    finally:
        _defaults["debug"] = before


class _Enough(Exception):
    """All values that backward needs are there: the region need not run to its end."""


class CheckpointError(RuntimeError):
    """The second computation saved other values than the first."""


def _autocast_state():
    return [(d, torch.is_autocast_enabled(d), torch.get_autocast_dtype(d)) for d in ("cpu",)]


@contextlib.contextmanager
def _autocast_as(state):
    with contextlib.ExitStack() as stack:
        for device, enabled, dtype in state:
            stack.enter_context(torch.autocast(device, dtype=dtype, enabled=enabled))
        yield


def detach_variable(inputs):
    """The tensors of a tuple without their graph."""
    made = []
    for t in inputs:
        if isinstance(t, torch.Tensor):
            x = t.detach()
            x.requires_grad = t.requires_grad
            made.append(x)
        else:
            made.append(t)
    return tuple(made)


class CheckpointFunction(torch.autograd.Function):
    """The older way: forward without a graph, backward runs it again."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        ctx.run_function = run_function
        ctx.state = torch.get_rng_state() if preserve_rng_state else None
        ctx.autocast = _autocast_state()
        ctx.inputs = [None if isinstance(a, torch.Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with torch.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        inputs = list(ctx.inputs)
        for i, t in zip(ctx.places, ctx.saved_tensors):
            inputs[i] = t
        detached = detach_variable(tuple(inputs))
        with torch.random.fork_rng(enabled=ctx.state is not None):
            if ctx.state is not None:
                torch.set_rng_state(ctx.state)
            with torch.enable_grad(), _autocast_as(ctx.autocast):
                outputs = ctx.run_function(*detached)
        outputs = (outputs,) if isinstance(outputs, torch.Tensor) else outputs
        pairs = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, torch.Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(t.grad if isinstance(t, torch.Tensor) else None for t in detached))


class _Recorder:
    """Counts the values that a checkpointed region saves, and fills them when the region runs again."""

    def __init__(self, function, args, kwargs, preserve_rng_state, recompute_context, early_stop=True):
        self.early_stop = early_stop
        self.function, self.args, self.kwargs = function, args, kwargs
        self.state = torch.get_rng_state() if preserve_rng_state else None
        self.autocast = _autocast_state()
        self.recompute_context = recompute_context
        self.count = 0
        self.metas = []
        self.values = None
        self.taken = 0

    def pack(self, tensor):
        """Keep only the number of a value."""
        self.metas.append((tuple(tensor.shape), tensor.dtype, tensor.device))
        self.count += 1
        return self.count - 1

    def unpack(self, number):
        """The value of that number, computed again where it must be."""
        if self.values is None:
            self._run_again()
        if number not in self.values:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {self.count}\nNumber of tensors saved during "
                f"recomputation: {len(self.values)}"
            )
        value = self.values[number]
        self.taken += 1
        if self.taken >= self.count:
            self.values, self.taken = None, 0
        return value

    def _run_again(self):
        values = {}

        def keep(tensor):
            number = len(values)
            values[number] = tensor.detach()
            if self.early_stop and len(values) == self.count:
                raise _Enough
            return number

        with torch.random.fork_rng(enabled=self.state is not None):
            if self.state is not None:
                torch.set_rng_state(self.state)
            with torch.enable_grad(), _autocast_as(self.autocast), self.recompute_context, contextlib.suppress(_Enough):
                with torch.autograd.graph.saved_tensors_hooks(keep, values.get):
                    self.function(*self.args, **self.kwargs)
        for number, meta in enumerate(self.metas):
            if number in values and meta[:2] != (tuple(values[number].shape), values[number].dtype):
                raise CheckpointError(
                    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                    f"during the forward pass.\ntensor at position {number}"
                )
        self.values = values


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default",
               debug=False, early_stop=True, **kwargs):
    """function(*args), whose inner values are computed again in backward."""
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, "
            "calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but "
            "if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for "
            "more details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    forward_context, recompute_context = context_fn()
    if not torch.is_grad_enabled():
        return function(*args, **kwargs)
    stops = early_stop if _defaults["early_stop"] is None else _defaults["early_stop"]
    recorder = _Recorder(function, args, kwargs, preserve, recompute_context, stops)
    with forward_context, torch.autograd.graph.saved_tensors_hooks(recorder.pack, recorder.unpack):
        return function(*args, **kwargs)


class CheckpointPolicy(enum.Enum):
    """What becomes of an operator's result in a checkpointed region."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


_SAVES = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class SelectiveCheckpointContext:
    """What a policy function is told beside the operator: whether the region runs again."""

    def __init__(self, *, is_recompute):
        self.is_recompute = is_recompute


def _ignored(func):
    return func is torch.ops.aten.detach.default


def _kept_copy(value, shares):
    if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex() or shares):
        return value.detach()
    return value


class _Cached:
    """A result, and its version when it was kept."""

    def __init__(self, value):
        self.value = value
        self.version = value._version if isinstance(value, torch.Tensor) else None

    def get(self, may_change):
        """The result again."""
        if self.version is not None and not may_change and self.value._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.value


class _Selective(TorchDispatchMode):
    """Asks the policy about each operator."""

    def __init__(self, policy_fn, storage, is_recompute, may_change=False):
        super().__init__()
        self.policy_fn, self.storage, self.may_change = policy_fn, storage, may_change
        self.context = SelectiveCheckpointContext(is_recompute=is_recompute)

    def saves(self, func, args, kwargs):
        """Whether the result of a call is kept."""
        policy = self.policy_fn(self.context, func, *args, **kwargs)
        if isinstance(policy, bool):
            policy = CheckpointPolicy.MUST_SAVE if policy else CheckpointPolicy.PREFER_RECOMPUTE
        return policy in _SAVES


class _CachingTorchDispatchMode(_Selective):
    """Forward: keeps what the policy says."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if _ignored(func):
            return func(*args, **kwargs)
        out = func(*args, **kwargs)
        if self.saves(func, args, kwargs):
            shares = any(r.alias_info is not None for r in func._schema.returns)
            self.storage[func].append(tree_map(lambda x: _Cached(_kept_copy(x, shares)), out))
        return out


class _CachedTorchDispatchMode(_Selective):
    """The region again: what was kept is not computed."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if _ignored(func) or not self.saves(func, args, kwargs):
            return func(*args, **kwargs)
        kept = self.storage.get(func)
        if kept is None:
            raise RuntimeError(f"{func} encountered during backward, but not found in storage")
        if not kept:
            raise RuntimeError("Trying to backward an extra time. You are only allowed to backward once on any region "
                               "computed under selective activation checkpoint.")
        return tree_map(lambda x: x.get(self.may_change), kept.pop(0))


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """The two contexts of a checkpoint that keeps the results that a policy, or a list of operators, says."""
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, torch._ops.OpOverload):
                more = ("Please update the OpOverloadPacket to a specific OpOverload. For example, if you have "
                        "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                        if isinstance(op, torch._ops.OpOverloadPacket) else "")
                raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {more}")
        listed = set(policy_fn_or_list)

        def policy_fn(ctx, op, *args, **kwargs):
            return CheckpointPolicy.MUST_SAVE if op in listed else CheckpointPolicy.PREFER_RECOMPUTE
    elif callable(policy_fn_or_list):
        policy_fn = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage = collections.defaultdict(list)
    return (_CachingTorchDispatchMode(policy_fn, storage, False),
            _CachedTorchDispatchMode(policy_fn, storage, True, allow_cache_entry_mutation))


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Checkpoint a sequence of modules in segments."""
    preserve = kwargs.pop("preserve_rng_state", True)
    if isinstance(functions, torch.nn.Sequential):
        functions = list(functions.children())

    def run(start, end):
        def forward(value):
            for j in range(start, end + 1):
                value = functions[j](value)
            return value

        return forward

    size = len(functions) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(run(start, end), input, use_reentrant=bool(use_reentrant), preserve_rng_state=preserve)
    return run(end + 1, len(functions) - 1)(input)

__getattr__ = _absent.getter(__name__)

