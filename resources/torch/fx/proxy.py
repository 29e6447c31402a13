"""Proxies: what a function gets while it is traced. Each operation on one makes a node."""

import dis
import inspect
import operator


import torch

from ._code import magic_methods, reflectable_magic_methods
from .graph import Graph
from .node import Node, map_aggregate


class TraceError(ValueError):
    """The program did something that cannot be traced."""


class Scope:
    """Which module is being traced."""

    def __init__(self, module_path, module_type):
        self.module_path, self.module_type = module_path, module_type


class TracerBase:
    """Makes nodes and proxies."""

    graph = None
    record_stack_traces = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """A node of the graph being traced."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node):
        """What stands for a node."""
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """A node and what stands for it."""
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a):
        """A value as a node may hold it."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {k: self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        plain = (str, int, float, bool, complex, type(None), type(...), torch.dtype, torch.Tensor, torch.device,
                 torch.memory_format, torch.layout, torch._ops.OpOverload, Node)
        if isinstance(a, plain) or inspect.isfunction(a) or inspect.isclass(a) or callable(a):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj):
        """if proxy: …"""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """a, b = proxy, or for … in proxy."""
        frame = inspect.currentframe()
        calling = frame.f_back.f_back if frame and frame.f_back else None
        if calling is not None:
            for instruction in dis.get_instructions(calling.f_code):
                if instruction.offset == calling.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
                    return (obj[i] for i in range(instruction.argval))
        raise TraceError("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a "
                         "*args or **kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed "
                         "explanation of what types of control flow can be traced, and check out the Proxy docstring for "
                         "help troubleshooting Proxy iteration errors")

    def keys(self, obj):
        """**proxy."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds to a graph that exists."""

    def __init__(self, graph):
        self.graph = graph


class Proxy:
    """Stands for a value of the program."""

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, k):
        if k.startswith("__") and k.endswith("__") or k in ("tracer", "node"):
            raise AttributeError(k)
        return Attribute(self, k)

    def __deepcopy__(self, memo):
        return self

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        return self.tracer.iter(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        return self.tracer.to_bool(self)

    def keys(self):
        """See TracerBase.keys."""
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, "
                           "please call torch.fx.wrap('len') at module scope")

    def __contains__(self, item):
        raise RuntimeError("'in' is not supported in symbolic tracing by default")

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs = args or (), kwargs or {}
        tracers = {}

        def find(a):
            if isinstance(a, Proxy):
                tracers[a.tracer] = None
            return a

        map_aggregate((args, kwargs), find)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations "
                               f"{orig_method}")
        tracer = next(iter(tracers))
        if _is_method(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs,
                                   name=tracer.graph._target_to_str(orig_method.__name__))


def _is_method(function):
    name = getattr(function, "__name__", None)
    return name is not None and getattr(torch, name, None) is not function and \
        getattr(torch.Tensor, name, None) is function


class Attribute(Proxy):
    """proxy.name: a node only if it is not called."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node = None

    @property
    def node(self):
        """Made when it is asked for."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _define(name):
    function = getattr(operator, name)

    def impl(*args, **kwargs):
        return args[0].tracer.create_proxy("call_function", function, args, kwargs)

    impl.__name__ = f"__{name.strip('_')}__"
    setattr(Proxy, impl.__name__, impl)


def _define_reflected(name):
    function = getattr(operator, name)

    def impl(self, rhs):
        return self.tracer.create_proxy("call_function", function, (rhs, self), {})

    impl.__name__ = f"__r{name.strip('_')}__"
    setattr(Proxy, impl.__name__, impl)


for _name in magic_methods:
    if _name != "div":
        _define(_name)
for _name in reflectable_magic_methods:
    if _name not in ("div", "getitem"):
        _define_reflected(_name)
Proxy.__hash__ = object.__hash__
__all__ = ["Attribute", "Graph", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase"]
