"""Sizes as symbols: the errors and questions that programs name."""


class GuardOnDataDependentSymNode(RuntimeError):
    """A branch depends on a number that is only known when the graph runs."""

    def __init__(self, cond="", *args):
        super().__init__(f"Could not guard on data-dependent expression {cond} (unhinted: {cond}).  (Size-like symbols: none)",
                         *args)
        self.cond = cond


class ConstraintViolationError(RuntimeError):
    """A size that was said to differ is fixed by the program."""


def guard_size_oblivious(expr):
    """Whether a condition on sizes holds."""
    return bool(expr)


def guard_or_false(a):
    """Whether a condition on sizes holds."""
    return bool(a)


guard_or_true = guard_or_false
statically_known_true = guard_or_false


def is_concrete_int(a):
    """Whether a size is a number already."""
    return isinstance(a, int)


def guard_int(a):
    """A size as a number, which a guard fixes."""
    return int(a)


def guard_bool(a):
    """A condition as a bool, which a guard fixes."""
    return bool(a)


def guard_float(a):
    """A number as a float, which a guard fixes."""
    return float(a)


def hint_int(a, fallback=None):
    """A size of the example."""
    return int(a)
