"""wrap: a function as a graph of its own."""


def wrap(func, *args, **kwargs):
    """func(*args, **kwargs)."""
    return func(*args, **kwargs)
