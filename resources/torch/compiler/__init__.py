"""torch.compiler: what programs tell the compiler."""

import torch
from torch import _absent

from . import config  # noqa: F401

_is_compiling_flag = False
_is_exporting_flag = False


def compile(*args, **kwargs):
    """See torch.compile."""
    return torch.compile(*args, **kwargs)


def reset():
    """Forget all compiled code."""
    torch._dynamo.reset()


def allow_in_graph(fn):
    """Put calls of fn into the graph as they are."""
    return torch._dynamo.allow_in_graph(fn)


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    """Trace another function in the place of one that cannot be traced."""
    return torch._dynamo.substitute_in_graph(original_fn, can_constant_fold_through=can_constant_fold_through,
                                             skip_signature_check=skip_signature_check)


def list_backends(exclude_tags=("debug", "experimental")):
    """The names of the backends."""
    return torch._dynamo.list_backends(exclude_tags)


def assume_constant_result(fn):
    """Take the first result of fn as a constant."""
    return torch._dynamo.assume_constant_result(fn)


def disable(fn=None, recursive=True, *, reason=None):
    """Do not compile fn (nor what it calls, if recursive)."""
    return torch._dynamo.disable(fn, recursive, reason=reason)


def set_stance(stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
    """Say what compiled functions do from now on, or in the block."""
    return torch._dynamo.set_stance(stance, skip_guard_eval_unsafe=skip_guard_eval_unsafe, force_backend=force_backend)


def set_enable_guard_collectives(enabled):
    """There is one process: nothing changes."""
    return False


def cudagraph_mark_step_begin():
    """There are no CUDA graphs."""


def wrap_numpy(fn):
    """numpy is not available."""
    raise RuntimeError("numpy is not available")


def is_compiling():
    """Whether the code runs while it is compiled or exported."""
    return _is_compiling_flag


def is_dynamo_compiling():
    """Whether the code is being traced."""
    return False


def is_exporting():
    """Whether the code is being exported."""
    return _is_exporting_flag


def skip_guard_on_inbuilt_nn_modules_unsafe(guard_entries):
    """Leave out guards on modules of torch.nn."""
    return [not g.orig_guard.source.is_unspecialized_builtin_nn_module() for g in guard_entries]


def skip_guard_on_all_nn_modules_unsafe(guard_entries):
    """Leave out guards on modules."""
    return [not g.orig_guard.source.is_unspecialized_nn_module() for g in guard_entries]


def keep_tensor_guards_unsafe(guard_entries, keep_parameters=False):
    """Keep only guards on tensors."""
    return [g.guard_type == "TENSOR_MATCH" for g in guard_entries]


def skip_guard_on_globals_unsafe(guard_entries):
    """Leave out guards on globals."""
    return [not g.is_global for g in guard_entries]


def nested_compile_region(fn=None):
    """Say that a function is compiled once and called from several places."""
    from torch._higher_order_ops.invoke_subgraph import mark_compile_region

    return mark_compile_region(fn)


def load_compiled_function(file, *, f_globals=None):
    """The sandbox loads no compiled code."""
    raise PermissionError("the sandbox loads no compiled code")

__getattr__ = _absent.getter(__name__)

