"""torch._functorch: the names that programs use."""

from . import config  # noqa: F401
