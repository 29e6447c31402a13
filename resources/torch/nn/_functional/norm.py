"""Normalisations."""

import torch
from torch import _C

from ._common import overridable

_backends = torch.backends


def _verify_batch_size(size):
    count = size[0]
    for s in size[2:]:
        count *= s
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def _verify_spatial_size(size):
    count = 1
    for s in size[2:]:
        count *= s
    if count == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {size}")


@overridable
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalise each channel over the batch, or with the running statistics."""
    if training:
        _verify_batch_size(input.size())
    return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps,
                            _backends.cudnn.enabled)


@overridable
def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                  momentum=0.1, eps=1e-5):
    """Normalise each channel of each example."""
    if use_input_stats:
        _verify_spatial_size(input.size())
    if running_mean is not None or running_var is not None:
        return _running_instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
    return torch.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
                               _backends.cudnn.enabled)


def _running_instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps):
    """Instance normalisation as batch normalisation of one example with a channel for each channel of each example."""
    batch, channels = input.shape[:2]
    mean, var = (None if t is None else t.repeat(batch) for t in (running_mean, running_var))
    weight, bias = (None if t is None else t.repeat(batch) for t in (weight, bias))
    flat = input.contiguous().view(1, batch * channels, *input.shape[2:])
    out = torch.batch_norm(flat, weight, bias, mean, var, use_input_stats, momentum, eps, _backends.cudnn.enabled)
    with torch.no_grad():
        for held, used in ((running_mean, mean), (running_var, var)):
            if held is not None and use_input_stats:
                held.copy_(used.view(batch, channels).mean(0))
    return out.view(input.shape)


@overridable
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalise over the last dimensions."""
    return torch.layer_norm(input, normalized_shape, weight, bias, eps, _backends.cudnn.enabled)


@overridable
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide by the root mean square over the last dimensions."""
    return torch.rms_norm(input, normalized_shape, weight, eps)


@overridable
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalise over groups of channels."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    _verify_batch_size([input.size(0) * input.size(1) // num_groups, num_groups] + list(input.size()[2:]))
    return torch.group_norm(input, num_groups, weight, bias, eps, _backends.cudnn.enabled)


@overridable
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divide by a power of the mean square over neighbouring channels."""
    from torch.nn.functional import avg_pool2d, avg_pool3d, pad

    dim = input.dim()
    if dim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {dim} dimensions)")
    if input.numel() == 0:
        return input
    div = input.mul(input)
    if dim == 3:
        div = pad(div.unsqueeze(1), (0, 0, size // 2, (size - 1) // 2))
        div = avg_pool2d(div, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        div = div.view(sizes[0], 1, sizes[1], sizes[2], -1)
        div = pad(div, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        div = avg_pool3d(div, (size, 1, 1), stride=1).squeeze(1)
        div = div.view(sizes)
    return input / div.mul(alpha).add(k).pow(beta)


@overridable
def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input divided by its p-norm along dim."""
    if out is None:
        return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return torch.div(input, input.norm(p, dim, keepdim=True).clamp_min_(eps).expand_as(input), out=out)


__all__ = ["_C"]
