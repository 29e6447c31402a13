"""Dropout, and embeddings."""

import warnings

import torch

from ._common import overridable


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@overridable
def dropout(input, p=0.5, training=True, inplace=False):
    """In training, zero elements with probability p and scale the rest by 1 / (1 - p)."""
    _check(p)
    return torch.dropout_(input, p, training) if inplace else torch.dropout(input, p, training)


@overridable
def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance of self-normalising inputs."""
    _check(p)
    return torch.alpha_dropout_(input, p, training) if inplace else torch.alpha_dropout(input, p, training)


@overridable
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    _check(p)
    if inplace:
        return torch.feature_alpha_dropout_(input, p, training)
    return torch.feature_alpha_dropout(input, p, training)


def _channels(input, p, training, inplace, batched):
    if not batched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    made = torch.feature_dropout_(input, p, training) if inplace else torch.feature_dropout(input, p, training)
    if not batched:
        made = made.squeeze_(0) if inplace else made.squeeze(0)
    return made


@overridable
def dropout1d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return _channels(input, p, training, inplace, input.dim() == 3)


@overridable
def dropout2d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, H, W)."""
    _check(p)
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated and will result in an error "
            "in a future release.",
            stacklevel=2,
        )
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired.",
            stacklevel=2,
        )
    return torch.feature_dropout_(input, p, training) if inplace else torch.feature_dropout(input, p, training)


@overridable
def dropout3d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    _check(p)
    if input.dim() not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated and will result in an error "
            "in a future release.",
            stacklevel=2,
        )
    return _channels(input, p, training, inplace, input.dim() == 5)


def _positive_index(padding_idx, rows):
    if padding_idx > 0 and padding_idx >= rows or padding_idx < 0 and padding_idx < -rows:
        raise AssertionError("padding_idx must be within num_embeddings")
    return padding_idx if padding_idx >= 0 else rows + padding_idx


@overridable
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of weight that input names."""
    padding_idx = -1 if padding_idx is None else _positive_index(padding_idx, weight.size(0))
    if max_norm is not None:
        input = input.contiguous()
        with torch.no_grad():
            torch.embedding_renorm_(weight, input, max_norm, norm_type)
    return torch.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


_MODES = {"sum": 0, "mean": 1, "max": 2}


@overridable
def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Sums, means or maxima over bags of rows of weight."""
    if weight.dtype == torch.long and input.is_floating_point():
        warnings.warn("Argument order of nn.functional.embedding_bag was changed.", stacklevel=2)
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same "
            f"shape as the input ({input.shape})"
        )
    if not weight.dim() == 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                f"if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        offsets = torch.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ValueError("max mode does not support scaling the gradient by the frequency and sparse weights")
    if max_norm is not None:
        with torch.no_grad():
            torch.embedding_renorm_(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    made, _, _, _ = torch.embedding_bag(weight, input, offsets, scale_grad_by_freq, _MODES[mode], sparse,
                                        per_sample_weights, include_last_offset, padding_idx)
    return made
