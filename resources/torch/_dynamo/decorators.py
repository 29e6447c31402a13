"""What programs say about their functions and tensors."""

import functools
import inspect

import torch
from torch import _C

_allowed_in_graph = set()
_forbidden = set()
_constant_results = set()
_substitutes = {}
stance = {"name": "default", "force_backend": None}


def _hook(name):
    return getattr(getattr(_C, "_dynamo", None), name, None)


def _pause(fn):
    """fn, with no capturing while it runs."""
    pause = _hook("disable")
    paused = fn if pause is None else pause(fn)

    @functools.wraps(fn)
    def _fn(*args, **kwargs):
        return paused(*args, **kwargs)

    return _fn


def disable(fn=None, recursive=True, *, reason=None, wrapping=True):
    """Do not compile fn (nor what it calls, if recursive)."""
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason, wrapping=wrapping)
    if not recursive:
        return skip(fn)
    if isinstance(fn, torch.nn.Module):
        made = torch._dynamo.eval_frame.OptimizedModule(fn, lambda f: disable(f, reason=reason))
        made._torchdynamo_orig_callable = fn.forward
        return made
    if inspect.isclass(fn):
        fn.__init__ = disable(fn.__init__, reason=reason)
        return fn
    if not callable(fn):
        raise AssertionError("disable takes a callable")
    inner = innermost_fn(fn)
    made = _pause(inner)
    made._torchdynamo_disable = True
    made._torchdynamo_disable_msg = reason
    made._torchdynamo_disable_recursive = True
    made._torchdynamo_orig_callable = inner
    return made


def skip(fn=None):
    """Do not compile the frame of fn; what it calls may be."""
    if fn is None:
        return skip
    fn = innermost_fn(fn)
    skip_code = _hook("skip_code")
    if skip_code is not None and hasattr(fn, "__code__"):
        skip_code(fn.__code__)

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    wrapper._torchdynamo_disable = True
    wrapper._torchdynamo_disable_recursive = False
    wrapper._torchdynamo_orig_callable = fn
    return wrapper


def run(fn=None):
    """Do not compile anything new while fn runs."""
    if fn is None:
        return run
    return disable(fn)


def innermost_fn(fn):
    """The function inside of compiled and disabled wrappers."""
    while hasattr(fn, "_torchdynamo_orig_callable"):
        fn = fn._torchdynamo_orig_callable
    return fn


def is_dynamo_disable_recursive(method):
    """Whether a function is disabled with what it calls; None if it is not disabled."""
    return getattr(method, "_torchdynamo_disable_recursive", None)


class set_stance:
    """What compiled functions do from now on, or in the block."""

    _KNOWN = ("default", "eager_then_compile", "aot_eager_then_compile", "force_eager", "eager_on_recompile",
              "fail_on_recompile")

    def __init__(self, name="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if name not in self._KNOWN:
            raise ValueError(f"invalid stance {name!r}, expected one of {self._KNOWN}")
        self.before = dict(stance)
        self.change = {"name": name, "force_backend": force_backend}
        stance.update(self.change)

    def __enter__(self):
        stance.update(self.change)

    def __exit__(self, *args):
        stance.update(self.before)

    def __call__(self, fn):
        stance.update(self.before)

        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            with set_stance(self.change["name"], force_backend=self.change["force_backend"]):
                return fn(*args, **kwargs)

        return wrapper


def assume_constant_result(fn):
    """Take the first result of fn as a constant."""
    fn._dynamo_marked_constant = True
    _constant_results.add(fn)
    return fn


def allow_in_graph(fn):
    """Put calls of fn into the graph as they are."""
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(x) for x in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    _forbidden.discard(id(fn))
    _allowed_in_graph.add(id(fn))
    try:
        fn._dynamo_allowed_in_graph = True
    except (AttributeError, TypeError):
        pass
    return fn


def nonstrict_trace(traceable_fn):
    """Put calls of a function into the graph, traced below."""
    return allow_in_graph(traceable_fn)


def disallow_in_graph(fn):
    """Break the graph at calls of fn."""
    if isinstance(fn, (list, tuple)):
        return [disallow_in_graph(x) for x in fn]
    _allowed_in_graph.discard(id(fn))
    _forbidden.add(id(fn))
    return fn


def forbid_in_graph(fn):
    """Raise where fn is traced."""
    if isinstance(fn, (list, tuple)):
        return [forbid_in_graph(x) for x in fn]
    fn._dynamo_forbidden = True
    return fn


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False,
                        is_embedded_type=False):
    """Trace another function in the place of one that cannot be traced."""
    if not callable(original_fn):
        raise TypeError(
            f"substitute_in_graph expects a function but got {type(original_fn)!r} for original_fn"
        )

    def wrapper(traceable_fn):
        @functools.wraps(traceable_fn)
        def wrapped(*args, **kwargs):
            return original_fn(*args, **kwargs)

        wrapped.__torch_dynamo_original__ = original_fn
        wrapped.__torch_dynamo_polyfill__ = traceable_fn
        wrapped.__torch_dynamo_can_constant_fold_through__ = can_constant_fold_through
        _substitutes[id(original_fn)] = traceable_fn
        return wrapped

    return wrapper


