"""torch.nn: modules, functions and parameters of neural networks."""

from torch import _absent
from torch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter  # noqa: F401

from . import _reduction  # noqa: F401
from . import functional, init, parameter, utils  # noqa: F401
from .modules import *  # noqa: F401, F403
from . import modules, attention  # noqa: F401
from .modules.module import Module  # noqa: F401
from .parallel import DataParallel  # noqa: F401


def factory_kwargs(kwargs):
    """The keywords device, dtype and memory_format of kwargs, also where they stand in factory_kwargs."""
    if kwargs is None:
        return {}
    known = {"device", "dtype", "memory_format"}
    unknown = kwargs.keys() - known - {"factory_kwargs"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    made = dict(kwargs.get("factory_kwargs", {}))
    for key in known:
        if key in kwargs:
            if key in made:
                raise TypeError(f"{key} specified twice, in **kwargs and in factory_kwargs")
            made[key] = kwargs[key]
    return made

__getattr__ = _absent.getter(__name__)

