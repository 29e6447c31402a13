"""A stand-in for torch that lets an attacker do whatever he asks for: exports are run with it.

Every attribute is there and may be called. Functions that would load or run something touch the file that they are
given, so that a payload shows. Nothing else has an effect.
"""
import importlib.abc
import importlib.machinery
import os  # noqa: F401  (torch.os is what hostile captures call)
import pathlib
import sys  # noqa: F401
import types

DANGEROUS = {"load", "save", "load_library", "load_libraries", "import_module", "from_file", "compile", "exec", "eval",
             "PackageImporter", "init_process_group", "numpy", "apply_", "share_memory_", "register_hook", "map_impl_",
             "__reduce_ex__", "save_as", "open", "tofile", "write_file", "Path"}
CALLING = {"checkpoint", "vmap", "_check", "lobpcg", "map_impl", "apply"}


def touch(arguments):
    """Touches every path among the arguments; the functions among them are called."""
    for argument in arguments:
        if isinstance(argument, str) and argument.startswith("/"):
            pathlib.Path(argument).touch()
        elif isinstance(argument, types.BuiltinFunctionType):
            argument("")


def callBack(arguments):
    """Calls every function among the arguments with the others, as torch's functions do that take functions."""
    others = [argument for argument in arguments if not callable(argument)]
    for argument in arguments:
        if callable(argument):
            argument(*others[:1])


class Stub:
    """A value that takes part in everything."""

    def __init__(self, name="stub"):
        self.__dict__["_name"] = name

    def __getattr__(self, name):
        if name.startswith("__") and name not in ("__reduce_ex__", "__class__", "__and__", "__or__", "__xor__"):
            raise AttributeError(name)
        return Stub(name)

    def __setattr__(self, name, value):
        self.__dict__[name] = value

    def __call__(self, *args, **kwargs):
        if self._name in DANGEROUS:
            touch([*args, *kwargs.values()])
        if self._name in CALLING:
            callBack([*args, *kwargs.values()])
        if self._name == "get_device_module":
            return sys.modules["torch"]
        return Stub()

    def __iter__(self):
        return iter([Stub(), Stub()])

    def __getitem__(self, key):
        return Stub()

    def __setitem__(self, key, value):
        pass

    def __bool__(self):
        return True

    def __len__(self):
        return 2

    def __index__(self):
        return 2

    def __int__(self):
        return 2

    def __float__(self):
        return 2.0

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

    def __hash__(self):
        return 0


def _operator(self, *others):
    return Stub()


for _name in ("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift radd rsub rmul rtruediv rfloordiv "
              "rmod rpow rmatmul rand ror rxor rlshift rrshift iadd isub imul itruediv ifloordiv imod ipow imatmul "
              "iand ior ixor neg pos invert abs eq ne lt le gt ge").split():
    setattr(Stub, f"__{_name}__", _operator)


class _Module:
    """torch.nn.Module as far as generated classes use it."""

    def register_buffer(self, name, value, persistent=True):
        self.__dict__[name] = value

    register_parameter = register_buffer

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(name)

    def __call__(self, *args):
        return self.forward(*args)


def run_repro(mod, load_args, **options):
    """Makes the inputs and runs the graph, as PyTorch does."""
    load_args(Stub("reader"))
    code = mod.forward.__code__
    count = code.co_argcount - 1
    mod(*[Stub() for _ in range(count)])


class _StubModule(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return SPECIAL.get(name) or Stub(name)


SPECIAL = {"Module": _Module, "run_repro": run_repro}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """torch.anything is a module."""

    def find_spec(self, name, path, target=None):
        if not name.startswith("torch.") and name not in ("triton", "triton.language", "sympy"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = _StubModule(spec.name)
        module.__path__ = []
        module.__all__ = ["Linear", "ReLU", "Sequential", "ModuleList"] if spec.name == "torch.nn" else []
        return module

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, _Finder())


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("nn", "fx", "utils", "_dynamo", "_inductor", "_functorch", "fft", "linalg"):
        return importlib.import_module("torch." + name)
    return SPECIAL.get(name) or Stub(name)