def graph_break(msg=""):
    """Break the graph here."""


def skip_frame(msg=""):
    """Leave the frame as it is."""


def step_unsupported(msg=""):
    """Break the graph here, as for an instruction that is not supported."""


def _indices(t, index):
    return range(t.dim()) if index is None else index if isinstance(index, (list, tuple)) else (index,)


def _remember(t, name, index):
    if not hasattr(t, name):
        setattr(t, name, set())
    for i in _indices(t, index):
        getattr(t, name).add(i)


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Say that a size of a tensor differs from call to call."""
    if isinstance(index, int):
        if not hasattr(t, "_dynamo_dynamic_range"):
            t._dynamo_dynamic_range = set()
        t._dynamo_dynamic_range.add(_DimRange(index, min, max))
    _remember(t, "_dynamo_dynamic_indices", index)


class _DimRange:
    """The smallest and largest value of a size."""

    def __init__(self, dim, min, max):
        self.dim, self.min, self.max = dim, min, max

    def __hash__(self):
        return hash((self.dim, self.min, self.max))

    def __eq__(self, other):
        return (self.dim, self.min, self.max) == (other.dim, other.min, other.max)


def maybe_mark_dynamic(t, index):
    """Like mark_dynamic, but a size that turns out constant is no error."""
    _remember(t, "_dynamo_weak_dynamic_indices", index)


def mark_unbacked(t, index, hint_override=None, strict=False, specialize_on=None, shape_id=None):
    """Say that a size of a tensor is known only when it runs."""
    _remember(t, "_dynamo_strict_unbacked_indices" if strict else "_dynamo_unbacked_indices", index)


def mark_static(t, index=None):
    """Say that a size of a tensor stays."""
    if not isinstance(t, torch.Tensor):
        if isinstance(t, type) and issubclass(t, torch.nn.Module):
            t._dynamo_marked_static = True
            return t
        raise TypeError(f"mark_static expects a tensor/nn.Module class but received {type(t)}")
    _remember(t, "_dynamo_static_indices", index)


def mark_static_address(t, guard=False):
    """Say that the memory of a tensor stays."""
    if not isinstance(t, torch.Tensor):
        raise TypeError(f"mark_static_address expects a tensor but received {type(t)}")
    t._dynamo_static_input_type = "guarded" if guard else "unguarded"


def patch_dynamo_config(arg1=None, arg2=None, **kwargs):
    """Settings that hold for a block; may be traced."""
    from torch._dynamo import config

    return config.patch(arg1, arg2, **kwargs)


def _setting(**changes):
    def decorator(fn=None):
        from torch._dynamo import config

        patch = config.patch(changes)
        return patch if fn is None else patch(fn)

    return decorator


dont_skip_tracing = _setting(dont_skip_tracing=True)
disable_nested_graph_breaks = _setting(nested_graph_breaks=False)
_error_on_break = {"on": False}


class error_on_graph_break:
    """Whether a break of the graph is an error, in the block."""

    def __init__(self, error_on_graph_break):
        self.value = error_on_graph_break

    def __enter__(self):
        self.before = _error_on_break["on"]
        _error_on_break["on"] = self.value

    def __exit__(self, *args):
        _error_on_break["on"] = self.before

    def __call__(self, fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            with error_on_graph_break(self.value):
                return fn(*args, **kwargs)

        return wrapper


def set_recursion_limit(limit):
    """The recursion limit of Python while tracing."""
    import sys

    sys.setrecursionlimit(limit)
