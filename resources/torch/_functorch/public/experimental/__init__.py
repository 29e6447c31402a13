"""functorch.experimental."""

from torch.func import functionalize  # noqa: F401
