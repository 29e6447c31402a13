"""Compiled functions and modules."""

import functools
import inspect
import json

import torch
from torch import _C, _capture

from .backends.inductor import with_options
from .backends.registry import name_or_function
from .decorators import innermost_fn, stance


def _compiled(fn, settings):
    """What the engine's hook makes of a function; the function itself without a hook."""
    hook = getattr(getattr(_C, "_dynamo", None), "compile", None)
    return fn if hook is None else hook(fn, **settings)


class _Optimize:
    """Compiles functions and modules with one set of options."""

    def __init__(self, settings):
        self.settings = settings

    def __call__(self, fn):
        fn = innermost_fn(fn)
        if isinstance(fn, torch.nn.Module):
            made = OptimizedModule(fn, self)
            made._torchdynamo_orig_callable = fn.forward
            return made
        if inspect.isclass(fn):
            fn.__call__ = self(fn.__call__)
            return fn
        if not callable(fn):
            raise AssertionError(f"A callable function is expected, but {type(fn)} is provided.")
        compiled = _compiled(fn, self.settings)

        @functools.wraps(fn, updated=())
        def compile_wrapper(*args, **kwargs):
            if stance["name"] == "force_eager":
                return fn(*args, **kwargs)
            return compiled(*args, **kwargs)

        compile_wrapper._torchdynamo_inline = fn
        compile_wrapper._torchdynamo_orig_callable = fn
        compile_wrapper._torchdynamo_compiled = compiled
        compile_wrapper._torchdynamo_wrapper_id = id(compile_wrapper)
        compile_wrapper.get_compiler_config = lambda: self.settings
        return compile_wrapper


class OptimizedModule(torch.nn.Module):
    """A module whose call is compiled; it shares everything with the module inside."""

    _opt_mod_attributes = {"_orig_mod", "dynamo_ctx", "_torchdynamo_orig_callable", "get_compiler_config", "forward",
                           "_forward", "__dict__", "named_children_walk", "_super_module_initialized", "training",
                           "_torchdynamo_wrapper_id"}

    def __init__(self, mod, dynamo_ctx):
        super().__init__()
        object.__setattr__(self, "_super_module_initialized", True)
        self._modules["_orig_mod"] = mod
        object.__setattr__(self, "dynamo_ctx", dynamo_ctx)
        self._initialize()

    def _initialize(self):
        object.__setattr__(self, "forward", self.dynamo_ctx(self._orig_mod.__call__))
        if hasattr(self._orig_mod, "_initialize_hook"):
            object.__setattr__(self, "_forward", self.forward)
            object.__setattr__(self, "forward", self._call_lazy_check)

    def _call_lazy_check(self, *args, **kwargs):
        """The first call of a lazy module makes its parameters before its frame is traced."""
        if hasattr(self._orig_mod, "_initialize_hook"):
            self._orig_mod._infer_parameters(self._orig_mod, args, kwargs)
        return self._forward(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        return super().__call__(*args, **kwargs)

    def __reduce__(self):
        return self.__class__, (self._orig_mod, self.dynamo_ctx)

    def __deepcopy__(self, memo):
        import copy

        made = type(self)(copy.deepcopy(self._orig_mod, memo), self.dynamo_ctx)
        memo[id(self)] = made
        return made

    @property
    def training(self):
        """The mode of the module inside."""
        return self._orig_mod.training

    @training.setter
    def training(self, value):
        if "_modules" in self.__dict__ and "_orig_mod" in self._modules:
            self._orig_mod.training = value

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, val):
        if not self.__dict__.get("_super_module_initialized") or name in type(self)._opt_mod_attributes:
            object.__setattr__(self, name, val)
            return
        setattr(self._orig_mod, name, val)

    def __delattr__(self, name):
        if name in self.__dict__:
            object.__delattr__(self, name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self):
        return sorted({*object.__dir__(self._orig_mod), *object.__dir__(self)})

    def __len__(self):
        if hasattr(type(self._orig_mod), "__len__"):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __iter__(self):
        return iter(self._orig_mod)

    def __getitem__(self, key):
        return self._orig_mod[key]

    def __bool__(self):
        return True


