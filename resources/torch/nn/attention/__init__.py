"""Which kernel attention uses; here there is one."""

import contextlib
import enum

from torch import _absent


class SDPBackend(enum.IntEnum):
    """Kernels of scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Choose kernels; the results are the same for all."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield {}

__getattr__ = _absent.getter(__name__)

