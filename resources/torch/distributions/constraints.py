"""Which values parameters may have."""

from torch import _absent


class Constraint:
    """A condition on values."""

    def __init__(self, name, holds, text):
        self.name, self._holds, self._text = name, holds, text

    def check(self, value):
        """Where the condition holds."""
        return self._holds(value)

    def __repr__(self):
        return self._text


real = Constraint("real", lambda v: v == v, "Real()")
positive = Constraint("positive", lambda v: v > 0, "GreaterThan(lower_bound=0.0)")
nonnegative = Constraint("nonnegative", lambda v: v >= 0, "GreaterThanEq(lower_bound=0.0)")
unit_interval = Constraint("unit_interval", lambda v: (v >= 0) & (v <= 1), "Interval(lower_bound=0.0, upper_bound=1.0)")
boolean = Constraint("boolean", lambda v: (v == 0) | (v == 1), "Boolean()")
nonnegative_integer = Constraint("nonnegative_integer", lambda v: (v % 1 == 0) & (v >= 0),
                                 "IntegerGreaterThan(lower_bound=0)")
simplex = Constraint("simplex", lambda v: (v >= 0).all(-1) & ((v.sum(-1) - 1).abs() < 1e-6), "Simplex()")
real_vector = Constraint("real_vector", lambda v: (v == v).all(-1), "IndependentConstraint(Real(), 1)")

__getattr__ = _absent.getter(__name__)

