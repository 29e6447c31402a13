"""Losses."""

import math
import warnings

import torch
from torch import _C
from torch.nn import _reduction

from ._common import overridable

_nn = _C._nn
_sharded_cross_entropy = None  # while loss_parallel() of torch.distributed is on


def _name(size_average, reduce, reduction):
    if size_average is not None or reduce is not None:
        return _reduction.legacy_get_string(size_average, reduce)
    return reduction


def _code(size_average, reduce, reduction):
    return _reduction.get_enum(_name(size_average, reduce, reduction))


def _warn_sizes(input, target):
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=4,
        )


def _reduce_weighted(loss, weight, reduction, mean):
    if reduction == "none":
        return loss
    if reduction == "sum":
        return torch.sum(loss)
    if reduction == "mean":
        return mean(loss, weight)
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


def _weighted_mean(loss, weight):
    return torch.sum(loss) / torch.sum(weight)


def _check_weight(weight, input):
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


@overridable
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Connectionist temporal classification."""
    return torch.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction.get_enum(reduction),
                          zero_infinity)


@overridable
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Minus the log-probability of the target class."""
    return _nn.nll_loss_nd(input, target, weight, _code(size_average, reduce, reduction), ignore_index)


@overridable
def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
                     reduction="mean"):
    """Negative log-likelihood of a Poisson distribution."""
    reduction = _name(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not a valid value for reduction")
    return torch.poisson_nll_loss(input, target, log_input, full, eps, _reduction.get_enum(reduction))


@overridable
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Negative log-likelihood of a normal distribution with variance var."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * torch.ones_like(input)
    elif torch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        unequal = [b for a, b in zip(input.size(), var.size()) if a != b]
        if input.size()[:-1] == var.size():
            var = torch.unsqueeze(var, -1)
        elif not (input.ndim == var.ndim and sum(unequal) == 1):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with torch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return {"mean": loss.mean, "sum": loss.sum, "none": lambda: loss}[reduction]()


@overridable
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """Kullback-Leibler divergence; input holds log-probabilities."""
    if size_average is not None or reduce is not None:
        code = _reduction.legacy_get_enum(size_average, reduce)
    else:
        if reduction == "mean":
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size."
                "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
                "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
                stacklevel=3,
            )
        code = _reduction.get_enum("sum" if reduction == "batchmean" else reduction)
    reduced = torch.kl_div(input, target, code, log_target=log_target)
    if reduction == "batchmean" and input.dim() != 0:
        reduced = reduced / input.size()[0]
    return reduced


@overridable
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """log_softmax, then nll_loss; targets are classes or probabilities."""
    reduction = _name(size_average, reduce, reduction)
    if _sharded_cross_entropy is not None:
        made = _sharded_cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)
        if made is not None:
            return made
    if label_smoothing > 0.0:
        return _smoothed_cross_entropy(input, target, weight, reduction, ignore_index, label_smoothing)
    return _nn.cross_entropy_loss(input, target, weight, _reduction.get_enum(reduction), ignore_index, label_smoothing)


def _smoothed_cross_entropy(input, target, weight, reduction, ignore_index, smoothing):
    """Cross entropy against targets that give a part of their weight to all classes."""
    dim = 0 if input.dim() == 1 else 1
    classes = input.size(dim)
    code = _reduction.get_enum(reduction)
    if input.shape == target.shape:
        soft = target * (1 - smoothing) + smoothing / classes
        return _nn.cross_entropy_loss(input, soft, weight, code, ignore_index, 0.0)
    log = input.log_softmax(dim)
    hard = _nn.nll_loss_nd(log, target, weight, code, ignore_index)
    shape = [1] * input.dim()
    shape[dim] = classes
    even = -(log if weight is None else log * weight.view(shape)).sum(dim)
    ignored = target == ignore_index
    even = even.masked_fill(ignored, 0.0)
    if reduction == "sum":
        even = even.sum()
    elif reduction == "mean":
        kept = target.masked_select(torch.logical_not(ignored))
        total = kept.numel() if weight is None else weight.gather(0, kept.flatten()).sum()
        even = even.sum() / total
    return (1 - smoothing) * hard + even * (smoothing / classes)


