"""Python code of a graph."""

import builtins
import collections
import inspect
import keyword
import math
import re
import typing

import torch

from .node import Node, _get_qualified_name, _type_repr, map_arg

magic_methods = {"eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
                 "pos": "+{}", "neg": "-{}", "invert": "~{}"}
reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "div": "{} / {}",
    "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}",
    "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}"}
magic_methods.update(reflectable_magic_methods)
inplace_methods = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}",
    "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}",
    "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}"}

#: Names that generated code may use without an import.
_CUSTOM = {"inf": math.inf, "nan": math.nan, "NoneType": type(None), "torch": torch, "device": torch.device}
_DTYPE_SHORT = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
                "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "b8", "complex64": "c64", "complex128": "c128",
                "complex32": "c32", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2"}

PythonCode = collections.namedtuple("PythonCode", "src globals")


def snake_case(text):
    """LeakyReLU → leaky_re_lu."""
    made, was_lower = [], False
    for c in text:
        made.append(f"_{c.lower()}" if was_lower and c.isupper() else c.lower())
        was_lower = c.islower()
    return "".join(made)


class Namespace:
    """Names that are taken."""

    def __init__(self):
        self._of_object, self._used, self._count = {}, set(), {}

    def create_name(self, candidate, obj):
        """A free name that looks like the candidate."""
        if obj is not None and id(obj) in self._of_object:
            return self._of_object[id(obj)][0]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = "_" + candidate
        base, number = re.fullmatch(r"(.*?)(?:_(\d+))?", candidate).groups()
        if not base or number is None:
            base, number = candidate, None
        candidate = base if number is None else f"{base}_{int(number)}"
        number = int(number or 0) or self._count.get(base, 0)
        while candidate in self._used or self._is_illegal(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._count[base] = number
        if obj is not None:
            self._of_object[id(obj)] = (candidate, obj)
        return candidate

    def associate(self, name, obj):
        """The object's name is this one from now on."""
        self._of_object[id(obj)] = (name, obj)
        self._used.add(name)

    def _is_illegal(self, name, obj):
        if keyword.iskeyword(name):
            return True
        if name in builtins.__dict__:
            return builtins.__dict__[name] is not obj
        return name in _CUSTOM and _CUSTOM[name] is not obj


def format_target(base, target):
    """`self.a.0.b` as Python can read it."""
    text = base
    for part in target.split("."):
        text = f"{text}.{part}" if part.isidentifier() and not keyword.iskeyword(part) else f'getattr({text}, "{part}")'
    return text


def _is_from_torch(obj):
    module = getattr(obj, "__module__", None)
    if module is not None:
        return module.partition(".")[0] == "torch" and obj is not torch.device
    name = getattr(obj, "__name__", None)
    return name is not None and name != "torch" and any(
        getattr(guess, name, None) is obj for guess in (torch, torch.nn.functional))


def _shape_text(value):
    """f32[2, 3] of a tensor or what stands for one."""
    dtype = getattr(value, "dtype", None)
    if dtype is None or not hasattr(value, "shape"):
        return ""
    short = _DTYPE_SHORT.get(str(dtype).partition(".")[2], str(dtype))
    return f"{short}[{', '.join(map(str, value.shape))}]"


class Writer:
    """Writes one graph."""

    def __init__(self, graph, root_module, verbose=False):
        self.graph, self.root, self.verbose = graph, root_module, verbose
        self.names = Namespace()
        self.globals, self.body, self.parameters = {}, [], []
        self.return_type = ""
        self.last_place = None

    def write(self):
        """The function's text and the names that it needs."""
        for node in self.graph.nodes:
            self.names.create_name(node.name, node)
        last_uses = self._last_uses()
        for node in self.graph.nodes:
            if self.verbose:
                self._place(node)
            getattr(self, f"_{node.op}")(node)
            self._delete(node, last_uses)
        text = "".join(self.body) or "pass\n"
        lines = "\n".join("    " + line for line in text.split("\n"))
        parameters = ", ".join(["self", *self.parameters] if self.root else self.parameters)
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in sorted(self._wrapped()))
        head = f"def forward({parameters}){self.return_type}:"
        return PythonCode(f"\n{wraps}\n\n{head}\n{lines}", self.globals)

    def _wrapped(self):
        from ._symbolic_trace import is_wrapped

        return {name for name, value in self.globals.items() if is_wrapped(value)}

    def _last_uses(self):
        seen, of = set(), collections.defaultdict(list)
        for node in reversed(self.graph.nodes):
            def register(n, node=node):
                if n not in seen:
                    seen.add(n)
                    of[node].append(n)
                return n

            map_arg(node.args, register)
            map_arg(node.kwargs, register)
        return of

    def _delete(self, node, last_uses):
        if node.op == "placeholder":
            return
        gone = [] if node.op == "output" else [*last_uses.get(node, [])]
        if node.op != "output" and not node.users:
            gone.append(node)
        self.body.append(";  " + " = ".join([*map(repr, gone), "None"]) + "\n" if gone else "\n")

    def _place(self, node):
        """A comment with the line of the program."""
        trace = node.stack_trace
        if node.op in ("placeholder", "output") or not trace or trace == self.last_place:
            return
        self.last_place = trace
        found = re.findall(r'File "(.+)", line (\d+), in (.+)\n\s*(.*)', trace.rstrip())
        if found:
            file, line, name, code = found[-1]
            self.body.append(f"\n# File: {file}:{line} in {name}, code: {code}\n")

    def _type(self, node):
        if self.verbose:
            value = node.meta.get("val", node.meta.get("example_value", node.meta.get("tensor_meta")))
            text = _shape_text(value)
            return f': "{text}"' if text else ""
        return "" if node.type is None else f" : {self._type_name(node.type)}"

    def _type_name(self, obj):
        if obj is None or obj is type(None):
            return "None"
        text = _type_repr(obj)
        module = getattr(obj, "__module__", "")
        if module not in ("builtins", "typing", "torch") and not text.startswith("torch."):
            return self.add_global(text, obj)
        if module == "typing":
            self.globals.setdefault("typing", typing)
        return text

    def add_global(self, hint, obj):
        """The name by which the text reaches an object."""
        if _is_from_torch(obj):
            self.globals["torch"] = torch
            return _get_qualified_name(obj)
        hint = hint.replace(".", "_")
        if self.globals.get(hint) is obj:
            return hint
        name = self.names.create_name(hint, obj)
        self.globals[name] = obj
        return name

    def _value(self, arg):
        if isinstance(arg, tuple):
            if hasattr(arg, "_fields"):
                name = self.add_global(type(arg).__name__, type(arg))
                return f"{name}({', '.join(map(self._value, arg))})"
            if isinstance(arg, torch.Size):
                self.globals["torch"] = torch
                return f"torch.Size([{', '.join(map(self._value, arg))}])"
            return "(" + ", ".join(map(self._value, arg)) + (",)" if len(arg) == 1 else ")")
        if isinstance(arg, list):
            return "[" + ", ".join(map(self._value, arg)) + "]"
        if isinstance(arg, dict):
            return "{" + ", ".join(f"{k!r}: {self._value(v)}" for k, v in arg.items()) + "}"
        if isinstance(arg, slice):
            return f"slice({self._value(arg.start)}, {self._value(arg.stop)}, {self._value(arg.step)})"
        if isinstance(arg, Node):
            return repr(arg)
        if callable(arg) and hasattr(arg, "__name__") and not isinstance(arg, torch.dtype):
            return self.add_global(_get_qualified_name(arg), arg)
        return self._plain(arg)

    def _plain(self, arg):
        for kind, module in ((torch.dtype, torch), (torch.layout, torch), (torch.memory_format, torch)):
            if isinstance(arg, kind):
                self.globals["torch"] = module
        if isinstance(arg, torch.device):
            self.globals["device"] = torch.device
            return repr(arg)
        if isinstance(arg, float) and not math.isfinite(arg):
            self.globals.update(inf=math.inf, nan=math.nan)
        text = repr(arg)
        # <torch._C.Generator object at 0x7f00> is no Python.
        return self._object(arg) if text.startswith("<") else text

    def _arguments(self, args, kwargs):
        return ", ".join([*map(self._value, args), *(f"{k} = {self._value(v)}" for k, v in kwargs.items())])

    def _placeholder(self, node):
        default = f" = {self._value(node.args[0])}" if node.args else ""
        self.parameters.append(f"{node.target}{self._type(node)}{default}")
        raw = node.target.replace("*", "")
        if raw != repr(node):
            self.body.append(f"{node!r} = {raw}\n")

    def _call_method(self, node):
        target = format_target(self._value(node.args[0]), node.target)
        self.body.append(f"{node!r}{self._type(node)} = {target}({self._arguments(node.args[1:], node.kwargs)})")

    def _call_function(self, node):
        name = getattr(node.target, "__name__", "")
        if getattr(node.target, "__module__", None) == "_operator" and not node.kwargs:
            if name in magic_methods:
                text = magic_methods[name].format(*map(self._value, node.args))
                self.body.append(f"{node!r}{self._type(node)} = {text}")
                return
            if name in inplace_methods:
                text = inplace_methods[name].format(*map(self._value, node.args))
                self.body.append(f"{text};  {node!r}{self._type(node)} = {self._value(node.args[0])}")
                return
        called = self._called(node.target)
        if called == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            text = format_target(self._value(node.args[0]), node.args[1])
            self.body.append(f"{node!r}{self._type(node)} = {text}")
            return
        self.body.append(f"{node!r}{self._type(node)} = {called}({self._arguments(node.args, node.kwargs)})")

    def _called(self, target):
        """How the text names a function; one that has no name of its own gets one."""
        try:
            name = _get_qualified_name(target)
        except (AttributeError, RuntimeError):
            return self._object(target)
        return self.add_global(name, target)

    def _object(self, value):
        """The name of an object that no text gives again."""
        name = self.names.create_name(snake_case(getattr(value, "__name__", type(value).__name__)), None)
        self.globals[name] = value
        return name

    def _call_module(self, node):
        target = format_target(self.root, node.target)
        self.body.append(f"{node!r}{self._type(node)} = {target}({self._arguments(node.args, node.kwargs)})")

    def _get_attr(self, node):
        self.body.append(f"{node!r}{self._type(node)} = {format_target(self.root, node.target)}")

    def _output(self, node):
        if node.type is not None:
            self.return_type = f" -> {self._type_name(node.type)}"
        self.body.append(f"return {self._value(node.args[0])}")


def signature_of(fn):
    """inspect.signature, or None."""
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        return None
