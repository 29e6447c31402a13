"""Nodes of a graph: one operation each, with arguments that are other nodes or plain values."""

import builtins
import inspect
import math
import operator
import types
import typing

import torch

from .immutable_collections import immutable_dict, immutable_list

Argument = typing.Any
Target = typing.Union[typing.Callable, str]
_OPCODES = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")
_side_effectful_functions = set()


def has_side_effect(fn):
    """Keep calls of a function although nothing uses their results."""
    _side_effectful_functions.add(fn)
    return fn


for _name in ("_assert", "_assert_async", "_check", "set_grad_enabled"):
    if hasattr(torch, _name):
        _side_effectful_functions.add(getattr(torch, _name))
del _name


def map_aggregate(a, fn):
    """fn at every leaf of nested lists, tuples, dicts and slices."""
    if isinstance(a, tuple):
        made = [map_aggregate(x, fn) for x in a]
        return type(a)(*made) if hasattr(a, "_fields") else tuple(made)
    if isinstance(a, list):
        return immutable_list(map_aggregate(x, fn) for x in a)
    if isinstance(a, dict):
        return immutable_dict((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a, fn):
    """fn at every node among arguments."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def _find_module_of_method(orig_method):
    name = orig_method.__name__
    module = orig_method.__module__
    if module is not None:
        return module
    for guess in (torch, torch.nn.functional):
        if getattr(guess, name, None) is orig_method:
            return guess.__name__
    raise RuntimeError(f"cannot find module for {orig_method}")


def _get_qualified_name(func):
    """A function's name with its module, as generated code writes it."""
    if getattr(builtins, getattr(func, "__name__", ""), None) is func:
        return func.__name__
    if isinstance(func, torch._ops.OpOverload) or type(func).__name__ in ("OpOverload", "OpOverloadPacket"):
        return str(func) if str(func).startswith("torch.ops.") else f"torch.ops.{func}"
    if isinstance(func, (types.MethodDescriptorType, types.WrapperDescriptorType)) and hasattr(torch.Tensor, func.__name__):
        return f"torch.Tensor.{func.__name__}"
    name = func.__name__
    if name == "<lambda>":
        try:
            name = inspect.getsource(func).split("=")[0].strip()
        except Exception as error:
            raise RuntimeError("Unable to represent lambda") from error
    if getattr(torch, name, None) is func:
        return f"torch.{name}"
    module = _find_module_of_method(func).replace("torch._ops", "torch.ops")
    if module.startswith("torch.ops.") and "." in name:  # "aten.add.Tensor" of an overload
        return f"torch.ops.{name}"
    if module == "torch" and name == "segment_reduce":
        name = "_" + name
    if module == "torch.nn.functional" or module.startswith("torch.nn._functional"):
        module = "torch.nn.functional"
    return f"{module}.{name}"


def _type_repr(obj):
    """A type as an annotation writes it."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        module = "torch" if obj is torch.Tensor else obj.__module__
        return f"{module}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj)


def _format_arg(arg, max_list_len=math.inf):
    if isinstance(arg, (list, tuple)):
        items = ", ".join(_format_arg(a) for i, a in enumerate(arg) if i < max_list_len)
        more = "" if len(arg) < max_list_len + 1 else f", ...[total_len={len(arg)}]"
        if isinstance(arg, list):
            return f"[{items}{more}]"
        return f"({items}{',' if len(arg) == 1 else ''}{more})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


class Node:
    """One operation of a graph."""

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in _OPCODES:
            raise AssertionError(f"invalid op {op!r}")
        if op == "call_function" and not callable(target):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {torch.typename(target)} "
                             "but a Callable is expected")
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self._input_nodes, self.users = {}, {}
        self._prev = self._next = self
        self._erased = False
        self._repr_fn = None
        self._args, self._kwargs = (), {}
        self._update(map_arg(args, lambda x: x), map_arg(kwargs, lambda x: x))
        self.type = return_type
        self.meta = {}

    @property
    def next(self):
        """The node after this one."""
        return self._next

    @property
    def prev(self):
        """The node before this one."""
        return self._prev

    def prepend(self, x):
        """Put x before this node."""
        self.graph._move_before(self, x)

    def append(self, x):
        """Put x after this node."""
        self._next.prepend(x)

    @property
    def args(self):
        """Positional arguments."""
        return self._args

    @args.setter
    def args(self, a):
        self._update(map_aggregate(a, lambda x: x), self._kwargs)

    @property
    def kwargs(self):
        """Arguments by name."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k):
        self._update(self._args, map_aggregate(k, lambda x: x))

    @property
    def all_input_nodes(self):
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx, arg):
        """Change one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Add a positional argument."""
        args = list(self.args)
        args.insert(idx, arg)
        self.args = tuple(args)

    def update_kwarg(self, key, arg):
        """Change one named argument."""
        self.kwargs = {**self.kwargs, key: arg}

    @property
    def stack_trace(self):
        """Where the program made this node."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def _update(self, args, kwargs):
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._args, self._kwargs, self._input_nodes = args, kwargs, {}
        map_arg((args, kwargs), lambda n: self._input_nodes.setdefault(n))
        for node in self._input_nodes:
            node.users.setdefault(self)

    def __repr__(self):
        return self._repr_fn(self) if self._repr_fn else self.name

    def _pretty_print_target(self, target):
        if isinstance(target, str):
            return target
        module = getattr(target, "__module__", None)
        if module == "builtins":
            return f"builtins.{target.__name__}"
        if module == "_operator":
            return f"operator.{target.__name__}"
        return _get_qualified_name(target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        """This node as a line of the printed graph."""
        typename = f"{_type_repr(self.type)} " if self.type else ""
        head = f"%{self.name} : {typename}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={self._pretty_print_target(self.target)}]"
        if self.op == "output":
            return f"return {self.args[0]}"
        target = self._pretty_print_target(self.target)
        return f"{head}[target={target}](args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        """Let those who use this node use another one; gives the users that were changed."""
        if propagate_meta:
            for key, value in self.meta.items():
                replace_with.meta.setdefault(key, value)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input, new_input):
        """Use one node in place of another."""
        swap = lambda n: new_input if n is old_input else n  # noqa: E731
        self._update(map_arg(self.args, swap), map_arg(self.kwargs, swap))

    def is_impure(self, impure_random=True):
        """Whether the node does something although nothing uses it."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            if self.target in _side_effectful_functions or "inplace" in self.kwargs and self.kwargs["inplace"]:
                return True
            name = getattr(self.target, "__name__", "")
            return name.split(".")[0].endswith("_") and not name.startswith("_") and name not in ("and_", "or_")
        if self.op == "call_method":
            return self.target.endswith("_") and not self.target.endswith("__")
        if self.op == "call_module":
            owner = self.graph.owning_module
            module = owner.get_submodule(self.target) if owner is not None else None
            return getattr(module, "_is_impure", False)
        return False

    def normalized_arguments(self, root, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
        """The arguments by name, where the target is a Python function."""
        if self.op != "call_function":
            return None
        try:
            bound = inspect.signature(self.target).bind(*self.args, **self.kwargs)
        except (TypeError, ValueError):
            return None
        bound.apply_defaults()
        pair = typing.NamedTuple("ArgsKwargsPair", [("args", tuple), ("kwargs", dict)])
        return pair((), dict(bound.arguments)) if normalize_to_only_use_kwargs else pair(bound.args, bound.kwargs)

    def __lt__(self, other):
        return self._order() < other._order()

    def __gt__(self, other):
        return other < self

    def _order(self):
        return [*self.graph.nodes].index(self)


_operator_module = operator