@overridable
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Cross entropy of probabilities with two classes."""
    code = _code(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(torch.broadcast_shapes(target.size(), weight.size()))
    return _nn.binary_cross_entropy(input, target, weight, code)


@overridable
def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    """binary_cross_entropy of the sigmoid of input."""
    code = _code(size_average, reduce, reduction)
    if not target.size() == input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, code)


@overridable
def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Squares below beta, absolute differences above."""
    _warn_sizes(input, target)
    code = _code(size_average, reduce, reduction)
    input, target = torch.broadcast_tensors(input, target)
    if beta == 0.0:
        return _nn.l1_loss(input, target, code)
    return _nn.smooth_l1_loss(input, target, code, beta)


@overridable
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half squares below delta, linear above."""
    _warn_sizes(input, target)
    wide, wide_target = torch.broadcast_tensors(input, target)
    if weight is None:
        return _nn.huber_loss(wide, wide_target, _reduction.get_enum(reduction), delta)
    _check_weight(weight, input)
    loss = _nn.huber_loss(wide, wide_target, _reduction.get_enum("none"), delta) * weight
    return _reduce_weighted(loss, weight, reduction, lambda loss, weight: loss.mean())


@overridable
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Absolute differences."""
    _warn_sizes(input, target)
    reduction = _name(size_average, reduce, reduction)
    wide, wide_target = torch.broadcast_tensors(input, target)
    if weight is None:
        return _nn.l1_loss(wide, wide_target, _reduction.get_enum(reduction))
    _check_weight(weight, input)
    return _reduce_weighted(torch.abs(wide - wide_target) * weight, weight, reduction, _weighted_mean)


@overridable
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Squared differences."""
    _warn_sizes(input, target)
    reduction = _name(size_average, reduce, reduction)
    wide, wide_target = torch.broadcast_tensors(input, target)
    if weight is None:
        return _nn.mse_loss(wide, wide_target, _reduction.get_enum(reduction))
    _check_weight(weight, input)
    return _reduce_weighted(torch.pow(wide - wide_target, 2) * weight, weight, reduction, _weighted_mean)


@overridable
def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target * (input1 - input2) + margin)."""
    code = _code(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: {input1.size()}, "
            f"input2: {input2.size()}, target: {target.size()} "
        )
    return torch.margin_ranking_loss(input1, input2, target, margin, code)


@overridable
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where target is 1, max(0, margin - input) where it is -1."""
    return torch.hinge_embedding_loss(input, target, margin, _code(size_average, reduce, reduction))


@overridable
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Hinge loss of several classes for each example."""
    reduction = _name(size_average, reduce, reduction)
    bound = getattr(_nn, "multilabel_margin_loss", None)
    if bound is not None:
        return bound(input, target, _reduction.get_enum(reduction))
    return _multilabel_margin(input, target, reduction)


def _multilabel_margin(input, target, reduction):
    """Margins of the targets (up to the first -1) over all other classes."""
    listed = (target < 0).cumsum(-1) == 0
    places = target.clamp(min=0)
    own = torch.zeros_like(target).scatter_add(-1, places, listed.to(target.dtype)) > 0
    chosen = input.gather(-1, places).unsqueeze(-1)
    margins = (1 - (chosen - input.unsqueeze(-2))).clamp(min=0)
    counted = listed.unsqueeze(-1) & torch.logical_not(own).unsqueeze(-2)
    loss = (margins * counted).sum((-2, -1)) / input.size(-1)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return {"none": lambda: loss, "mean": loss.mean, "sum": loss.sum}[reduction]()


@overridable
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input))."""
    return _nn.soft_margin_loss(input, target, _code(size_average, reduce, reduction))


@overridable
def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Cross entropy of each class by itself, averaged over classes."""
    reduction = _name(size_average, reduce, reduction)
    log = torch.nn.functional.logsigmoid
    loss = -(target * log(input) + (1 - target) * log(-input))
    if weight is not None:
        loss = loss * weight
    class_dim = input.dim() - 1
    loss = loss.sum(dim=class_dim) / input.size(class_dim)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return {"none": lambda: loss, "mean": loss.mean, "sum": loss.sum}[reduction]()


@overridable
def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """Pull equal pairs together and push others apart, by cosine."""
    return torch.cosine_embedding_loss(input1, input2, target, margin, _code(size_average, reduce, reduction))


@overridable
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Hinge loss of one class against all others."""
    code = _code(size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _nn.multi_margin_loss(input, target, p, margin, weight, code)


@overridable
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None,
                        reduce=None, reduction="mean"):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin)."""
    code = _code(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return torch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, code)


@overridable
def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    """triplet_margin_loss with a distance of one's own."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    distance = torch.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    loss = torch.clamp_min(margin + near - far, 0)
    return {"sum": torch.sum, "mean": torch.mean, "none": lambda t: t}[reduction](loss)
