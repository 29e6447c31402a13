"""GraphModule: a module that runs a graph."""

import copy
import linecache

import torch

from ._code import _CUSTOM
from .graph import Graph

_count = 0


def _compile(src, names, graph_module_name):
    """The function of a graph's text. Its lines are known to linecache, for tracebacks."""
    global _count
    _count += 1
    file = f"<eval_with_key>.{_count}"
    linecache.cache[file] = (len(src), None, src.splitlines(keepends=True), file)
    space = {**_CUSTOM, **names}
    space.setdefault("torch", torch)
    exec(compile(src, file, "exec"), space)
    return space["forward"]


def _attribute(root, target):
    for part in target.split("."):
        root = getattr(root, part)
    return root


def _copy_attribute(source, into, target):
    *prefix, name = target.split(".")
    for part in prefix:
        following = getattr(into, part, None)
        if following is None:
            following = torch.nn.Module()
            setattr(into, part, following)
        if not hasattr(source, part):
            return
        source, into = getattr(source, part), following
    if not hasattr(source, name):
        return
    value = getattr(source, name)
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        into.register_buffer(name, value)
    else:
        setattr(into, name, value)


def _assign_attribute(value, into, target):
    *prefix, name = target.split(".")
    for part in prefix:
        if not hasattr(into, part):
            setattr(into, part, torch.nn.Module())
        into = getattr(into, part)
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        into.register_buffer(name, value)
    else:
        setattr(into, name, value)


class GraphModule(torch.nn.Module):
    """A module whose forward is made from a graph. Each object has a class of its own."""

    def __new__(cls, *args, **kwargs):
        for base in cls.__mro__:
            if base.__qualname__.split(".")[-1] != "GraphModuleImpl":
                cls = base
                break
        made = type("GraphModuleImpl", (cls,), {"__module__": __name__})
        return super().__new__(made)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        self.__class__.__name__ = class_name
        if isinstance(root, torch.nn.Module):
            self.training = getattr(root, "training", True)
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attribute(root, self, node.target)
        elif isinstance(root, dict):
            self._take(root, graph)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.meta = {}
        self.graph = graph

    def _take(self, root, graph):
        wanted = []
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                if node.target not in root:
                    raise RuntimeError(f"Node {node} referenced target {node.target} but that target was not provided in "
                                       "``root``!")
                wanted.append(node.target)
        for target in sorted(wanted, key=lambda t: t.count(".")):
            _assign_attribute(root[target], self, target)

    @property
    def graph(self):
        """The graph that runs."""
        return self._graph

    @graph.setter
    def graph(self, g):
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        object.__setattr__(self, "_graph", g)
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The Python of the graph."""
        if "_code" not in self.__dict__:
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self):
        """Make forward anew after the graph changed."""
        made = self._graph.python_code(root_module="self")
        object.__setattr__(self, "_code", made.src)
        object.__setattr__(self, "_globals", made.globals)
        cls = type(self)
        cls.forward = _compile(made.src, made.globals, cls.__name__)
        return made

    def add_submodule(self, target, m):
        """Add a module under a dotted name; whether it could be."""
        *prefix, name = target.split(".")
        at = self
        for part in prefix:
            if not hasattr(at, part):
                setattr(at, part, torch.nn.Module())
            at = getattr(at, part)
            if not isinstance(at, torch.nn.Module):
                return False
        at.add_module(name, m)
        return True

    def delete_submodule(self, target):
        """Take a submodule away; whether there was one."""
        *prefix, name = target.split(".")
        at = self
        for part in prefix:
            if not hasattr(at, part):
                return False
            at = getattr(at, part)
        if not isinstance(getattr(at, name, None), torch.nn.Module):
            return False
        delattr(at, name)
        return True

    def delete_all_unused_submodules(self):
        """Take submodules away that the graph does not use."""
        used = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[:k + 1]) for k in range(len(parts)))
                if node.op == "call_module":
                    inside = self.get_submodule(node.target).named_modules()
                    used.update(f"{node.target}.{name}" for name, _ in inside if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False, **options):
        """The class as text, with shapes and places of the program; graphs inside follow it."""
        text = self._readable(self._get_name())
        if print_output:
            print(text)
        return text

    def _readable(self, name):
        body = self._graph.python_code(root_module="self", verbose=True).src.strip("\n")
        lines = "\n".join("    " + line if line.strip() else "    " + line for line in body.split("\n"))
        text = f"class {name}(torch.nn.Module):\n{lines}"
        for child_name, child in self.named_children():
            if isinstance(child, GraphModule):
                inside = child._readable(child_name).split("\n")
                text += "\n" + "\n".join("    " + line for line in inside)
        return text

    def __str__(self):
        return "\n".join([super().__str__(), self._code,
                          "# To see more debug info, please use `graph_module.print_readable()`"])

    def __deepcopy__(self, memo):
        root = torch.nn.Module()
        memo[id(self)] = root
        root.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k not in ("_graph", "_globals")})
        made = GraphModule.__new__(GraphModule)
        GraphModule.__init__(made, root, copy.deepcopy(self._graph), type(self).__name__)
        for key, value in root._buffers.items():
            made._buffers.setdefault(key, value)
        made.meta, made.training = copy.copy(self.meta), self.training
        memo[id(self)] = made
        return made

    def __copy__(self):
        made = GraphModule(self, copy.deepcopy(self._graph), type(self).__name__)
        made.meta = self.meta
        return made

    def __reduce__(self):
        raise PermissionError("Kerf's sandbox keeps no GraphModule outside of the program")
