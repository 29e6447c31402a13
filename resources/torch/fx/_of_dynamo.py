"""A captured graph as GraphModule, for backends that are Python functions."""

import functools
import linecache
import operator

import torch

from .graph import Graph
from .graph_module import GraphModule


class Builder:
    """Gets the nodes in order, and calls the backend at the end."""

    def __init__(self):
        self.graph = Graph()
        self.examples = []
        self.root = torch.nn.Module()

    def placeholder(self, name, target, shape, example):
        """An input; one of a body is named as the node around it that it gets."""
        target = target if target.isidentifier() else name
        node = self.graph.create_node("placeholder", target, (), {}, name, torch.Tensor if shape else None)
        self._note(node, shape)
        node.meta["grapharg"] = example
        self.examples.append(example)
        return node

    def call(self, name, target, args, kwargs, shape, file, line):
        """A call of a function, or of a method by its name."""
        op = "call_method" if isinstance(target, str) else "call_function"
        args, kwargs = self._attributes(args), self._attributes(kwargs)
        node = self.graph.create_node(op, _plain(target), args, kwargs, name)
        self._note(node, shape)
        if file:
            code = linecache.getline(file, line).strip()
            node.meta["stack_trace"] = f'  File "{file}", line {line}, in forward\n    {code}\n'
        return node

    def _attributes(self, value):
        """Arguments with nodes that get the nested graphs among them."""
        if isinstance(value, (tuple, list)):
            return type(value)(self._attributes(v) for v in value)
        if isinstance(value, dict):
            return {k: self._attributes(v) for k, v in value.items()}
        return self._nested(value) if hasattr(type(value), "build") and callable(value) else value

    def _nested(self, body):
        name = body.__name__ or f"nested_{len(self.graph.nodes)}"
        setattr(self.root, name, body.build(Builder()))
        return self.graph.create_node("get_attr", name, (), {}, name)

    def finish(self, output):
        """A nested graph with this output."""
        self.graph.output(output)
        return GraphModule(self.root, self.graph)

    @staticmethod
    def _note(node, shape):
        if not shape:
            return
        sizes, dtype, requires_grad = shape
        if all(isinstance(s, int) for s in sizes):
            value = torch.empty(sizes, dtype=dtype, device="meta")
            value.requires_grad_(bool(requires_grad) and (dtype.is_floating_point or dtype.is_complex))
            node.meta["example_value"] = value

    def compile(self, backend, outputs, name):
        """What the backend makes of the graph."""
        output = self.graph.output(tuple(outputs))
        output.meta.clear()
        module = GraphModule(self.root, self.graph)
        module.meta["compile_name"] = name
        try:
            made = backend(module, list(self.examples))
        except Exception as error:
            from torch._dynamo.exc import BackendCompilerFailed

            raise BackendCompilerFailed(backend, error) from error
        if not callable(made):
            raise AssertionError("compiler_fn did not return callable")
        return made


def _plain(target):
    """The operator module's own function, by which passes know it; of a check with a message the check."""
    target = target.func if isinstance(target, functools.partial) else target
    name = getattr(target, "__name__", None)
    if getattr(target, "__module__", None) == "torch._higher_order_ops._graph_runs":
        return getattr(torch.ops.higher_order, name)
    return getattr(operator, name) if getattr(target, "__module__", None) == "_operator" and name else target
