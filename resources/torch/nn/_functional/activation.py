"""Activations."""

import warnings

import torch
from torch import _C
from torch.overrides import handle_torch_function, has_torch_function

from ._common import overridable

_VF = _C._VariableFunctions
_nn = _C._nn


@overridable
def threshold(input, threshold, value, inplace=False):
    """input where it is above threshold, else value."""
    return torch.threshold_(input, threshold, value) if inplace else torch.threshold(input, threshold, value)


@overridable
def relu(input, inplace=False):
    """max(0, input)."""
    return torch.relu_(input) if inplace else torch.relu(input)


@overridable
def glu(input, dim=-1):
    """The first half times the sigmoid of the second half."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _nn.glu(input, dim)


@overridable
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input limited to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _nn.hardtanh_(input, min_val, max_val) if inplace else _nn.hardtanh(input, min_val, max_val)


@overridable
def relu6(input, inplace=False):
    """min(max(0, input), 6)."""
    return _nn.relu6_(input) if inplace else _nn.relu6(input)


@overridable
def elu(input, alpha=1.0, inplace=False):
    """input where positive, else alpha * (exp(input) - 1)."""
    return _nn.elu_(input, alpha) if inplace else _nn.elu(input, alpha)


@overridable
def selu(input, inplace=False):
    """The scaled elu with fixed constants."""
    return torch.selu_(input) if inplace else torch.selu(input)


@overridable
def celu(input, alpha=1.0, inplace=False):
    """The continuously differentiable elu."""
    return torch.celu_(input, alpha) if inplace else torch.celu(input, alpha)


@overridable
def leaky_relu(input, negative_slope=0.01, inplace=False):
    """input where positive, else negative_slope * input."""
    return _nn.leaky_relu_(input, negative_slope) if inplace else _nn.leaky_relu(input, negative_slope)


@overridable
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """leaky_relu with a random slope in training."""
    if inplace:
        return torch.rrelu_(input, lower, upper, training)
    return torch.rrelu(input, lower, upper, training)


def tanhshrink(input):
    """input - tanh(input)."""
    if has_torch_function((input,)):
        return handle_torch_function(tanhshrink, (input,), input)
    return input - input.tanh()


def softsign(input):
    """input / (1 + |input|)."""
    if has_torch_function((input,)):
        return handle_torch_function(softsign, (input,), input)
    return input / (input.abs() + 1)


def _softmax_dim(name, ndim, stacklevel):
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


@overridable
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -input."""
    dim = _softmax_dim("softmin", input.dim(), _stacklevel) if dim is None else dim
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


@overridable
def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(input) divided by its sum along dim."""
    dim = _softmax_dim("softmax", input.dim(), _stacklevel) if dim is None else dim
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


@overridable
def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of softmax."""
    dim = _softmax_dim("log_softmax", input.dim(), _stacklevel) if dim is None else dim
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


@overridable
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Samples of the Gumbel-Softmax distribution, one-hot if hard."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -torch.empty_like(logits, memory_format=torch.legacy_contiguous_format).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = torch.zeros_like(logits, memory_format=torch.legacy_contiguous_format).scatter_(dim, index, value=1.0)
    return one_hot - soft.detach() + soft


def tanh(input):
    """The hyperbolic tangent."""
    return input.tanh()


def sigmoid(input):
    """1 / (1 + exp(-input))."""
    return input.sigmoid()


@overridable
def hardsigmoid(input, inplace=False):
    """relu6(input + 3) / 6."""
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


@overridable
def silu(input, inplace=False):
    """input * sigmoid(input)."""
    return _nn.silu_(input) if inplace else _nn.silu(input)


@overridable
def mish(input, inplace=False):
    """input * tanh(softplus(input))."""
    return _nn.mish_(input) if inplace else _nn.mish(input)


@overridable
def hardswish(input, inplace=False):
    """input * relu6(input + 3) / 6."""
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)
