#!/usr/bin/env python3
"""A second model of how PyTorch binds calls, beside Kerf's binder: parser_model.py TABLE FORMS BOUND

TABLE is resources/python/call_forms.txt, FORMS the forms of make_forms.py, BOUND what `kerf_call_forms bind` said of them. The
model was written from the rules of PyTorch's argument parser and of Python's own calls, without a look at the binder: it
knows types of arguments only by the text of the form and the recorded tensors. Prints each form that the two bind in
different ways, and exits with 1 where there is one.
"""
import ast
import json
import re
import sys

NUMPY = {"dim": ["axis"], "keepdim": ["keepdims"], "input": ["x", "a", "x1"], "other": ["x2"]}
NUMBERS_AS_TENSORS = {"add", "add_", "add_out", "div", "div_", "div_out", "divide", "divide_", "divide_out", "mul", "mul_",
                      "mul_out", "multiply", "multiply_", "multiply_out", "sub", "sub_", "sub_out", "subtract", "subtract_",
                      "subtract_out", "true_divide", "true_divide_", "true_divide_out", "to", "_to_copy", "copy_", "copy",
                      "floor_divide", "floor_divide_", "floor_divide_out", "_conj"}
CALLED_BY = {"Tensor": "Tensor.", "torch": "torch."}


class Parameter:
    def __init__(self, text, keyword):
        left, equals, default = text.partition("=")
        kind, _, name = left.rpartition(" ")
        self.stars = len(name) - len(name.lstrip("*"))
        self.name, self.kind, self.keyword = name.lstrip("*"), kind, keyword
        self.optional = bool(equals)
        self.none = kind.endswith("?") or default == "None"
        kind = kind.rstrip("?")
        self.list = "[" in kind
        self.single = bool(re.search(r"\[\d+\]", kind))
        self.base = kind.split("[")[0].rstrip("?")


def top_level(text, separator=","):
    parts, depth, quote, start = [], 0, None, 0
    for at, c in enumerate(text):
        if quote:
            quote = None if c == quote else quote
            continue
        if c in "'\"":
            quote = c
        depth += c in "([{"
        depth -= c in ")]}"
        if c == separator and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return [p for p in parts if p]


class Form:
    def __init__(self, text):
        self.text, self.parameters, keyword = text, [], False
        for part in top_level(text[1:-1]):
            if part == "*":
                keyword = True
                continue
            parameter = Parameter(part, keyword)
            keyword = keyword or parameter.stars == 1
            self.parameters.append(parameter)
        self.positional = [p for p in self.parameters if not p.keyword and not p.stars]


class Callable:
    def __init__(self, line):
        self.name, _, rest = line.partition(" ")
        head = rest.split(" ", 1)[0]
        self.python = head == "="
        self.aten = "" if self.python else head
        self.forms, depth, quote = [], 0, None
        for at, c in enumerate(rest):
            if quote:
                quote = None if c == quote else quote
                continue
            if c in "'\"":
                quote = c
            if c == "(":
                start = at if depth == 0 else start
                depth += 1
            if c == ")":
                depth -= 1
                if depth == 0:
                    self.forms.append(Form(rest[start:at + 1]))


class Tensor:
    def __init__(self, row):
        self.dtype, self.sizes = row["t"], row["s"]
        self.count = 1
        for size in self.sizes:
            self.count *= size

    def is_integral(self, with_bool):
        return self.dtype.startswith(("int", "uint")) or (with_bool and self.dtype == "bool")


class Named:
    """torch.float64 and the like."""
    def __init__(self, name):
        self.name = name

    def is_dtype(self):
        return re.match(r"torch\.(float|int|uint|bool|complex|bfloat|half|double|long)", self.name)


