"""Graphs: nodes in the order in which they run."""

import contextlib

import torch
from torch.utils import _pytree as pytree

from ._code import (  # noqa: F401
    Namespace,
    PythonCode,
    Writer,
    inplace_methods,
    magic_methods,
    reflectable_magic_methods,
    snake_case,
)
from .node import Node, _get_qualified_name, map_arg

_Namespace, _snake_case = Namespace, snake_case


class _NodeList:
    """The nodes of a graph, in order."""

    def __init__(self, graph, direction="_next"):
        self.graph, self.direction = graph, direction

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            following = getattr(node, self.direction)
            if not node._erased:
                yield node
            # The node may have been erased, or moved, while its user had it.
            node = getattr(node, self.direction) if not node._erased else following

    def __reversed__(self):
        return _NodeList(self.graph, "_prev" if self.direction == "_next" else "_next")


class CodeGen:
    """Writes the Python of a graph."""

    def _gen_python_code(self, nodes, root_module, namespace=None, *, verbose=False, **options):
        return Writer(nodes.graph, root_module, verbose).write()

    def process_inputs(self, *args):
        """Arguments of the module as the graph's inputs."""
        return args

    def process_outputs(self, outputs):
        """The graph's outputs as the module's result."""
        return outputs


class Graph:
    """A list of nodes that a GraphModule runs."""

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._len = 0
        self._graph_namespace = Namespace()
        self._owning_module, self._tracer_cls = owning_module, tracer_cls
        self._tracer_extras, self._codegen = tracer_extras, CodeGen()
        self._insert = self._root
        self._co_fields = {}

    @property
    def owning_module(self):
        """The module that runs this graph."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod):
        self._owning_module = mod

    @property
    def nodes(self):
        """The nodes, in order."""
        return _NodeList(self)

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes of one kind."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def output_node(self):
        """The node that returns."""
        return next(n for n in reversed(self.nodes) if n.op == "output")

    def _link(self, before, node):
        node._prev, node._next = before._prev, before
        before._prev._next = node
        before._prev = node

    def _unlink(self, node):
        node._prev._next, node._next._prev = node._next, node._prev

    def _move_before(self, place, node):
        if node.graph is not self:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if node is place:
            return
        self._unlink(node)
        self._link(place, node)

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """A new node at the insert point."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        name = self._graph_namespace.create_name(name if name is not None else self._target_to_str(target), None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        self._link(self._insert, node)
        self._len += 1
        return node

    def _target_to_str(self, target):
        text = target if isinstance(target, str) else target.__name__
        if text.startswith("__") and text.endswith("__") and len(text) > 4:
            text = text[2:-2]
        return snake_case(text)

    def erase_node(self, to_erase):
        """Take a node away that nothing uses."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                               f"{to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            return
        self._unlink(to_erase)
        to_erase._erased = True
        self._len -= 1
        to_erase._update((), {})

    @contextlib.contextmanager
    def _insert_at(self, node):
        before, self._insert = self._insert, node
        try:
            yield
        finally:
            self._insert = before

    def inserting_before(self, n=None):
        """New nodes come before n; without n, first of all."""
        return self._insert_at(self._root._next if n is None else n)

    def inserting_after(self, n=None):
        """New nodes come after n; without n, last of all."""
        return self._insert_at(self._root if n is None else n._next)

    def placeholder(self, name, type_expr=None, default_value=...):
        """An input."""
        return self.create_node("placeholder", name, () if default_value is ... else (default_value,), {},
                                type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """A parameter, buffer or attribute of the module."""
        return self.create_node("get_attr", qualified_name, (), {}, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """A call of a submodule."""
        if self.owning_module is not None:
            try:
                self.owning_module.get_submodule(module_name)
            except AttributeError:
                import warnings

                warnings.warn("Attempted to insert a call_module Node with no underlying reference in the owning "
                              "GraphModule! Call GraphModule.add_submodule to add the necessary submodule")
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result, type_expr=None):
        """What the graph returns."""
        return self.create_node("output", "output", (result,), {}, type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        """A copy of another graph's node."""
        made = self.create_node(node.op, node.target, map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform),
                                node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copy all nodes of another graph; gives what its output returns."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo=None):
        made = Graph(tracer_cls=self._tracer_cls)
        value = made.graph_copy(self, {}, return_output_node=True)
        if value is not None:
            output = made.output(value[0], type_expr=value[1].type)
            output.meta = dict(value[1].meta)
        return made

    def python_code(self, root_module, *, verbose=False, **options):
        """The function that runs this graph, as text."""
        if type(self._codegen)._gen_python_code is CodeGen._gen_python_code:
            return Writer(self, root_module, verbose).write()
        return self._codegen._gen_python_code(self.nodes, root_module, None, verbose=verbose)

    def set_codegen(self, codegen):
        """Another writer of Python."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer):
        """Not supported."""
        raise NotImplementedError("Kerf's torch.fx has no on_generate_code")

    def process_inputs(self, *args):
        """See CodeGen."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """See CodeGen."""
        return self._codegen.process_outputs(out)

    def __str__(self):
        lines = [node.format_node() for node in self.nodes]
        return "graph():" + "".join(f"\n    {line}" for line in lines if line)

    def print_tabular(self):
        """The nodes as a table."""
        from ._table import table

        rows = [[n.op, n.name, str(n.target), str(n.args), str(n.kwargs)] for n in self.nodes]
        print(table(rows, ["opcode", "name", "target", "args", "kwargs"]))

    def lint(self):
        """Raise where the graph is not whole."""
        names, defined = set(), set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in node.all_input_nodes:
                if used not in defined:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' was used before it has been defined! Please "
                                       f"check that Nodes in the graph are topologically ordered\n{self}")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            defined.add(node)
            names.add(node.name)
        if self.owning_module is not None:
            self._lint_targets()

    def _lint_targets(self):
        for node in self.nodes:
            if node.op not in ("get_attr", "call_module"):
                continue
            at = self.owning_module
            for part in node.target.split("."):
                if not hasattr(at, part):
                    raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of {at}")
                at = getattr(at, part)

    def is_impure(self, node):
        """See Node.is_impure."""
        return node.is_impure()

    def eliminate_dead_code(self, is_impure_node=None):
        """Take away what nothing uses; whether there was any."""
        changed = False
        impure = is_impure_node or (lambda n: n.is_impure())
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
                changed = True
        return changed




__all__ = ["Graph", "CodeGen", "PythonCode", "magic_methods", "reflectable_magic_methods", "inplace_methods", "pytree",
           "torch", "_get_qualified_name"]
