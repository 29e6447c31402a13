"""flex_attention: see torch.nn.attention.flex_attention."""

from torch.nn.attention.flex_attention import flex_attention  # noqa: F401
