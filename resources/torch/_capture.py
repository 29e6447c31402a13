"""What `kerf capture` changes of a program: which function is compiled, and how torch.compile is asked."""

import ast

#: In place of what torch.compile is given: backend, dynamic, nopython.
overrides = {}
#: The name of a function, class or method of the program ("Model.forward") that is compiled.
target = None
#: Whether the target was there.
found = False


def overridden(settings):
    """Settings of torch.compile with the command's own in their place."""
    return {**settings, **overrides}


def compile_target(fn):
    """The decorator that the target gets."""
    import torch

    return torch.compile(fn)


class _Decorate(ast.NodeTransformer):
    def __init__(self, path):
        self.path = path

    def _visit(self, node):
        if node.name != self.path[0]:
            return node
        if len(self.path) > 1:
            inner = _Decorate(self.path[1:])
            node.body = [inner.visit(item) if isinstance(item, _DEFINITIONS) else item for item in node.body]
            return node
        global found
        found = True
        text = "__import__('torch._capture')._capture.compile_target"
        decorator = ast.parse(text, mode="eval").body
        for part in ast.walk(decorator):
            ast.copy_location(part, node)
        node.decorator_list.append(decorator)
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def code_of(text, name):
    """The program's code with its target under torch.compile."""
    tree = ast.parse(text, name)
    if target:
        tree = ast.fix_missing_locations(_Decorate(target.split(".")).visit(tree))
        if not found:
            raise NameError(f"{name} defines no function or class {target!r}")
    return compile(tree, name, "exec")
