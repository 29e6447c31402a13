"""Ways to make a program smaller: each yields changed copies of its syntax tree. What is yielded need not work."""
import ast
import builtins
import copy


def size_of(tree):
    return sum(1 for _ in ast.walk(tree))


def bound_names(tree):
    """All names that the program gives something to, anywhere in it."""
    found = set(dir(builtins)) | {"KERF_VALUES", "__file__", "__name__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found


def scopes(node, outer):
    """Whether every name in functions is one of theirs, or of those around them."""
    own = set(outer)
    for child in ast.walk(node):
        if isinstance(child, ast.arg):
            own.add(child.arg)
        elif isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
            own.add(child.id)
        elif isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            own.add(child.name)
    return all(n.id in own for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def is_plausible(tree):
    """Not where a name is used that nothing is given to, or where build() returns nothing: such a program cannot run."""
    everything = bound_names(tree)
    if any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id not in everything for n in ast.walk(tree)):
        return False
    shallow = ast.Module([s for s in tree.body if not isinstance(s, (ast.FunctionDef, ast.ClassDef))], [])
    outer = bound_names(shallow) | {s.name for s in tree.body if isinstance(s, (ast.FunctionDef, ast.ClassDef))}
    functions = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    if not all(scopes(f, outer) for f in functions):
        return False
    return all(any(isinstance(n, ast.Return) and n.value for n in ast.walk(f)) for f in functions if f.name == "build")


def bodies_in(tree):
    """Every list of statements, the outer ones first."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                yield node, name


def is_needed(statement):
    """build() is what a program is known by."""
    return isinstance(statement, ast.FunctionDef) and statement.name == "build"


def places_of_statements(tree):
    return [(number, name, at) for number, (node, name) in enumerate(bodies_in(tree))
            for at, statement in enumerate(getattr(node, name)) if not is_needed(statement)]


def without_statements(tree, places):
    made = copy.deepcopy(tree)
    lists = list(bodies_in(made))
    for number, name, at in sorted(places, reverse=True):
        node, _ = lists[number]
        body = getattr(node, name)
        if at < len(body):
            del body[at]
            if not body and name == "body" and not isinstance(node, ast.Module):
                body.append(ast.Pass())
    return made


def chunks_of_statements(tree):
    """Removes statements: half of them, then quarters, down to each alone."""
    places = places_of_statements(tree)
    width = max(1, len(places) // 2)
    while True:
        for at in range(0, len(places), width):
            chosen = places[at:at + width]
            if not all(isinstance(s, ast.Pass) for s in statements_at(tree, chosen)):
                yield without_statements(tree, chosen)
        if width == 1:
            return
        width //= 2


def statements_at(tree, places):
    lists = list(bodies_in(tree))
    return [getattr(lists[number][0], name)[at] for number, name, at in places]


def assigned_calls(tree):
    """(function, position, name, call) of `name = call(...)` on the top level of functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for at, statement in enumerate(function.body):
                if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
                    yield function, at, statement.targets[0].id, statement.value


class Renamed(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit_Name(self, node):
        return copy.deepcopy(self.new) if node.id == self.old and isinstance(node.ctx, ast.Load) else node


def bypasses(tree):
    """Leaves out `v = f(a, b)`, and uses a or b where v was."""
    for number, (function, at, name, value) in enumerate(assigned_calls(tree)):
        used = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
        for other in {node.id: node for node in used if node.id not in ("torch", name)}.values():
            made = copy.deepcopy(tree)
            target, place, _, _ = list(assigned_calls(made))[number]
            rest = [Renamed(name, other).visit(s) for s in target.body[place + 1:]]
            target.body[place:] = rest
            yield made


def children_of(node):
    """Expressions that an expression is made of."""
    parts = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword):
            parts.append(child.value)
        elif isinstance(child, ast.expr):
            parts.append(child)
    return parts


def expressions_in(tree):
    """(parent, field, index or None, expression) of what stands where a value is asked for."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if field in ("targets", "target", "decorator_list", "func", "bases"):
                continue
            if isinstance(value, ast.expr) and isinstance(getattr(value, "ctx", ast.Load()), ast.Load):
                yield parent, field, None, value
            elif isinstance(value, list):
                for at, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        yield parent, field, at, item


def with_expression(tree, number, make):
    made = copy.deepcopy(tree)
    parent, field, at, value = list(expressions_in(made))[number]
    new = make(value)
    if at is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[at] = new
    return made


def parts_instead(tree):
    """A part of an expression instead of the whole: `f(x.g(), y)` becomes `x.g()` or `y`."""
    found = [(size_of(value), number) for number, (_, _, _, value) in enumerate(expressions_in(tree))]
    for _, number in sorted(found, reverse=True):
        _, _, _, value = list(expressions_in(tree))[number]
        parts = children_of(value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            parts = [value.func.value] + [p for p in parts if p is not value.func]
        for part in parts:
            if isinstance(part, ast.Name) and part.id in ("torch", "F", "nn"):
                continue
            yield with_expression(tree, number, lambda _, part=part: copy.deepcopy(part))


def fewer_elements(tree):
    """Without one keyword, argument, element, or entry of a dictionary."""
    nodes = list(ast.walk(tree))
    for number, node in enumerate(nodes):
        for field in ("keywords", "args", "elts", "keys", "decorator_list"):
            items = getattr(node, field, None)
            if not isinstance(items, list):
                continue
            for at in reversed(range(len(items))):
                made = copy.deepcopy(tree)
                target = list(ast.walk(made))[number]
                del getattr(target, field)[at]
                if field == "keys":
                    del target.values[at]
                yield made


def fewer_arguments(tree):
    """Without one parameter of a function of the program and what is passed for it, by build() too."""
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name != "build"}
    for name, function in functions.items():
        offset = 1 if function.args.args and function.args.args[0].arg == "self" else 0
        for at in reversed(range(offset, len(function.args.args))):
            yield without_argument(tree, name, at, offset)


def without_argument(tree, name, at, offset):
    made = copy.deepcopy(tree)
    for node in ast.walk(made):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            del node.args.args[at]
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == name:
            if len(node.args) > at - offset:
                del node.args[at - offset]
        if isinstance(node, ast.FunctionDef) and node.name in ("build", "calls"):
            for value in returned_arguments(node):
                if len(value.elts) > at - offset:
                    del value.elts[at - offset]
    return made


def returned_arguments(function):
    """The tuples of arguments that build() returns and calls() yields."""
    for node in ast.walk(function):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Return) and isinstance(value, ast.Tuple) and len(value.elts) == 2:
            if isinstance(value.elts[1], ast.Tuple):
                yield value.elts[1]
        if isinstance(node, ast.Yield) and isinstance(value, ast.Tuple):
            yield value


def unwrapped(tree):
    """The body of an `if`, `with`, `for` or `try` instead of it."""
    for number, (node, name) in enumerate(list(bodies_in(tree))):
        for at, statement in enumerate(getattr(node, name)):
            for inner in ("body", "orelse"):
                if isinstance(statement, (ast.If, ast.With, ast.For, ast.Try)) and getattr(statement, inner, None):
                    made = copy.deepcopy(tree)
                    target, field = list(bodies_in(made))[number]
                    body = getattr(target, field)
                    body[at:at + 1] = getattr(body[at], inner)
                    yield made


def inlined(tree):
    """`v = e; ... v` becomes `... e`, where v is used once."""
    for number, (function, at, name, value) in enumerate(assigned_calls(tree)):
        uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        if len(uses) == 1:
            made = copy.deepcopy(tree)
            target, place, _, expression = list(assigned_calls(made))[number]
            target.body[place:] = [Renamed(name, expression).visit(s) for s in target.body[place + 1:]]
            yield made


def smaller_numbers(tree):
    """Smaller sizes and plainer numbers."""
    for number, (_, _, _, value) in enumerate(expressions_in(tree)):
        if isinstance(value, ast.Constant) and type(value.value) is int and value.value > 2:
            for other in (1, 2, value.value // 2):
                yield with_expression(tree, number, lambda _, other=other: ast.Constant(other))


MOVES = [chunks_of_statements, bypasses, parts_instead, unwrapped, fewer_arguments, fewer_elements, inlined]
FINISH = [smaller_numbers]
