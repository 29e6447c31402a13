"""torch.nn.functional: functions of neural networks."""

import torch
from torch import _C, _absent
from torch.nn import _reduction as _Reduction  # noqa: F401
from torch.nn._functional import activation, attention, dropout as _dropout, loss, norm, pooling, vision
from torch.nn._functional._common import boolean_dispatch, pair as _pair, single as _single, triple as _triple  # noqa: F401
from torch.overrides import handle_torch_function, has_torch_function  # noqa: F401
from torch.overrides import has_torch_function_unary, has_torch_function_variadic  # noqa: F401

_VF = _C._VariableFunctions

# Bound functions that have the same name here.
_FROM_TORCH = ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "conv_tbc",
               "avg_pool1d", "adaptive_avg_pool1d", "bilinear", "channel_shuffle", "native_channel_shuffle",
               "cosine_similarity", "hardshrink", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle",
               "prelu", "celu_", "relu_", "rrelu_", "selu_", "threshold_")
_FROM_NN = {"avg_pool2d": "avg_pool2d", "avg_pool3d": "avg_pool3d", "elu_": "elu_", "gelu": "gelu",
            "hardtanh_": "hardtanh_", "leaky_relu_": "leaky_relu_", "linear": "linear", "logsigmoid": "log_sigmoid",
            "one_hot": "one_hot", "scaled_dot_product_attention": "scaled_dot_product_attention",
            "softplus": "softplus", "softshrink": "softshrink"}

for _name in _FROM_TORCH:
    if hasattr(_VF, _name):
        globals()[_name] = getattr(torch, _name)
for _name, _bound in _FROM_NN.items():
    if hasattr(_C._nn, _bound):
        globals()[_name] = getattr(_C._nn, _bound)

for _part in (activation, attention, _dropout, loss, norm, pooling, vision):
    for _name, _value in vars(_part).items():
        if callable(_value) and getattr(_value, "__module__", "") in (_part.__name__, __name__):
            _value.__module__ = __name__
            globals()[_name] = _value

del _name, _bound, _part, _value

__getattr__ = _absent.getter(__name__)

