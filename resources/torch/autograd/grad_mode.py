"""Whether gradients are recorded: contexts that are decorators too."""

from torch import _C
from torch.utils._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager


class no_grad(_NoParamDecoratorContextManager):
    """Record nothing in the block."""

    def __init__(self):
        self.prev = False

    def __enter__(self):
        self.prev = _C.is_grad_enabled()
        _C._set_grad_enabled(False)

    def __exit__(self, exc_type, exc_value, traceback):
        _C._set_grad_enabled(self.prev)


class enable_grad(_NoParamDecoratorContextManager):
    """Record in the block."""

    def __enter__(self):
        self.prev = _C.is_grad_enabled()
        _C._set_grad_enabled(True)

    def __exit__(self, exc_type, exc_value, traceback):
        _C._set_grad_enabled(self.prev)


class set_grad_enabled(_DecoratorContextManager):
    """Record or not: from here on, or in the block."""

    def __init__(self, mode):
        self.prev = _C.is_grad_enabled()
        self.mode = mode
        _C._set_grad_enabled(mode)

    def __call__(self, orig_func):
        _C._set_grad_enabled(self.prev)
        return super().__call__(orig_func)

    def __enter__(self):
        _C._set_grad_enabled(self.mode)

    def __exit__(self, exc_type, exc_value, traceback):
        _C._set_grad_enabled(self.prev)

    def __str__(self):
        return f"<torch.autograd.grad_mode.set_grad_enabled object at {hex(id(self))}>"

    def clone(self):
        """A context of the same mode."""
        return self.__class__(self.mode)


class inference_mode(_DecoratorContextManager):
    """no_grad whose tensors can never be part of a graph."""

    def __init__(self, mode=True):
        self.mode = mode

    def __new__(cls, mode=True):
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __enter__(self):
        self._before = (_C.is_inference_mode_enabled(), _C.is_grad_enabled())
        _C._set_inference_mode(self.mode)
        _C._set_grad_enabled(not self.mode)

    def __exit__(self, *args):
        _C._set_inference_mode(self._before[0])
        _C._set_grad_enabled(self._before[1])

    def clone(self):
        """A context of the same mode."""
        return self.__class__(self.mode)


class set_multithreading_enabled(_DecoratorContextManager):
    """Backward runs in one thread, whatever is set."""

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        pass

    def __exit__(self, *args):
        pass


class _force_original_view_tracking(set_multithreading_enabled):
    """A context that changes nothing here."""


class _unsafe_preserve_version_counter(_DecoratorContextManager):
    """A context that changes nothing here."""

    def __init__(self, tensors):
        self.tensors = tensors

    def __enter__(self):
        pass

    def __exit__(self, *args):
        pass
