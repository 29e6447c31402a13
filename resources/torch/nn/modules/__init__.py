"""All modules of torch.nn."""

from . import (
    activation,
    adaptive,
    attention,
    batchnorm,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    lazy_conv,
    linear,
    loss,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
)
from .module import Module

_PARTS = (activation, adaptive, attention, batchnorm, container, conv, distance, dropout, flatten, fold, instancenorm,
          lazy_conv, linear, loss, normalization, padding, pixelshuffle, pooling, rnn, sparse, transformer, upsampling)

__all__ = ["Module"]
for _part in _PARTS:
    for _name, _value in vars(_part).items():
        if isinstance(_value, type) and issubclass(_value, Module) and not _name.startswith("_"):
            globals()[_name] = _value
            __all__.append(_name)

activation.MultiheadAttention = attention.MultiheadAttention
for _name in list(__all__):
    if _name.startswith("LazyConv"):
        setattr(conv, _name, globals()[_name])
ParameterList = container.ParameterList
ParameterDict = container.ParameterDict
__all__ += ["ParameterList", "ParameterDict"]
for _name in list(__all__):
    # Where PyTorch has the class in another file, it is told so: type names in messages follow it.
    _home = globals()[_name].__module__
    for _ours, _theirs in (("lazy_conv", "conv"), ("attention", "activation"), ("parameter_containers", "container")):
        if _home == f"{__name__}.{_ours}":
            globals()[_name].__module__ = f"{__name__}.{_theirs}"
del _part, _name, _value, _home, _ours, _theirs
