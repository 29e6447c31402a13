"""Backends by name."""

import functools

_BUILT_IN = ("cudagraphs", "inductor", "onnxrt", "openxla", "tvm")
_DEBUG = ("aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "eager", "eager_debug",
          "eager_noexcept")
_registered = {}


def register_backend(compiler_fn=None, name=None, tags=()):
    """Give a compiler function a name for torch.compile(backend=name)."""
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    if not callable(compiler_fn):
        raise TypeError("compiler_fn must be callable")
    name = name or compiler_fn.__name__
    if name in _registered:
        raise AssertionError(f"duplicate name: {name}")
    _registered[name] = compiler_fn
    compiler_fn._tags = tuple(tags)
    return compiler_fn


register_debug_backend = functools.partial(register_backend, tags=("debug",))
register_experimental_backend = functools.partial(register_backend, tags=("experimental",))


def name_or_function(compiler_fn):
    """A backend's function by its name; the built-in ones stay names, which the engine knows."""
    if not isinstance(compiler_fn, str):
        return compiler_fn
    if compiler_fn in _registered:
        return _registered[compiler_fn]
    if compiler_fn not in (*_BUILT_IN, *_DEBUG):
        from torch._dynamo.exc import InvalidBackend

        raise InvalidBackend(name=compiler_fn)
    return compiler_fn


def lookup_backend(compiler_fn):
    """A backend's function by its name."""
    found = name_or_function(compiler_fn)
    if not isinstance(found, str):
        return found
    from . import debugging, inductor

    if found in ("eager", "eager_debug"):
        return debugging.eager
    if found == "eager_noexcept":
        return debugging.eager_noexcept
    return debugging.aot_eager if found.startswith("aot_eager") else inductor.inductor


def list_backends(exclude_tags=("debug", "experimental")):
    """The names of the backends."""
    hidden = set(exclude_tags or ())
    names = [n for n in _BUILT_IN if n in ("cudagraphs", "inductor", "openxla", "tvm")]
    names += [n for n, fn in _registered.items() if not hidden & set(getattr(fn, "_tags", ()))]
    if "debug" not in hidden:
        names += _DEBUG
    return sorted(names)
