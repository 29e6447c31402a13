"""Passes over graphs."""

from torch import _absent
from . import shape_prop  # noqa: F401

__getattr__ = _absent.getter(__name__)