def value_of(node, tensors):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return Tensor(tensors[node.id])
    if isinstance(node, ast.UnaryOp):
        value = value_of(node.operand, tensors)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, (ast.List, ast.Tuple)):
        items = [value_of(item, tensors) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    return Named(ast.unparse(node))


def is_long(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_index(value):
    """What has __index__, and may stand first in a list of sizes."""
    if isinstance(value, Tensor):
        return value.count == 1 and value.is_integral(True)
    return is_long(value)


def is_scalar(value):
    return isinstance(value, (bool, int, float, complex))


def holds_number(value):
    return isinstance(value, Tensor) and not value.sizes


def is_int_list(value, single):
    if isinstance(value, (list, tuple)):
        return not value or is_index(value[0])
    return single and is_long(value)


def accepts(p, value, numbers_as_tensors):
    if p.base == "Any":
        return True
    if p.list:
        return accepts_list(p, value)
    if p.base == "Tensor":
        return isinstance(value, Tensor) or (numbers_as_tensors and is_scalar(value))
    if p.base == "Scalar":
        return is_scalar(value) or holds_number(value)
    if p.base == "complex":
        return is_scalar(value) or holds_number(value)
    if p.base == "float":
        return (is_scalar(value) and not isinstance(value, complex)) or holds_number(value)
    if p.base == "int":
        return is_long(value) or (holds_number(value) and value.is_integral(False))
    if p.base == "bool":
        return isinstance(value, bool)
    if p.base == "str":
        return isinstance(value, str)
    if p.base == "Dimname":
        return value is None or isinstance(value, str)
    if p.base == "ScalarType":
        return isinstance(value, Named) and bool(value.is_dtype())
    if p.base == "Layout":
        return isinstance(value, Named) and value.name in ("torch.strided", "torch.sparse_coo")
    if p.base == "MemoryFormat":
        return isinstance(value, Named) and value.name.endswith(("_format", "channels_last", "channels_last_3d"))
    if p.base == "Device":
        return isinstance(value, str) or is_long(value)
    return False


def accepts_list(p, value):
    many = isinstance(value, (list, tuple))
    if p.base == "int":
        return is_int_list(value, p.single)
    if p.base == "Tensor":
        return many and all(isinstance(item, Tensor) or item is None for item in value)
    if p.base == "float":
        return (many and (not value or isinstance(value[0], (float, int, complex)))) or (
            p.single and isinstance(value, float))
    if p.base == "Scalar":
        return many and (not value or is_scalar(value[0]))
    if p.base == "bool":
        return (many and (not value or isinstance(value[0], bool))) or (p.single and isinstance(value, bool))
    if p.base == "Dimname":
        return (many and all(isinstance(item, str) or item is None for item in value[:1])) or (
            p.single and isinstance(value, str))
    return False


def parse(callable_, form, args, kwargs):
    """The parser on one form: its slots, or None."""
    names = [name for name, _ in kwargs]
    spreads = len(form.positional) == 1 and form.positional[0].list and form.positional[0].base == "int"
    if len(args) > len(form.positional) and not spreads:
        return None
    numbers = callable_.aten in NUMBERS_AS_TENSORS
    slots, at, left = [], 0, len(kwargs)
    for p in form.parameters:
        given, slot, by_keyword = None, "-", False
        if at < len(args):
            if p.keyword:
                return None
            given, slot = (args[at],), f"P{at}"
        else:
            for name in [p.name] + NUMPY.get(p.name, []):
                if name in names:
                    given, slot, by_keyword = (kwargs[names.index(name)][1],), f"K{names.index(name)}", True
                    break
        if given is None:
            if not p.optional:
                return None
            slots.append("-")
            continue
        if not (given[0] is None and p.none) and not accepts(p, given[0], numbers):
            if by_keyword or at > 0 or not spreads or not is_int_list(tuple(args), p.single):
                return None
            slots.append("R0")
            at = len(args)
            continue
        slots.append(slot)
        left -= by_keyword
        at += not by_keyword
    return slots if left == 0 and at >= len(args) else None


def python_call(form, args, kwargs):
    """Python's own binding: any value fits."""
    names, slots, at, used = [name for name, _ in kwargs], [], 0, 0
    for p in form.parameters:
        if p.stars == 2:
            used = len(names)
            slots.append("-")
        elif p.stars == 1:
            slots.append(f"R{min(at, len(args))}")
            at = len(args)
        elif at < len(args) and not p.keyword:
            if p.name in names:
                return None
            slots.append(f"P{at}")
            at += 1
        elif p.name in names:
            slots.append(f"K{names.index(p.name)}")
            used += 1
        elif p.optional:
            slots.append("-")
        else:
            return None
    return slots if at == len(args) and used == len(names) else None


def bind(callable_, args, kwargs):
    for form in callable_.forms:
        slots = (python_call if callable_.python else lambda f, a, k: parse(callable_, f, a, k))(form, args, kwargs)
        if slots is not None:
            return {"form": form.text, "slots": slots}
    return {"refused": ""}


def call_of(text, tensors):
    """Name in the table, arguments and keywords; None for what is no call of a function."""
    node = None if text.startswith("SET ") else ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    name = ast.unparse(node.func)
    if isinstance(node.func.value, ast.Name) and node.func.value.id in tensors:
        name = "Tensor." + node.func.attr
    return (name, [value_of(a, tensors) for a in node.args],
            [(k.arg, value_of(k.value, tensors)) for k in node.keywords])


def main(table, forms, bound):
    callables = {}
    with open(table) as file:
        for line in file:
            if line.strip() and line[0] != "#":
                one = Callable(line.rstrip("\n"))
                callables[one.name] = one
    with open(bound) as file:
        given = {row["n"]: row for row in map(json.loads, file)}
    compared = different = 0
    with open(forms) as file:
        tensors = json.loads(next(file))["tensors"]
        for row in map(json.loads, file):
            call = call_of(row["text"], tensors)
            mine = given.get(row["n"], {})
            if call is None or call[0] not in callables or not callables[call[0]].forms:
                continue
            if "form" not in mine and "refused" not in mine:
                if "unread" in mine:
                    print(f"unread {row['text']}: {mine['unread']}")
                    different += 1
                continue
            expected = bind(callables[call[0]], call[1], call[2])
            compared += 1
            same = ("refused" in mine) if "refused" in expected else (
                mine.get("form") == expected["form"] and mine.get("slots") == expected["slots"])
            if not same:
                different += 1
                print(f"{row['n']} {row['text']}\n    model {expected}\n    kerf  "
                      f"{ {k: v for k, v in mine.items() if k != 'n'} }")
    print(f"{compared} calls compared, {different} different")
    return 1 if different or not compared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
