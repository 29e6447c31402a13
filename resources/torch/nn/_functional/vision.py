"""Padding, resizing, sampling and sliding windows of images."""

import math
import warnings

import torch
from torch import _C

from ._common import overridable, pair

_nn = _C._nn


@overridable
def pad(input, pad, mode="constant", value=None):
    """Extend the last dimensions; pad lists (before, after) from the last dimension on."""
    if not torch.jit.is_scripting() and mode == "replicate" and torch.are_deterministic_algorithms_enabled() and input.is_cuda:
        raise RuntimeError("replication padding has no deterministic implementation here")
    return _nn.pad(input, pad, mode, value)


def _both(input, size, scale_factor):
    """Output size and scale factors as lists, one of them None."""
    dim = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (list, tuple)):
            return [size for _ in range(dim)], None
        if len(size) != dim:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got "
                f"input with spatial dimensions of {list(input.shape[2:])} and output size of {size}. "
                "Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "output size in (o1, o2, ...,oK) format."
            )
        return size, None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, (list, tuple)):
        return None, [scale_factor for _ in range(dim)]
    if len(scale_factor) != dim:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but "
            f"got input with spatial dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}. "
            "Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format."
        )
    return None, scale_factor


_NEAREST = {"nearest": "upsample_nearest", "nearest-exact": "_upsample_nearest_exact"}
_LINEAR = {(3, "linear"): "upsample_linear1d", (4, "bilinear"): "upsample_bilinear2d",
           (5, "trilinear"): "upsample_trilinear3d", (4, "bicubic"): "upsample_bicubic2d"}
_ANTIALIASED = {"bilinear": "_upsample_bilinear2d_aa", "bicubic": "_upsample_bicubic2d_aa"}
_ONLY_FOR = {"linear": 3, "bilinear": 4, "trilinear": 5}


@overridable
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """Resize the spatial dimensions."""
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the "
                "interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    output_size, scales = _both(input, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor or (mode == "area" and output_size is None):
        output_size = [int(math.floor(input.size(i + 2) * scales[i])) for i in range(input.dim() - 2)]
        scales = None
    if antialias and not (mode in ("bilinear", "bicubic") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    dim = input.dim()
    if mode in _NEAREST and dim in (3, 4, 5):
        return getattr(_nn, f"{_NEAREST[mode]}{dim - 2}d")(input, output_size, scales)
    if mode == "area" and dim in (3, 4, 5):
        return getattr(torch.nn.functional, f"adaptive_avg_pool{dim - 2}d")(input, output_size)
    if (dim, mode) in _LINEAR:
        name = _ANTIALIASED[mode] if antialias else _LINEAR[dim, mode]
        return getattr(_nn, name)(input, output_size, align_corners, scales)
    if dim in (3, 4, 5) and mode in _ONLY_FOR:
        raise NotImplementedError(f"Got {dim}D input, but {mode} mode needs {_ONLY_FOR[mode]}D input")
    raise NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported"
        f" (got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact"
        f" (got {mode})"
    )


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The old name of interpolate."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with mode nearest."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with mode bilinear and aligned corners."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


_SAMPLING = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDING = {"zeros": 0, "border": 1, "reflection": 2}


@overridable
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The values of input at the places that grid names, in [-1, 1]."""
    if mode not in _SAMPLING:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDING:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False
    return torch.grid_sampler(input, grid, _SAMPLING[mode], _PADDING[padding_mode], align_corners)


@overridable
def affine_grid(theta, size, align_corners=None):
    """The grid of places that affine matrices make, for grid_sample."""
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=2,
        )
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    rows = {4: 2, 5: 3}.get(len(size))
    if rows is None:
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    if theta.dim() != 3 or theta.shape[-2] != rows or theta.shape[-1] != rows + 1:
        raise ValueError(
            f"Expected a batch of {rows}D affine matrices of shape Nx{rows}x{rows + 1} for size {size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return torch.affine_grid_generator(theta, size, align_corners)


@overridable
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Sliding blocks of an image as columns."""
    return _nn.im2col(input, pair(kernel_size), pair(dilation), pair(padding), pair(stride))


@overridable
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns of blocks summed into an image."""
    return _nn.col2im(input, pair(output_size), pair(kernel_size), pair(dilation), pair(padding), pair(stride))
