"""A graph of ATen calls out of its text."""

import ast
import operator
import textwrap

import torch
from torch.fx import Graph, GraphModule

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
              ast.Div: operator.truediv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.Eq: operator.eq,
              ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
              ast.BitAnd: operator.and_, ast.BitOr: operator.or_}
_NAMES = {"torch": torch, "device": torch.device, "inf": float("inf"), "nan": float("nan"), "operator": operator}


class _Reader:
    def __init__(self, value_of, sizes):
        self.graph, self.nodes, self.value_of, self.sizes = Graph(), {}, value_of, sizes

    def symbol(self, name):
        """The node of a symbol: the size of the input that has it."""
        given, dim = self.sizes[name]
        node = self.graph.create_node("call_function", torch.ops.aten.sym_size.int, (self.nodes[given], dim), {})
        node.meta["val"] = self.value_of(f"Sym({name})")
        return node

    def argument(self, tree):
        """An expression as an argument: names are nodes, and expressions of symbols nodes that compute them."""
        if isinstance(tree, ast.Name) and tree.id not in self.nodes and tree.id in self.sizes:
            self.nodes[tree.id] = self.symbol(tree.id)
        if isinstance(tree, ast.Name) and tree.id in self.nodes:
            return self.nodes[tree.id]
        if isinstance(tree, ast.BinOp):
            return self.computed(tree)
        if isinstance(tree, ast.List):
            return [self.argument(e) for e in tree.elts]
        if isinstance(tree, ast.Tuple):
            return tuple(self.argument(e) for e in tree.elts)
        return eval(compile(ast.Expression(tree), "<graph>", "eval"), dict(_NAMES))

    def computed(self, tree):
        """4*s0 as a node; a number where no symbol is in it."""
        function, args, _ = self.call(tree)
        if not any(hasattr(a, "op") for a in args):
            return function(*args)
        node = self.graph.create_node("call_function", function, args, {})
        node.meta["val"] = self.value_of(f"Sym({ast.unparse(tree)})")
        return node

    def call(self, tree):
        """(function, args, kwargs) of a line's right side."""
        if isinstance(tree, ast.Call):
            function = self.argument(tree.func)
            return function, tuple(map(self.argument, tree.args)), {k.arg: self.argument(k.value) for k in tree.keywords}
        if isinstance(tree, ast.Subscript):
            return operator.getitem, (self.argument(tree.value), self.argument(tree.slice)), {}
        if isinstance(tree, ast.BinOp):
            return _OPERATORS[type(tree.op)], (self.argument(tree.left), self.argument(tree.right)), {}
        if isinstance(tree, ast.Compare):
            return _OPERATORS[type(tree.ops[0])], (self.argument(tree.left), self.argument(tree.comparators[0])), {}
        if isinstance(tree, ast.UnaryOp):
            return operator.neg, (self.argument(tree.operand),), {}
        raise NotImplementedError(f"a line of the exported graph is no call: {ast.unparse(tree)}")

    def note(self, node, annotation):
        """What the annotation says of the node's value."""
        value = self.value_of(annotation.value) if isinstance(annotation, ast.Constant) else None
        if value is not None:
            node.meta["val"] = value

    def line(self, tree):
        """One line: a call that gives a name, or what the graph gives."""
        if isinstance(tree, ast.Return):
            return self.graph.output(self.argument(tree.value))
        annotation = tree.annotation if isinstance(tree, ast.AnnAssign) else None
        target = tree.target if isinstance(tree, ast.AnnAssign) else tree.targets[0]
        if isinstance(tree.value, ast.Constant) and tree.value.value is None:
            return None
        if isinstance(tree.value, ast.Attribute) and getattr(tree.value.value, "id", None) == "self":
            self.nodes[target.id] = self.graph.create_node("get_attr", tree.value.attr, (), {}, target.id)
            return None
        function, args, kwargs = self.call(tree.value)
        node = self.graph.create_node("call_function", function, args, kwargs, target.id)
        self.nodes[target.id] = node
        return self.note(node, annotation)


def _module_of(tree, value_of, sizes):
    """The GraphModule of a class: its forward, and the classes of nested graphs below it."""
    forward = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "forward")
    root = torch.nn.Module()
    for inner in tree.body:
        if isinstance(inner, ast.ClassDef):
            setattr(root, inner.name, _module_of(inner, value_of, {}))
    reader = _Reader(value_of, sizes)
    for argument in forward.args.args[1:]:
        node = reader.graph.placeholder(argument.arg)
        reader.nodes[argument.arg] = node
        reader.note(node, argument.annotation)
    for line in forward.body:
        reader.line(line)
    reader.graph.eliminate_dead_code()
    return GraphModule(root, reader.graph)


def module_of(text, value_of, sizes):
    """The GraphModule of print_readable's text. `value_of` makes meta["val"] of an annotation; `sizes`: by symbol the input
    and the dimension that it is the size of."""
    tree = next(n for n in ast.parse(textwrap.dedent(text)).body if isinstance(n, ast.ClassDef))
    return _module_of(tree, value_of, sizes)
