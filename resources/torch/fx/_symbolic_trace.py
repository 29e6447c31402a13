"""Tracing a module or function with proxies."""

import builtins
import functools
import inspect
import math
import types

import torch

from .graph import Graph
from .graph_module import GraphModule
from .node import Node
from .proxy import Proxy, Scope, TracerBase

#: Functions that stay calls in the graph: (globals, name) → function.
_wrapped = {}
_wrapped_methods = []
PH = type("PHBase", (), {"__repr__": lambda self: "PH"})()
_is_fx_tracing_flag = False


def is_fx_tracing():
    """Whether a function is being traced."""
    return _is_fx_tracing_flag


def is_wrapped(value):
    """Whether fx.wrap was told of a function."""
    return any(value is entry.find() for entry in _wrapped.values())


def wrap(fn_or_name):
    """Keep calls of a function in the graph as they are. Called where the function is global."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe().f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    names = frame.f_globals
    _wrapped[id(names), name] = _Wrapped(names, name, fn_or_name)
    return fn_or_name


class _Wrapped:
    """A global name under fx.wrap."""

    def __init__(self, names, name, fn):
        self.names, self.name, self.fn = names, name, fn

    def find(self):
        """The function; builtins are found by their name."""
        if not isinstance(self.fn, str):
            return self.fn
        return self.names.get(self.name, getattr(builtins, self.name, None))


def _find_proxy(*things):
    found = []

    def walk(x):
        if isinstance(x, Proxy):
            found.append(x)
        elif isinstance(x, (list, tuple)):
            for item in x:
                walk(item)
        elif isinstance(x, dict):
            for item in x.values():
                walk(item)
        elif isinstance(x, slice):
            walk((x.start, x.stop, x.step))

    walk(things)
    return found[0] if found else None


def _proxied(fn):
    @functools.wraps(fn, assigned=("__name__", "__doc__"), updated=())
    def wrapped(*args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return fn(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", fn, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


class _Patches:
    """Changes of globals and attributes, undone at the end."""

    def __init__(self):
        self.undo = []

    def item(self, names, key, value):
        """names[key] = value."""
        had, old = key in names, names.get(key)
        self.undo.append(lambda: names.__setitem__(key, old) if had else names.pop(key, None))
        names[key] = value

    def attribute(self, owner, name, value):
        """owner.name = value."""
        old = getattr(owner, name)
        self.undo.append(lambda: setattr(owner, name, old))
        setattr(owner, name, value)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for step in reversed(self.undo):
            step()


class Tracer(TracerBase):
    """Traces modules and functions."""

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        super().__init__()
        self._autowrap = [getattr(module, name) for module in autowrap_modules for name in dir(module)
                          if callable(getattr(module, name)) and not name.startswith("_")]
        self._autowrap_search = list(autowrap_modules)
        self._autowrap += list(autowrap_functions)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack, self.num_calls, self.node_name_to_scope = {}, {}, {}
        self.tensor_attrs = {}

    def create_arg(self, a):
        """Parameters and buffers become get_attr, constants of the program attributes of the module."""
        if isinstance(a, torch.nn.Parameter):
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, torch.Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
            return self.create_node("get_attr", self._constant(a, "_tensor_constant"), (), {})
        if isinstance(a, torch.nn.Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", a.__class__, tuple(self.create_arg(x) for x in a), {})
        return super().create_arg(a)

    def _constant(self, value, stem):
        for name, known in self.tensor_attrs.items():
            if known is value:
                return name
        number = 0
        while hasattr(self.root, f"{stem}{number}"):
            number += 1
        self.tensor_attrs[f"{stem}{number}"] = value
        setattr(self.root, f"{stem}{number}", value)
        return f"{stem}{number}"

    def is_leaf_module(self, m, module_qualified_name):
        """Whether a module is one call in the graph: those of torch.nn, but Sequential."""
        return m.__module__.startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, torch.nn.Sequential)

    def path_of_module(self, mod):
        """The name of a submodule."""
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """A call of a submodule: a node, or traced inside."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """An attribute of a module: a parameter becomes a node."""
        if isinstance(attr_val, torch.nn.Parameter):
            for name, parameter in self.root.named_parameters():
                if attr_val is parameter:
                    if name not in parameter_proxy_cache:
                        parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
                    return parameter_proxy_cache[name]
        if self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor):
            for name, buffer in self.root.named_buffers():
                if attr_val is buffer:
                    if name not in parameter_proxy_cache:
                        parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
                    return parameter_proxy_cache[name]
        return attr_val

    def _specialised(self, name, value):
        """An argument that the graph was made for: another value is an error when it runs."""
        given = self.create_proxy("placeholder", name, (), {})
        if value is None or isinstance(value, (bool, int, float, str)):
            said = f"{name} has been specialized to have value {value} but got another value"
            self.create_proxy("call_function", torch._assert, (given == value, said), {})

    def _placeholder(self, name, default, concrete):
        if name in concrete:
            value = concrete[name]
            if value is not PH:
                self._specialised(name, value)
                return value
        return self.create_proxy("placeholder", name, () if default is inspect.Parameter.empty else (default,), {})

    def _arguments(self, fn, is_module, concrete):
        """Proxies for all parameters, as positional and named arguments."""
        parameters = list(inspect.signature(fn).parameters.values())
        args, kwargs = [], {}
        if is_module:
            args.append(self.root)
            parameters = parameters[1:]
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                args.append(_Star(self.create_proxy("placeholder", "*" + p.name, (), {})))
            elif p.kind is p.VAR_KEYWORD:
                kwargs["**"] = self.create_proxy("placeholder", "**" + p.name, (), {})
            elif p.kind is p.KEYWORD_ONLY:
                kwargs[p.name] = self._placeholder(p.name, p.default, concrete)
            else:
                args.append(self._placeholder(p.name, p.default, concrete))
        return args, kwargs

    def trace(self, root, concrete_args=None):
        """The graph of a module or function."""
        if isinstance(root, torch.nn.Module):
            self.root, fn = root, type(root).forward if "forward" not in root.__dict__ else None
            if fn is None:
                forward = root.forward
                fn = forward.__func__ if inspect.ismethod(forward) else lambda _, *a, **k: forward(*a, **k)
            self.root_module_name = root._get_name()
        else:
            self.root, fn = torch.nn.Module(), root
        self.graph = Graph(tracer_cls=type(self))
        args, kwargs = self._arguments(fn, isinstance(root, torch.nn.Module), concrete_args or {})
        result = self._run(fn, args, kwargs)
        self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=fn.__annotations__.get("return")
                         if isinstance(getattr(fn, "__annotations__", None), dict) else None)
        return self.graph

    def _run(self, fn, args, kwargs):
        global _is_fx_tracing_flag
        before, _is_fx_tracing_flag = _is_fx_tracing_flag, True
        try:
            with _Patches() as patches:
                self._patch(patches, fn)
                if any(isinstance(a, _Star) for a in args) or "**" in kwargs:
                    return _call_with_stars(fn, args, kwargs)
                return fn(*args, **kwargs)
        finally:
            _is_fx_tracing_flag = before

    def _patch(self, patches, fn):
        original_call, original_getattr = torch.nn.Module.__call__, torch.nn.Module.__getattr__
        cache = {}

        def module_getattr(mod, attr):
            return self.getattr(attr, original_getattr(mod, attr), cache)

        def module_call(mod, *args, **kwargs):
            return self.call_module(mod, lambda *a, **k: original_call(mod, *a, **k), args, kwargs)

        patches.attribute(torch.nn.Module, "__getattr__", module_getattr)
        patches.attribute(torch.nn.Module, "__call__", module_call)
        for module in self._autowrap_search:
            for name, value in list(module.__dict__.items()):
                if any(value is known for known in self._autowrap):
                    patches.attribute(module, name, _proxied(value))
        names = getattr(fn, "__globals__", {})
        for name, value in list(names.items()):
            if not name.startswith("_") and callable(value) and any(value is known for known in self._autowrap):
                patches.item(names, name, _proxied(value))
        for entry in _wrapped.values():
            found = entry.find()
            if found is not None:
                patches.item(entry.names, entry.name, _proxied(found))


class _Star:
    def __init__(self, proxy):
        self.proxy = proxy


def _call_with_stars(fn, args, kwargs):
    """*args and **kwargs of the function are one proxy each: the names are bound past the call."""
    code = fn.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    plain = [a.proxy if isinstance(a, _Star) else a for a in args]
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames
    ordered = plain[:code.co_argcount] + [kwargs[n] for n in names[code.co_argcount:count]]
    ordered += [a.proxy for a in args if isinstance(a, _Star)] + ([kwargs["**"]] if "**" in kwargs else [])
    made = code.replace(co_flags=flags, co_argcount=len(ordered), co_kwonlyargcount=0, co_posonlyargcount=0)
    return types.FunctionType(made, fn.__globals__, fn.__name__, None, fn.__closure__)(*ordered)


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that does what a module or function does."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


__all__ = ["Node", "PH", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]
