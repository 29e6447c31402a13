"""Moves for long functions that only assign: they leave out halves at once, which statement by statement takes too long."""
import ast
import copy

LONG = 10  # statements from which on it is worth while
ASSERTS = ("_assert_scalar", "_assert_async", "_check", "_assert_tensor_metadata")


def main_function(tree):
    """The function that build() returns, if it only assigns names, or None."""
    build = next((s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "build"), None)
    for node in ast.walk(build) if build else ():
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and isinstance(node.value.elts[0], ast.Name):
            name = node.value.elts[0].id
            return next((s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name), None)
    return None


def names_used(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def changes_something(statement):
    """A method that ends in _, an assignment to a part, or an assertion: it counts though nobody uses its result."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name.endswith("_") or name.startswith("__i") or name == "__setitem__" or name in ASSERTS:
                return True
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Attribute) and node.func.value.attr in ASSERTS:
                return True
    return not (isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets)) and not isinstance(
        statement, ast.FunctionDef)


def is_assert(statement):
    return any(word in ast.unparse(statement) for word in ASSERTS) and not isinstance(statement, ast.FunctionDef)


def swept(function, keep=changes_something):
    """Without statements of whose result nothing is used."""
    needed, body = set(), []
    for statement in reversed(function.body):
        given = {t.id for t in getattr(statement, "targets", []) if isinstance(t, ast.Name)} | {getattr(statement, "name", "")}
        if isinstance(statement, ast.Return) or keep(statement) or given & needed:
            body.insert(0, statement)
            needed |= names_used(statement)
    function.body = body


def unused(tree):
    """Without assertions of sizes, and without what nothing uses."""
    for keep in (lambda s: changes_something(s) and not is_assert(s), changes_something, lambda s: False):
        made = copy.deepcopy(tree)
        function = main_function(made)
        if function is not None:
            before = len(function.body)
            function.body = [s for s in function.body if not is_assert(s) or keep(s)]
            swept(function, keep)
            if len(function.body) < before:
                yield made


def unused_arguments(tree):
    """Without all arguments that the function does not use, and without what build() makes of nobody's."""
    made = copy.deepcopy(tree)
    function = main_function(made)
    build = next((s for s in made.body if isinstance(s, ast.FunctionDef) and s.name == "build"), None)
    if function is None or build is None:
        return
    given = [n.value.elts[1] for n in ast.walk(build) if isinstance(n, ast.Return)][0]
    used = {name for statement in function.body for name in names_used(statement)}
    kept = [at for at, arg in enumerate(function.args.args) if arg.arg in used]
    if not isinstance(given, ast.Tuple) or len(given.elts) != len(function.args.args) or len(kept) == len(given.elts):
        return
    function.args.args = [function.args.args[at] for at in kept]
    given.elts = [given.elts[at] for at in kept]
    swept(build)
    yield made


def halves(count):
    """Places from the middle outwards: 1/2, then quarters, eighths."""
    seen, width = set(), count // 2
    while width >= 1:
        for at in range(width, count, width):
            if at not in seen:
                seen.add(at)
                yield at
        width //= 2


def earlier_results(tree):
    """Returns a value from the middle, without what comes after it."""
    function = main_function(tree)
    if function is None or len(function.body) < LONG:
        return
    for at in halves(len(function.body)):
        statement = function.body[at]
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            made = copy.deepcopy(tree)
            target = main_function(made)
            target.body = target.body[:at + 1] + [ast.Return(ast.Tuple([ast.Name(statement.targets[0].id, ast.Load())], ast.Load()))]
            swept(target)
            yield made


def later_starts(tree, about):
    """Makes a value from the middle an argument, without what only it needed. `about`: texts that make such values."""
    function = main_function(tree)
    if function is None or len(function.body) < LONG:
        return
    for at in halves(len(function.body)):
        statement = function.body[at]
        name = getattr(statement.targets[0], "id", "") if isinstance(statement, ast.Assign) else ""
        if name not in about:
            continue
        made = copy.deepcopy(tree)
        target = main_function(made)
        del target.body[at]
        target.args.args.append(ast.arg(name))
        build = next(s for s in made.body if isinstance(s, ast.FunctionDef) and s.name == "build")
        given = next(n.value.elts[1] for n in ast.walk(build) if isinstance(n, ast.Return))
        if not isinstance(given, ast.Tuple):
            return
        given.elts.append(ast.parse(about[name], mode="eval").body)
        swept(target)
        yield made
