"""Inputs of a program made plainer: stored values and long lists become random numbers, or ones."""
import ast

from .moves import expressions_in, with_expression


def shape_of_list(node):
    """The shape of nested lists of numbers, or None."""
    if not isinstance(node, ast.List):
        return ()
    inner = [shape_of_list(item) for item in node.elts]
    if any(shape != inner[0] for shape in inner) or None in inner:
        return None
    return (len(inner),) + (inner[0] if inner else ())


def stored(node):
    """(shape, stride, dtype, device) of `KERF_VALUES[...]()`, or None."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) and getattr(node.func.value, "id", "") == "KERF_VALUES":
        name, shape, stride, dtype, device = ast.literal_eval(node.func.slice)
        return shape, stride, dtype, device
    return None


def written_out(node):
    """The same of `torch.tensor([...], dtype=...)` of at least two elements."""
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.tensor" and node.args):
        return None
    shape = shape_of_list(node.args[0])
    if not shape or shape == (1,):
        return None
    named = {k.arg: ast.unparse(k.value) for k in node.keywords}
    numbers = [n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant)]
    plain = "torch.bool" if all(isinstance(n, bool) for n in numbers) else (
        "torch.int64" if all(isinstance(n, int) for n in numbers) else "torch.float32")
    return shape, None, named.get("dtype", plain), named.get("device", "'cpu'").strip("'\"")


def contiguous(shape):
    stride, size = [], 1
    for n in reversed(shape):
        stride.insert(0, size)
        size *= n
    return tuple(stride)


def makers(shape, stride, dtype, device):
    """Texts that make a tensor like that, the plainest last."""
    place = "" if device == "cpu" else ', device="%s"' % device
    floating = "float" in dtype or "complex" in dtype
    kind = "" if dtype == "torch.float32" else ", dtype=" + dtype
    laid = stride is not None and stride != contiguous(shape)
    size = tuple(shape)
    ending = ""
    if laid:
        span = 1 + sum((n - 1) * s for n, s in zip(shape, stride))
        size, ending = (span,), ".as_strided(%r, %r)" % (tuple(shape), tuple(stride))
    args = ", ".join(map(str, size)) or "()"
    if floating:
        yield "torch.randn(%s%s%s)%s" % (args, kind, place, ending)
        yield "torch.rand(%s%s%s)%s" % (args, kind, place, ending)
    elif dtype == "torch.bool":
        yield "(torch.rand(%s%s) < 0.5)%s" % (args, place, ending)
    else:
        yield "torch.randint(0, 8, (%s,)%s%s)%s" % (args, kind, place, ending)
    yield "torch.ones(%s%s%s)%s" % (args, kind, place, ending)


def plainer(tree):
    """One input made plainer at a time, and all together first."""
    found = []
    for number, (_, _, _, value) in enumerate(expressions_in(tree)):
        about = stored(value) or written_out(value)
        if about:
            found.append((number, list(makers(*about))))
    if len(found) > 1:
        made = tree
        for number, texts in reversed(found):  # what comes later keeps its number
            made = with_expression(made, number, lambda _, text=texts[0]: ast.parse(text, mode="eval").body)
        yield made
    for number, texts in found:
        for text in texts:
            yield with_expression(tree, number, lambda _, text=text: ast.parse(text, mode="eval").body)


def has_stored(source):
    return "KERF_VALUES" in source