def optimize(backend="inductor", *, nopython=False, guard_export_fn=None, guard_fail_fn=None, guard_filter_fn=None,
             disable=False, dynamic=None, mode=None, options=None, **unused):
    """A decorator that compiles."""
    from . import config

    if disable or config.disable:
        return lambda fn: fn
    settings = _capture.overridden({"backend": backend, "dynamic": dynamic, "fullgraph": bool(nopython),
                                    "options": options, "mode": mode})
    settings["backend"] = with_options(name_or_function(settings["backend"]), mode, options, dynamic)
    return _Optimize(settings)


def optimize_assert(backend="inductor", **kwargs):
    """optimize with a break of the graph as an error."""
    kwargs["nopython"] = True
    return optimize(backend, **kwargs)


class ExplainOutput:
    """What explain found."""

    def __init__(self, graphs, graph_count, graph_break_count, break_reasons, op_count, ops_per_graph=None,
                 out_guards=None, compile_times=None):
        self.graphs, self.graph_count, self.graph_break_count = graphs, graph_count, graph_break_count
        self.break_reasons, self.op_count = break_reasons, op_count
        self.ops_per_graph, self.out_guards, self.compile_times = ops_per_graph, out_guards, compile_times

    def __str__(self):
        lines = [f"Graph Count: {self.graph_count}", f"Graph Break Count: {self.graph_break_count}",
                 f"Op Count: {self.op_count}", "Break Reasons:"]
        for i, reason in enumerate(self.break_reasons):
            lines += [f"  Break Reason {i + 1}:", f"    Reason: {reason.reason}", "    User Stack:"]
            lines += [f"      {frame}" for frame in reason.user_stack]
        if self.ops_per_graph is not None:
            lines.append("Ops per Graph:")
            for i, ops in enumerate(self.ops_per_graph):
                lines += [f"  Ops {i + 1}:", *[f"    {op}" for op in ops]]
        return "\n".join(lines) + "\n"

    __repr__ = __str__


class GraphCompileReason:
    """Why a graph ended, and where."""

    def __init__(self, reason, user_stack, graph_break=True):
        self.reason, self.user_stack, self.graph_break = reason, user_stack, graph_break

    def __repr__(self):
        return f"GraphCompileReason(reason={self.reason!r}, user_stack={self.user_stack!r}, graph_break={self.graph_break})"


def _explained(fn, args, kwargs):
    """Runs a function compiled, and says what was compiled."""
    modules = []

    def keep(module, inputs):
        modules.append(module)
        return module

    before = json.loads(_C._dynamo.log())
    optimize(keep)(fn)(*args, **kwargs)
    after = json.loads(_C._dynamo.log())
    fresh = {key: after[key][len(before[key]):] for key in after}
    ops = [[n.target for n in m.graph.nodes if n.op == "call_function"] for m in modules]
    reasons = [GraphCompileReason(b["reason"], b["stack"], b["graph_break"]) for b in fresh["breaks"]]
    guards = [guard for frame in fresh["frames"] for guard in frame["guards"]]
    return ExplainOutput(modules, len(modules), max(len(modules) - 1, 0), reasons, sum(map(len, ops)), ops, guards)


def explain(f, *extra_args, **extra_kwargs):
    """A function that runs f and gives its graphs and breaks."""

    def inner(*args, **kwargs):
        torch._dynamo.reset()
        return _explained(innermost_fn(f), args, kwargs)

    return inner(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else inner


def export(f, *extra_args, **options):
    """See torch.export.export."""

    def inner(*args, **kwargs):
        made = torch.export.export(f, args, kwargs)
        return made.module(), ()

    return inner(*extra_args) if extra_args else inner

