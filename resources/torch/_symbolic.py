"""Numbers that may be symbols while a program is captured."""

import math

try:
    from torch._C import SymBool, SymFloat, SymInt
except ImportError:

    class SymInt:
        """An int that is a symbol."""

    class SymFloat:
        """A float that is a symbol."""

    class SymBool:
        """A bool that is a symbol."""


def _method(name, value, *args):
    made = getattr(value, name, None)
    return NotImplemented if made is None else made(*args)


def sym_not(a):
    """not a."""
    return a.__sym_not__() if hasattr(a, "__sym_not__") else not a


def sym_float(a):
    """float(a)."""
    return a.__sym_float__() if hasattr(a, "__sym_float__") else float(a)


def sym_int(a):
    """a cut to an int."""
    if hasattr(a, "__sym_int__"):
        return a.__sym_int__()
    return math.floor(a) if a >= 0 else math.ceil(a)


def sym_max(a, b):
    """The larger one; a float if one is a float."""
    made = max(a, b)
    return float(made) if isinstance(a, float) or isinstance(b, float) else made


def sym_min(a, b):
    """The smaller one; a float if one is a float."""
    made = min(a, b)
    return float(made) if isinstance(a, float) or isinstance(b, float) else made


def sym_sum(args):
    """The sum."""
    return sum(args)


def sym_ite(b, t, f):
    """t if b, else f."""
    if not isinstance(b, (SymBool, bool)) or type(t) is not type(f):
        raise AssertionError("sym_ite takes a bool and two values of one type")
    return t if b else f


def sym_sqrt(a):
    """The square root."""
    return math.sqrt(a)


def sym_fresh_size(expr):
    """Only while capturing."""
    raise NotImplementedError("sym_fresh_size is only for capturing")
