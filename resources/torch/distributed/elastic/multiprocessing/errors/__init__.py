"""record: a main function whose error is told."""


def record(fn, error_handler=None):
    """The function itself: what a rank raises is told anyway."""
    return fn
