#!/usr/bin/env python3
"""Writes resources/python/call_forms.txt: in which forms PyTorch's Python functions may be called.

make_call_forms.py SIGNATURES STUBS OUTPUT

SIGNATURES is a JSON recording of one PyTorch: per namespace and callable the text of inspect.signature() (functions
written in Python) and the messages of two calls with wrong arguments (functions of the argument parser, which lists its
overloads in the order in which it tries them). STUBS is the folder with the _VariableFunctions.pyi and __init__.pyi of
the same PyTorch, which tell where a single int or None may stand.

A line of the output is one callable: its name, then for functions of the argument parser the name of the ATen op and the
forms in their order, and for functions written in Python "=" and the one form.
"""
import ast
import json
import re
import sys

NAMESPACES = {"torch": "torch", "nn.functional": "torch.nn.functional", "special": "torch.special",
              "linalg": "torch.linalg", "fft": "torch.fft", "nn.init": "torch.nn.init", "_C._nn": "torch._C._nn",
              "signal.windows": "torch.signal.windows",
              "Tensor": "Tensor"}

# The parser's words for types, as schemas write them.
TYPES = {"Tensor": "Tensor", "Number": "Scalar", "int": "int", "float": "float", "complex": "complex", "bool": "bool",
         "str": "str", "name": "Dimname", "tuple of names": "Dimname[]", "tuple of ints": "int[]",
         "tuple of floats": "float[]", "tuple of Tensors": "Tensor[]", "tuple of Scalars": "Scalar[]",
         "torch.dtype": "ScalarType", "torch.layout": "Layout", "torch.device": "Device", "Storage": "Any",
         "torch.memory_format": "MemoryFormat", "torch.Generator": "Generator", "torch.qscheme": "Any",
         "torch.Storage": "Any", "object": "Any", "Stream": "Any", "Any": "Any", "List[Tensor?]": "Tensor?[]"}

# Functions that inspect sees as (*args, **kwargs): one of two functions is called after the value of a flag.
DISPATCHED = {
    "fractional_max_pool2d": "input, kernel_size, output_size=None, output_ratio=None, return_indices=False, "
                             "_random_samples=None",
    "fractional_max_pool3d": "input, kernel_size, output_size=None, output_ratio=None, return_indices=False, "
                             "_random_samples=None",
    "adaptive_max_pool1d": "input, output_size, return_indices=False",
    "adaptive_max_pool2d": "input, output_size, return_indices=False",
    "adaptive_max_pool3d": "input, output_size, return_indices=False",
}
for _dims in "123":
    DISPATCHED[f"max_pool{_dims}d"] = ("input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, "
                                       "return_indices=False")
DISPATCHED["torch.lu"] = "A, pivot=True, get_infos=False, out=None"
for _name in ("unique", "unique_consecutive"):
    DISPATCHED["torch." + _name] = (
        "input, sorted=True, return_inverse=False, return_counts=False, dim=None" if _name == "unique" else
        "input, return_inverse=False, return_counts=False, dim=None")


class Parameter:
    def __init__(self, name, kind, default=None, keyword=False, star=""):
        if name == "reduction" and kind == "int" and default is not None:
            default = "0"  # the stubs say 1; the parser reads "at::Reduction::Mean" as a number, which it is not
        self.name, self.kind, self.default, self.keyword, self.star = name, kind, default, keyword, star

    def text(self):
        typed = f"{self.kind} {self.star}{self.name}" if self.kind else self.star + self.name
        return typed if self.default is None else f"{typed}={self.default}"


def form_text(parameters):
    parts, keyword = [], False
    for parameter in parameters:
        if parameter.keyword and not keyword and parameter.star != "**":
            keyword = True
            if not any(p.star == "*" for p in parameters):
                parts.append("*")
        parts.append(parameter.text())
    return "(" + ", ".join(parts) + ")"


