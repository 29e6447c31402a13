"""Modes below autograd: not supported."""


class TorchDispatchMode:
    """A context that would see operators below autograd."""

    def __enter__(self):
        raise NotImplementedError("TorchDispatchMode is not supported")

    def __exit__(self, *args):
        pass


def is_traceable_wrapper_subclass(t):
    """Whether a tensor wraps others in a way that can be traced: none does here."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
