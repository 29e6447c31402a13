"""A graph that Dynamo captured, as a program with build() that imports torch alone."""
import keyword
import math
import re

from .inputs import makers

INFIX = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
         "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
         "gt": ">", "ge": ">="}
PREFIX = {"neg": "-", "pos": "+", "invert": "~", "not_": "not "}
MOST_ELEMENTS = 64  # of a tensor that is written out
MOST_STORED = 16 << 20  # bytes of one that is kept in a file; of larger ones the values are made up


class Unprintable(Exception):
    """Something in the graph has no text that means the same elsewhere."""


def name_of_function(function):
    """How a program names a function of PyTorch."""
    import torch
    from torch.fx.node import _get_qualified_name

    if isinstance(function, torch._ops.OpOverload):
        return "torch.ops.%s" % str(function)
    if isinstance(function, torch._ops.HigherOrderOperator):
        return "torch.ops.higher_order.%s" % function.name()
    name = _get_qualified_name(function)
    if name.startswith(("torch", "math.")):
        return name
    if getattr(function, "__module__", "") == "builtins" or name.startswith("builtins."):
        return function.__name__
    raise Unprintable("a call of %s" % name)


def literal(value):
    """Text of a constant of a graph."""
    import torch

    if isinstance(value, torch.fx.Node):
        return identifier(value.name)
    if isinstance(value, float) and not math.isfinite(value):
        return 'float("%s")' % value
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)) or value is None or isinstance(value, (bool, int, float, str, complex)):
        return repr(value) if isinstance(value, str) or value is None else str(value)
    if isinstance(value, torch.device):
        return repr(str(value))
    if isinstance(value, slice):
        return "slice(%s, %s, %s)" % tuple(map(literal, (value.start, value.stop, value.step)))
    if isinstance(value, (tuple, torch.Size)):
        return "(%s)" % "".join(literal(item) + ", " for item in value)
    if isinstance(value, list):
        return "[%s]" % ", ".join(map(literal, value))
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (literal(k), literal(v)) for k, v in value.items())
    if value is Ellipsis:
        return "..."
    if callable(value):
        return name_of_function(value)
    raise Unprintable("a constant of type %s" % type(value).__name__)


def identifier(name):
    name = re.sub(r"\W", "_", name)
    return name + "_" if keyword.iskeyword(name) or name in ("torch", "math", "build") else name


def index_text(index):
    """What stands between [ and ]: slices as people write them."""
    if isinstance(index, tuple) and index:
        return ", ".join(map(index_text, index)) + ("," if len(index) == 1 else "")
    if isinstance(index, slice):
        ends = [literal(end) if end is not None else "" for end in (index.start, index.stop, index.step)]
        return ":".join(ends[:2] if index.step is None else ends)
    return literal(index)


def call_text(node):
    """The right side of a node's line."""
    args = [literal(a) for a in node.args]
    target = node.target
    if str(target) == "aten.sym_size.int":
        return "%s.shape[%s]" % tuple(args)
    if str(target) == "aten.sym_storage_offset.default":
        return "%s.storage_offset()" % args[0]
    if str(target) == "cond" and len(args) == 4:
        return "torch.cond(%s)" % ", ".join(args)
    if node.op == "call_method":
        return "%s.%s(%s)" % (args[0], target, joined(args[1:], node.kwargs))
    name, module = getattr(target, "__name__", ""), getattr(target, "__module__", "")
    if module in ("_operator", "operator"):
        if name == "getitem":
            return "%s[%s]" % (args[0], index_text(node.args[1]))
        if name in INFIX:
            return "%s %s %s" % (args[0], INFIX[name], args[1])
        if name in PREFIX:
            return PREFIX[name] + args[0]
        if name.startswith("i") and name[1:] in INFIX:  # the name stays that of the changed value
            return "%s.__%s__(%s)" % (args[0], name, args[1])
        if name == "setitem":
            return "%s[%s] = %s" % (args[0], index_text(node.args[1]), args[2])
    if target is getattr:
        return "%s.%s" % (args[0], node.args[1])
    return "%s(%s)" % (name_of_function(target), joined(args, node.kwargs))


