"""Batch normalisation folded into the layer before it."""

import copy

import torch


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of a convolution that includes a batch normalisation."""
    conv_b = torch.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = torch.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = torch.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = torch.rsqrt(bn_rv + bn_eps)
    shape = [1, -1] + [1] * (len(conv_w.shape) - 2) if transpose else [-1, 1] + [1] * (len(conv_w.shape) - 2)
    weight = (conv_w * (bn_w * scale).reshape(shape)).to(dtype=conv_w.dtype)
    bias = ((conv_b - bn_rm) * scale * bn_w + bn_b).to(dtype=conv_b.dtype)
    return (torch.nn.Parameter(weight, conv_w.requires_grad), torch.nn.Parameter(bias, conv_b.requires_grad))


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of a linear layer that includes a batch normalisation."""
    linear_b = torch.zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * torch.rsqrt(bn_rv + bn_eps)
    weight = linear_w * scale.unsqueeze(-1).to(dtype=linear_w.dtype)
    bias = ((linear_b - bn_rm) * scale + bn_b).to(dtype=linear_b.dtype)
    return (torch.nn.Parameter(weight, linear_w.requires_grad), torch.nn.Parameter(bias, linear_b.requires_grad))


def _fused(layer, bn, weights):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    made = copy.deepcopy(layer)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    made.weight, made.bias = weights(made)
    return made


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that includes a batch normalisation; both in evaluation mode."""
    return _fused(conv, bn, lambda m: fuse_conv_bn_weights(m.weight, m.bias, bn.running_mean, bn.running_var, bn.eps,
                                                           bn.weight, bn.bias, transpose))


def fuse_linear_bn_eval(linear, bn):
    """A linear layer that includes a batch normalisation; both in evaluation mode."""
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _fused(linear, bn, lambda m: fuse_linear_bn_weights(m.weight, m.bias, bn.running_mean, bn.running_var,
                                                               bn.eps, bn.weight, bn.bias))
