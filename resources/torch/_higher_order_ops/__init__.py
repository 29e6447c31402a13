"""Operators that take functions."""

from .associative_scan import associative_scan  # noqa: F401
from .cond import cond  # noqa: F401
from .hints_wrap import hints_wrapper  # noqa: F401
from .invoke_subgraph import invoke_subgraph, mark_compile_region  # noqa: F401
from .map import map  # noqa: F401
from .scan import scan  # noqa: F401
from .while_loop import while_loop  # noqa: F401
