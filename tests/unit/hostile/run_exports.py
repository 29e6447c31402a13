"""Runs exports the way their users would, with a stand-in for torch, and reads them with Python's own parser.

usage: run_exports.py FILE...   (*.py is a repro, *.code and *.txt are classes, *.pt2 a program)
Prints what is wrong, a line each, and exits 1 if anything is. Whether a payload ran is for the caller to see.
"""
import ast
import builtins
import contextlib
import io
import json
import pathlib
import pickle
import sys
import textwrap
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
import torch  # noqa: E402

STATEMENTS = (ast.Module, ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.AnnAssign,
              ast.AugAssign, ast.Expr, ast.Return, ast.Pass, ast.If, ast.With)
EXPRESSIONS = (ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Compare, ast.Call, ast.Constant,
               ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple, ast.Slice)
PARTS = (ast.arguments, ast.arg, ast.keyword, ast.alias, ast.withitem, ast.expr_context, ast.operator, ast.unaryop,
         ast.boolop, ast.cmpop)
NEVER = {"exec", "eval", "compile", "open", "__import__", "breakpoint", "input", "vars", "locals", "setattr", "delattr",
         "load", "save", "load_library", "import_module", "from_file", "hub", "system", "subprocess", "importlib",
         "get_device_module", "spawnlp", "tofile", "numpy", "remove", "unlink", "posix_spawn", "write_file", "popen", "iter",
         "map", "apply", "sys", "pathlib", "builtins"}
DUNDERS = {"__init__", "__dict__", "__name__", "__and__", "__or__", "__xor__", "__lshift__", "__rshift__",
           "__compile_source__"}
MODULES = ("torch", "math", "os", "operator", "triton")


def problems(path, tree):
    """What a file of an auditor's kind may not have, by Python's own parser."""
    for node in ast.walk(tree):
        where = f"{path}:{getattr(node, 'lineno', '?')}: "
        if not isinstance(node, STATEMENTS + EXPRESSIONS + PARTS):
            yield f"{where}a {type(node).__name__}"
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            yield from (f"{where}import {name}" for name in names if name.split(".")[0] not in MODULES)
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
        if name in NEVER:
            yield f"{where}the name {name}"
        if name and name.startswith("__") and name.rstrip("_0123456789") + "__" not in DUNDERS:
            yield f"{where}the name {name}"
        if isinstance(node, ast.Call) and not isinstance(node.func, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            yield f"{where}a call of a {type(node.func).__name__}"
        if isinstance(node, ast.Attribute) and node.attr == "os":
            yield f"{where}a module os"
        if isinstance(node, ast.keyword) and node.arg in ("key", "tracker", "context_fn") and isinstance(
                node.value, (ast.Name, ast.Attribute)):
            yield f"{where}a function as {node.arg}"
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.decorator_list:
            yield f"{where}a decorator"


def repeated(path, tree):
    """Names that a module or a class defines again: readers may take the first, Python takes the last."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef)):
            continue
        names = [inner.name for inner in node.body if isinstance(inner, (ast.ClassDef, ast.FunctionDef))]
        yield from (f"{path}: {name} is defined twice" for name in set(names) if names.count(name) > 1)
        yield from (f"{path}: {name} is one of Python's names" for name in names if name in dir(builtins))


def runPython(path, text):
    tree = ast.parse(text)
    yield from problems(path, tree)
    yield from repeated(path, tree)
    space = {"__name__": "__main__", "__file__": str(path)}
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(compile(tree, str(path), "exec"), space)
            if path.suffix != ".py":
                for value in list(space.values()):
                    if isinstance(value, type) and issubclass(value, torch.Module):
                        value().forward(*[torch.Stub()] * (value.forward.__code__.co_argcount - 1))
        except Exception:  # a stub cannot do everything: what it did until here counts
            pass


def evaluated(key, value):
    """Does what torch.export.load does with a text."""
    if key == "expr_str":
        eval(value, {"__builtins__": __builtins__}, Sympy())
    elif key == "guards_code":
        eval(value, {"L": torch.Stub()})
    elif key in ("target", "as_operator"):
        path = value.split(".")
        found = torch if path[0] == "torch" else torch.Stub()
        for part in path[1:]:
            found = getattr(found, part)
        found()
    elif key in ("in_spec", "out_spec"):
        walkSpec(json.loads(value))
    elif key == "name" and value:
        exec(f"def f(x):\n    return g({value} = x)" if value.isidentifier() else "pass")


class Sympy(dict):
    def __missing__(self, name):
        if name in dir(__builtins__):
            raise KeyError(name)
        return torch.Stub(name)


def walkSpec(value):
    if isinstance(value, dict):
        for name in ("default_factory_module", "fqn"):
            if name in value:
                __import__(str(value[name]).split(":")[0])
        for inner in value.values():
            walkSpec(inner)
    elif isinstance(value, list):
        for inner in value:
            walkSpec(inner)
    elif isinstance(value, str) and value[:1] in "[{":
        walkSpec(json.loads(value))


def walk(value, key=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            walk(inner, name)
    elif isinstance(value, list):
        for inner in value:
            walk(inner, key)
    elif isinstance(value, str):
        try:
            evaluated(key, value)
        except Exception:
            pass


def runProgram(path):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith(".json"):
                walk(json.loads(data))
            elif data.startswith(b"PK\x03\x04"):
                with zipfile.ZipFile(io.BytesIO(data)) as inner:
                    for member in inner.namelist():
                        if member.endswith(".pkl"):
                            with contextlib.suppress(Exception):
                                pickle.loads(inner.read(member))
            elif data.startswith(b"\x80"):
                with contextlib.suppress(Exception):
                    pickle.loads(data)
    return ()


def main():
    wrong = []
    for path in map(pathlib.Path, sys.argv[1:]):
        if path.suffix == ".pt2":
            wrong += runProgram(path)
            continue
        text = path.read_bytes().decode("utf-8")
        if path.suffix == ".code":
            text = "import torch\nclass GraphModule(torch.nn.Module):\n" + text
        if path.suffix == ".txt":
            text = "import torch\n" + textwrap.dedent(text)
        try:
            wrong += runPython(path, text)
        except SyntaxError as error:
            wrong.append(f"{path}: {error}")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
