"""torch._dynamo: the names that programs use."""

from . import config, exc, utils  # noqa: F401
from .backends.registry import list_backends, lookup_backend, register_backend  # noqa: F401
from .decorators import (  # noqa: F401
    allow_in_graph,
    assume_constant_result,
    disable,
    disable_nested_graph_breaks,
    disallow_in_graph,
    dont_skip_tracing,
    error_on_graph_break,
    forbid_in_graph,
    graph_break,
    is_dynamo_disable_recursive,
    mark_dynamic,
    mark_static,
    mark_static_address,
    mark_unbacked,
    maybe_mark_dynamic,
    nonstrict_trace,
    patch_dynamo_config,
    run,
    set_recursion_limit,
    set_stance,
    skip,
    skip_frame,
    step_unsupported,
    substitute_in_graph,
)
from .eval_frame import OptimizedModule, explain, export, optimize, optimize_assert  # noqa: F401
from .external_utils import is_compiling  # noqa: F401


def __getattr__(name):
    """The part for tests is imported when it is used."""
    if name == "testing":
        import importlib

        return importlib.import_module("torch._dynamo.testing")
    raise AttributeError(f"module 'torch._dynamo' has no attribute '{name}'")


def reset():
    """Forget all compiled code and all counts."""
    from torch import _C

    hook = getattr(getattr(_C, "_dynamo", None), "reset", None)
    if hook is not None:
        hook()
    utils.counters.clear()


def reset_code_caches():
    """Forget all compiled code."""
    reset()


def reset_recompile_user_contexts():
    """Nothing is kept."""


def replay(filename):
    """The sandbox has no files."""
    raise PermissionError("the sandbox has no files: torch._dynamo.replay is refused")
