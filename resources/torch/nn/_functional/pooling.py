"""Pooling."""

import torch
from torch import _C

from ._common import boolean_dispatch, list_with_default, overridable, pair, single, triple

_nn = _C._nn
_NAME = "torch.nn.functional"


def _default(stride):
    return [] if stride is None else stride


def _fractional(n, convert):
    name = f"fractional_max_pool{n}d"

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        """Maxima over windows at random places, and where they were."""
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            ratio = convert(output_ratio)
            output_size = [int(input.size(i - n) * ratio[i]) for i in range(n)]
        if _random_samples is None:
            batch = 1 if input.dim() == n + 1 else input.size(0)
            _random_samples = torch.rand(batch, input.size(-n - 1), n, dtype=input.dtype, device=input.device)
        return getattr(_nn, name)(input, kernel_size, output_size, _random_samples)

    with_indices.__name__ = with_indices.__qualname__ = name + "_with_indices"
    with_indices = overridable(with_indices)

    def plain(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        """Maxima over windows at random places."""
        return with_indices(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)[0]

    return with_indices, boolean_dispatch("return_indices", 4, False, with_indices, overridable(plain), _NAME, name)


fractional_max_pool2d_with_indices, fractional_max_pool2d = _fractional(2, pair)
fractional_max_pool3d_with_indices, fractional_max_pool3d = _fractional(3, triple)


@overridable
def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    """Maxima over windows, and where they were."""
    return torch.max_pool1d_with_indices(input, kernel_size, _default(stride), padding, dilation, ceil_mode)


@overridable
def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    """Maxima over windows, and where they were."""
    return _nn.max_pool2d_with_indices(input, kernel_size, _default(stride), padding, dilation, ceil_mode)


@overridable
def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    """Maxima over windows, and where they were."""
    return _nn.max_pool3d_with_indices(input, kernel_size, _default(stride), padding, dilation, ceil_mode)


def _plain_max_pool(n):
    def pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        """Maxima over windows."""
        fn = getattr(torch, f"max_pool{n}d")
        return fn(input, kernel_size, _default(stride), padding, dilation, ceil_mode)

    pool.__name__ = pool.__qualname__ = f"_max_pool{n}d"
    return overridable(pool)


_max_pool1d, _max_pool2d, _max_pool3d = (_plain_max_pool(n) for n in (1, 2, 3))
max_pool1d = boolean_dispatch("return_indices", 6, False, max_pool1d_with_indices, _max_pool1d, _NAME, "max_pool1d")
max_pool2d = boolean_dispatch("return_indices", 6, False, max_pool2d_with_indices, _max_pool2d, _NAME, "max_pool2d")
max_pool3d = boolean_dispatch("return_indices", 6, False, max_pool3d_with_indices, _max_pool3d, _NAME, "max_pool3d")


def _unpool_output_size(input, kernel_size, stride, padding, output_size):
    n = len(kernel_size)
    sizes = input.size()
    default = [(sizes[d - n] - 1) * stride[d] + kernel_size[d] - 2 * padding[d] for d in range(n)]
    if output_size is None:
        return default
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
            f"'{len(output_size)}'"
        )
    for d in range(n):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})')
    return output_size


def _unpool_sizes(convert, input, kernel_size, stride, padding, output_size):
    kernel = convert(kernel_size)
    steps = kernel if stride is None else convert(stride)
    padding = convert(padding)
    return _unpool_output_size(input, kernel, steps, padding, output_size), steps, padding


@overridable
def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Put the values back where max_pool1d took them."""
    size, _, _ = _unpool_sizes(single, input, kernel_size, stride, padding, output_size)
    made = _nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1])
    return made.squeeze(-1)


@overridable
def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Put the values back where max_pool2d took them."""
    size, _, _ = _unpool_sizes(pair, input, kernel_size, stride, padding, output_size)
    return _nn.max_unpool2d(input, indices, size)


@overridable
def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Put the values back where max_pool3d took them."""
    size, steps, padding = _unpool_sizes(triple, input, kernel_size, stride, padding, output_size)
    return _nn.max_unpool3d(input, indices, size, steps, padding)


def _lp_pool(pool, input, norm_type, kernel_size, stride, ceil_mode, count):
    powers = input.pow(norm_type)
    if stride is not None:
        out = pool(powers, kernel_size, stride, 0, ceil_mode)
    else:
        out = pool(powers, kernel_size, padding=0, ceil_mode=ceil_mode)
    return (torch.sign(out) * torch.nn.functional.relu(torch.abs(out))).mul(count).pow(1.0 / norm_type)


@overridable
def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm over windows."""
    return _lp_pool(torch.avg_pool1d, input, norm_type, kernel_size, stride, ceil_mode, kernel_size)


@overridable
def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm over windows."""
    kw, kh = pair(kernel_size)
    return _lp_pool(_nn.avg_pool2d, input, norm_type, kernel_size, stride, ceil_mode, kw * kh)


@overridable
def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm over windows."""
    kd, kw, kh = triple(kernel_size)
    return _lp_pool(_nn.avg_pool3d, input, norm_type, kernel_size, stride, ceil_mode, kd * kw * kh)


@overridable
def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    """Maxima over windows that give the wanted size, and where they were."""
    return torch.adaptive_max_pool1d(input, output_size)


@overridable
def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    """Maxima over windows that give the wanted size, and where they were."""
    return _nn.adaptive_max_pool2d(input, list_with_default(output_size, input.size()))


@overridable
def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    """Maxima over windows that give the wanted size, and where they were."""
    return _nn.adaptive_max_pool3d(input, list_with_default(output_size, input.size()))


def _adaptive(n, with_indices):
    def pool(input, output_size, return_indices=False):
        """Maxima over windows that give the wanted size."""
        return with_indices(input, output_size)[0]

    pool.__name__ = pool.__qualname__ = f"_adaptive_max_pool{n}d"
    name = f"adaptive_max_pool{n}d"
    return boolean_dispatch("return_indices", 2, False, with_indices, overridable(pool), _NAME, name)


adaptive_max_pool1d = _adaptive(1, adaptive_max_pool1d_with_indices)
adaptive_max_pool2d = _adaptive(2, adaptive_max_pool2d_with_indices)
adaptive_max_pool3d = _adaptive(3, adaptive_max_pool3d_with_indices)


@overridable
def adaptive_avg_pool2d(input, output_size):
    """Means over windows that give the wanted size."""
    return _nn.adaptive_avg_pool2d(input, list_with_default(output_size, input.size()))


@overridable
def adaptive_avg_pool3d(input, output_size):
    """Means over windows that give the wanted size."""
    return _nn.adaptive_avg_pool3d(input, list_with_default(output_size, input.size()))
