"""no_dispatch: operators as they are, whatever classes and modes there are."""

import contextlib

from torch import _C
from torch.utils._python_dispatch import _disable_current_modes


@contextlib.contextmanager
def no_dispatch():
    """No class and no mode answers an operator in the block."""
    with _C._DisableTorchDispatch(), _disable_current_modes():
        yield


def all_same_mode(modes):
    """Whether they are all the first one."""
    return all(mode is modes[0] for mode in modes)
