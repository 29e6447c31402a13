"""torch.library: operators that a program defines."""

import functools
import inspect

import torch
from torch import _absent, _ops


class CustomOpDef:
    """An operator made of a Python function."""

    def __init__(self, namespace, name, schema, fn, mutates_args):
        self._namespace, self._name = namespace, name
        self._schema = schema
        self._init_fn = fn
        self._mutates = mutates_args
        self._fake = None
        self._backward = self._setup = None
        self._kernels = {}
        self.__name__ = name
        functools.update_wrapper(self, fn)
        _ops.register_custom(self._qualname, self)

    @property
    def _qualname(self):
        return f"{self._namespace}::{self._name}"

    @property
    def _opoverload(self):
        return getattr(getattr(torch.ops, self._namespace), self._name).default

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args, **kwargs):
        bound = inspect.signature(self._init_fn).bind(*args, **kwargs)
        bound.apply_defaults()
        flat = tuple(bound.arguments.values())
        if self._backward is None:
            with torch.no_grad() if not self._mutates else torch.enable_grad():
                return self._run(*flat)
        return _CustomFunction.apply(self, *flat)

    def _run(self, *args):
        device = next((a.device.type for a in args if isinstance(a, torch.Tensor)), None)
        return self._kernels.get(device, self._init_fn)(*args)

    def register_fake(self, fn, /):
        """Say the shapes of the results without computing them."""
        self._fake = _ops._fakes[self._qualname] = fn
        return fn

    register_abstract = register_fake

    def register_kernel(self, device_types, fn=None, /):
        """Give the operator another function for some devices."""
        def inner(fn):
            for kind in [device_types] if isinstance(device_types, str) else device_types or ["cpu", "cuda"]:
                self._kernels[kind] = fn
            return fn

        return inner if fn is None else inner(fn)

    def register_autograd(self, backward, /, *, setup_context=None):
        """Give the operator a backward."""
        self._backward, self._setup = backward, setup_context

    def register_vmap(self, func=None):
        """Examples are computed one by one: a batching rule is not needed."""
        return (lambda f: f) if func is None else func

    def register_autocast(self, device_type, cast_inputs):
        """Only remembered."""
        self._autocast = (device_type, cast_inputs)


class _CustomFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, definition, *args):
        ctx._definition = definition
        output = definition._run(*args)
        if definition._setup is not None:
            definition._setup(ctx, args, output)
        return output

    @staticmethod
    def backward(ctx, *grads):
        made = ctx._definition._backward(ctx, *grads)
        return (None, *(made if isinstance(made, tuple) else (made,)))


def _infer(annotation):
    names = {torch.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str"}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The schema of a function with annotations."""
    parts = []
    for name, p in inspect.signature(prototype_function).parameters.items():
        kind = _infer(p.annotation)
        if mutates_args == "unknown" or name in mutates_args:
            kind += f"({chr(97 + len(parts))}!)"
        parts.append(f"{kind} {name}" + ("" if p.default is p.empty else f"={p.default}"))
    ret = inspect.signature(prototype_function).return_annotation
    result = "()" if ret is None else _infer(ret)
    return f"{op_name or ''}({', '.join(parts)}) -> {result}"


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Make a function an operator named namespace::name."""

    def inner(fn):
        namespace, _, op = name.partition("::")
        if not op:
            raise ValueError(
                f"Expected `name` to be of the form 'namespace::name', e.g. 'mylib::foo', but got {name}"
            )
        text = schema if schema is not None else infer_schema(fn, mutates_args=mutates_args)
        made = CustomOpDef(namespace, op, text, fn, tuple(mutates_args) if mutates_args != "unknown" else ("unknown",))
        if device_types is not None:
            made.register_kernel(device_types, fn)
        return made

    return inner if fn is None else inner(fn)


triton_op = custom_op
_libraries = {}


class Library:
    """Operators of one namespace, defined by schema and implemented later."""

    def __init__(self, ns, kind, dispatch_key=""):
        self.ns, self.kind = ns, kind

    def define(self, schema, alias_analysis="", *, tags=()):
        """Declare an operator."""
        name = schema.partition("(")[0].strip()
        _libraries[f"{self.ns}::{name}"] = {}
        return name

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Implement an operator."""
        name = op_name if isinstance(op_name, str) else op_name.name()
        qualified = name if "::" in name else f"{self.ns}::{name}"
        if dispatch_key != "Meta":
            _ops.register_custom(qualified, fn)

    def _destroy(self):
        """Nothing to do."""


def define(qualname, schema, *, lib=None, tags=()):
    """Declare an operator."""
    _libraries[qualname] = {"schema": schema}


def impl(qualname, types, func=None, *, lib=None):
    """Implement an operator: by its whole name, or as impl(library, name, dispatch key)."""
    if isinstance(qualname, Library):
        library, name, key = qualname, types, "" if func is None else func

        def implement(func):
            library.impl(name, func, key)
            return func

        return implement

    def register(func):
        _ops.register_custom(qualname, func)
        return func

    return register if func is None else register(func)


def _definition(op):
    if isinstance(op, CustomOpDef):
        return op
    qualified = op if isinstance(op, str) else getattr(op, "_qualname", None)
    return _ops._custom.get(qualified)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Say the shapes of an operator's results."""

    def register(func):
        found = _definition(op)
        if isinstance(found, CustomOpDef):
            found.register_fake(func)
        elif isinstance(op, str):
            _ops._fakes[op] = func
        return func

    return register if func is None else register(func)


impl_abstract = register_fake


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Give an operator a function for some devices."""

    def register(func):
        found = _definition(op)
        if isinstance(found, CustomOpDef):
            found.register_kernel(device_types, func)
        return func

    return register if func is None else register(func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Give an operator a backward."""
    found = _definition(op)
    if not isinstance(found, CustomOpDef):
        raise RuntimeError(f"register_autograd({op}): got unexpected type for op")
    found.register_autograd(backward, setup_context=setup_context)


def opcheck(op, args, kwargs=None, **options):
    """See torch._opcheck.opcheck."""
    from torch._opcheck import opcheck

    return opcheck(op, args, kwargs, **options)


def wrap_triton(kernel):
    """Triton is not available."""
    raise RuntimeError("Triton is not available")

__getattr__ = _absent.getter(__name__)

