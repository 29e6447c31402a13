"""functorch.experimental.control_flow: the old names of control flow in graphs."""

from torch._higher_order_ops import cond, map  # noqa: F401
