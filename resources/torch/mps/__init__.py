"""torch.mps: not there."""


def is_available():
    """Always False."""
    return False


def device_count():
    """Always 0."""
    return 0