def split_top(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def listed_form(line):
    """One line of "expected one of"."""
    parameters, keyword = [], False
    for part in split_top(line.strip()[1:-1]):
        if part == "*":
            keyword = True
            continue
        left, _, default = part.partition(" = ")
        kind, name = left.rsplit(" ", 1)
        if kind.endswith("?"):
            kind = kind[:-1]
        parameters.append(Parameter(name, TYPES[kind], default or None, keyword))
    return parameters


def listed_forms(errors):
    for error in errors:
        if "expected one of" in error:
            return [listed_form(l.strip()[2:]) for l in error.split("\n") if l.strip().startswith("* (")]
        single = re.search(r"but expected (\(.*\))", error)
        if single:
            return [listed_form(single.group(1))]
    return None


def deprecated_methods(functions):
    """The same of methods: their stubs do not show them."""
    return [[p for p in form if p.name not in ("input", "out")] for form in deprecated_forms(functions, True)]


def deprecated_forms(stubs, is_function):
    """Numbers before tensors, as in addmm(beta, input, mat1, mat2): the parser takes them and does not list them."""
    found = []
    for stub in stubs:
        names = [p.name for p in stub if p.kind == "Scalar" and p.default is None and not p.keyword]
        if not set(names) & {"alpha", "beta", "value"} or any(p.name == "out" for p in stub):
            continue
        if stub[-1].name == "value":  # fill(input, value): the plain form
            continue
        form = [Parameter("input" if is_function and p.name == "self" else p.name, p.kind, p.default, p.keyword)
                for p in stub]
        found.append(form + [Parameter("out", "Tensor?", "None", True)] if is_function else form)
    return found


def stub_type(annotation):
    """The type of a stub's annotation, as schemas write it."""
    parts = {p.strip() for p in split_union(annotation)}
    optional = "?" if "None" in parts else ""
    parts -= {"None"}
    joined = " | ".join(sorted(parts))
    if "_size" in parts or any(p.startswith("Sequence[_int") or p.startswith("Sequence[int") for p in parts):
        return ("int[1]" if parts & {"_int", "int"} else "int[]") + optional
    if any(p.startswith("Sequence[str") or p.startswith("Sequence[str | Ell") for p in parts):
        return "Dimname[]" + optional
    if any(p.startswith(("tuple[Tensor", "list[Tensor")) for p in parts):
        return ("Tensor?[]" if "None" in joined else "Tensor[]") + optional
    if any(p.startswith("Sequence[_float") for p in parts):
        return ("float[1]" if "_float" in parts else "float[]") + optional
    if any(p.startswith(("Sequence[Number", "Sequence[_complex", "Sequence[Number | _complex")) for p in parts):
        return "Scalar[]" + optional
    for known, kind in (("Tensor", "Tensor"), ("Number", "Scalar"), ("_float", "float"), ("_int", "int"),
                        ("SymInt", "int"), ("_bool", "bool"), ("str", "str"), ("_dtype", "ScalarType"),
                        ("_layout", "Layout"), ("DeviceLikeType", "Device"), ("_device", "Device"),
                        ("memory_format", "MemoryFormat"), ("torch.memory_format", "MemoryFormat"),
                        ("Generator", "Generator"), ("_complex", "complex"), ("_qscheme", "Any"), ("Storage", "Any")):
        if known in parts:
            return kind + optional
    return "Any" + optional


def split_union(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "(["
        depth -= c in ")]"
        if c == "|" and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def stub_forms(definition):
    arguments = definition.args
    found = []
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)

    def add(argument, default, keyword, star=""):
        kind = stub_type(ast.unparse(argument.annotation)) if argument.annotation else ""
        text = None if default is None else ast.unparse(default)
        found.append(Parameter(argument.arg, kind, text, keyword, star))

    for argument, default in zip(positional, defaults):
        add(argument, default, False)
    if arguments.vararg:
        add(arguments.vararg, None, False, "*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        add(argument, default, True)
    return found


def read_stubs(path, class_name=None):
    """Forms by name; the method's self is left out."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    body = tree.body
    if class_name:
        body = next(n for n in body if isinstance(n, ast.ClassDef) and n.name == class_name).body
    forms = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            form = stub_forms(node)
            forms.setdefault(node.name, []).append(form[1:] if class_name else form)
    return forms


def refine(form, stubs):
    """Takes from the stub of the same parameters where a single int or None may stand."""
    names = [p.name for p in form]
    for stub in stubs:
        if [p.name for p in stub] != names:
            continue
        if any(base(p.kind) != base(q.kind) for p, q in zip(form, stub)):
            continue
        for p, q in zip(form, stub):
            if p.kind.split("[")[0].rstrip("?") == q.kind.split("[")[0].rstrip("?"):
                p.kind = q.kind
        return


def base(kind):
    return kind.replace("?", "").replace("[1]", "[]")


def without_variadic(forms):
    """A stub lists view(*size) beside view(size)."""
    plain = [f for f in forms if not any(p.star for p in f)]
    if plain:
        return plain
    for form in forms:
        for p in form:
            if p.star == "*" and p.kind == "int":
                p.kind, p.star = "int[]", ""
    return forms


def aten_name(name, errors):
    for error in errors:
        match = re.match(r"(\w+)\(\)", error)
        if match:
            return match.group(1)
    return name


def python_form(text):
    """The text of inspect.signature() without annotations."""
    text = re.sub(r"<[^<>]*>", "None", text)
    text = re.sub(r"~\w+", "None", text)
    text = re.sub(r"<[^<>]*>", "None", text)
    definition = ast.parse(f"def f{text}: ...").body[0]
    arguments = definition.args
    found = []
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for a, d in zip(positional, defaults):
        found.append(Parameter(a.arg, "", None if d is None else ast.unparse(d)))
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, "", None, False, "*"))
    for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found.append(Parameter(a.arg, "", None if d is None else ast.unparse(d), True))
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, "", None, True, "**"))
    return found


def line_of(namespace, name, facts, stubs, functions):
    full = f"{NAMESPACES[namespace]}.{name}"
    errors = facts.get("errors", [])
    if "inspect" in facts:
        if facts["type"] not in ("function", "_lru_cache_wrapper"):
            return None
        key = name if namespace == "nn.functional" else f"{namespace}.{name}"
        text = f"({DISPATCHED[key]})" if key in DISPATCHED else facts["inspect"]
        form = python_form(text)
        if namespace == "Tensor" and form and not form[0].star:
            form = form[1:]
        return f"{full} = {form_text(form)}"
    if facts["type"] not in ("builtin_function_or_method", "method_descriptor") or not errors:
        return None
    forms = listed_forms(errors)
    known = stubs.get(name, [])
    if forms is None:
        forms = without_variadic(known)
        if len(forms) > 1:
            print("several stubs, one form:", full, [form_text(f) for f in forms], file=sys.stderr)
    else:
        for form in forms:
            refine(form, known)
        if namespace == "torch":
            forms = forms + deprecated_forms(known, True)
    if namespace == "Tensor":
        forms = forms + deprecated_methods(functions.get(name, []))
    if not forms and namespace in ("torch", "Tensor"):
        return None  # settings, and what is of no graph
    return " ".join([full, aten_name(name, errors)] + [form_text(f) for f in forms])


def main():
    signatures, folder, output = sys.argv[1:4]
    with open(signatures, encoding="utf-8") as file:
        recorded = json.load(file)
    functions = read_stubs(f"{folder}/_VariableFunctions.pyi")
    methods = read_stubs(f"{folder}/__init__.pyi", "TensorBase")
    stubs = {"torch": functions, "nn.functional": functions, "Tensor": methods}
    lines = []
    for namespace in NAMESPACES:
        for name, facts in recorded[namespace].items():
            line = line_of(namespace, name, facts, stubs.get(namespace, {}), functions)
            if line:
                lines.append(line)
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(sorted(lines)) + "\n")


if __name__ == "__main__":
    main()
