"""torch.jit: scripts are not compiled; the decorators give their functions back."""


def is_scripting():
    """Always False."""
    return False


def is_tracing():
    """Always False."""
    return False


def annotate(the_type, the_value):
    """The value."""
    return the_value


def _same(fn=None, *args, **kwargs):
    return fn if fn is not None else (lambda f: f)


script = ignore = unused = export = script_if_tracing = interface = _same


class Final:
    """A type for annotations."""

    def __class_getitem__(cls, item):
        return item


class ScriptModule:
    """No module here is one."""


def isinstance(obj, target_type):  # noqa: A001
    """The builtin."""
    import builtins

    return builtins.isinstance(obj, target_type)


def trace(func, example_inputs=None, **kwargs):
    """The function itself."""
    return func
