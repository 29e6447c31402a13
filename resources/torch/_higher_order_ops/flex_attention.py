"""flex_attention is not supported."""


def flex_attention(*args, **kwargs):
    """Not supported."""
    raise NotImplementedError("flex_attention is not supported")
