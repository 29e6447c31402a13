"""hints_wrapper: a function with hints for the compiler."""


def hints_wrapper(body_fn, args, kwargs, hints):
    """body_fn(*args, **kwargs)."""
    return body_fn(*args, **kwargs)