def joined(args, kwargs):
    return ", ".join(args + ["%s=%s" % (k, literal(v)) for k, v in kwargs.items()])


def body_of(module, indent, values):
    """Lines of a graph's function. Attributes that are tensors are added to `values`, graphs become inner functions."""
    import torch

    lines, results = [], []
    for node in module.graph.nodes:
        if node.op in ("call_function", "call_method"):
            name = "" if getattr(node.target, "__name__", "") == "setitem" else identifier(node.name) + " = "
            lines.append(indent + name + call_text(node))
        elif node.op == "get_attr":
            held = attribute(module, node.target)
            if isinstance(held, torch.fx.GraphModule):
                lines += function_of(held, identifier(node.name), indent, values)
            elif isinstance(held, torch.Tensor):
                values[identifier(node.name)] = held
            else:
                raise Unprintable("an attribute of type %s" % type(held).__name__)
        elif node.op == "call_module":
            raise Unprintable("a call of a module")
        elif node.op == "output":
            results = node.args[0]
    lines.append("%sreturn %s" % (indent, literal(results)))
    return lines


def attribute(module, path):
    for part in path.split("."):
        module = getattr(module, part)
    return module


def placeholders(module):
    return [n for n in module.graph.nodes if n.op == "placeholder"]


def function_of(module, name, indent, values):
    names = [identifier(n.name) for n in placeholders(module)]
    return ["%sdef %s(%s):" % (indent, name, ", ".join(names))] + body_of(module, indent + "    ", values)


def tensor_text(tensor, name, stored):
    """An expression that makes this tensor: written out where it is small, else kept in `stored` under its name."""
    import torch

    ending = ".requires_grad_()" if tensor.requires_grad and tensor.is_floating_point() else ""
    value = tensor.detach()
    kind = "" if value.dtype in (torch.float32, torch.int64, torch.bool) else ", dtype=%s" % value.dtype
    place = "" if value.device.type == "cpu" else ', device="%s"' % value.device.type
    plain = value.is_contiguous() and value.layout == torch.strided
    if plain and 0 < value.numel() <= MOST_ELEMENTS and type(value) in (torch.Tensor, torch.nn.Parameter):
        text = re.sub(r"\b(inf|nan)\b", r'float("\1")', str(value.cpu().tolist()))
        return "torch.tensor(%s%s%s)%s" % (text, kind or (", dtype=torch.float32" if value.dtype == torch.float32 else ""), place, ending)
    if value.numel() * value.element_size() > MOST_STORED:
        return next(makers(tuple(value.shape), tuple(value.stride()), str(value.dtype), value.device.type)) + ending
    stored[name] = value
    about = (name, tuple(value.shape), tuple(value.stride()), str(value.dtype), value.device.type)
    return "KERF_VALUES[%s]()%s" % (", ".join(map(repr, about)), ending)


def program_of(module, inputs, settings, stored):
    """The program's text. `inputs`: of one call; `settings`: {"KWARGS": {...}, "CONFIG": {...}, "BACKWARD": bool};
    `stored`: takes the tensors that are too large to write out."""
    values = {}
    lines = function_of(module, "f", "", values)
    names = [identifier(n.name) for n in placeholders(module)]
    arguments = dict(zip(names, inputs))
    if values:  # constants become arguments, too
        lines[0] = "def f(%s):" % ", ".join(names + list(values))
        arguments.update(values)
    text = ["import torch", ""]
    if any("math." in line for line in lines):
        text.insert(1, "import math")
    for name, value in settings.items():
        if value or name == "FP64":
            text.append("%s = %r" % (name, value))
    text += ["", ""] + lines + ["", "", "def build():", "    torch.manual_seed(0)"]
    for name, value in arguments.items():
        text.append("    %s = %s" % (name, input_text(value, name, stored)))
    text.append("    return f, (%s)" % "".join(name + ", " for name in arguments))
    return "\n".join(text) + "\n"


def input_text(value, name, stored):
    import torch

    if isinstance(value, torch.Tensor):
        return tensor_text(value, name, stored)
    if isinstance(value, (bool, int, float, str, type(None))):
        return literal(value)
    raise Unprintable("an input of type %s" % type(value).__name__)
