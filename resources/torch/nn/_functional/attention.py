"""Multi-head attention."""

import math
import warnings

import torch
from torch import _C

from ._common import overridable

_nn = _C._nn
_linear = _nn.linear


def _in_projection_packed(q, k, v, w, b=None):
    """Query, key and value by one weight of three parts."""
    width = q.size(-1)
    if k is not v:
        parts = [None] * 3 if b is None else b.chunk(3)
        return tuple(_linear(t, wt, bt) for t, wt, bt in zip((q, k, v), w.chunk(3), parts))
    if q is k:
        return _unpack(_linear(q, w, b), 3, width)
    w_q, w_kv = w.split([width, width * 2])
    b_q, b_kv = (None, None) if b is None else b.split([width, width * 2])
    q_proj = _linear(q, w_q, b_q)
    return (q_proj, *_unpack(_linear(k, w_kv, b_kv), 2, width))


def _unpack(proj, parts, width):
    """The parts of the last dimension, each contiguous."""
    proj = proj.unflatten(-1, (parts, width)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(proj[i] for i in range(parts))


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """Query, key and value by a weight each."""
    width = q.size(-1)
    for what, t, w, b in (("query", q, w_q, b_q), ("key", k, w_k, b_k), ("value", v, w_v, b_v)):
        if w.shape != (width, t.size(-1)):
            raise AssertionError(f"expecting {what} weights shape of {(width, t.size(-1))}, but got {w.shape}")
        if b is not None and b.shape != (width,):
            raise AssertionError(f"expecting {what} bias shape of {(width,)}, but got {b.shape}")
    return _linear(q, w_q, b_q), _linear(k, w_k, b_k), _linear(v, w_v, b_v)


def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the tensors are batched; an error where their ranks do not fit."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    batched = query.dim() == 3
    n = query.dim()
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    if key.dim() != n or value.dim() != n:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {n}-D but found {key.dim()}-D and {value.dim()}-D "
            "tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != n - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {n - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
        )
    if not batched and attn_mask is not None and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return batched


def _none_or_dtype(input):
    return None if input is None else input.dtype


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as numbers to add: minus infinity where a bool mask is True."""
    if mask is None:
        return None
    if mask.dtype != torch.bool and not torch.is_floating_point(mask):
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    if not torch.is_floating_point(mask):
        mask = torch.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))
    return mask


def _check_mask_size(attn_mask, rows, columns, heads):
    if attn_mask.dim() == 2:
        if attn_mask.shape != (rows, columns):
            raise RuntimeError(
                f"The shape of the 2D attn_mask is {attn_mask.shape}, but should be {(rows, columns)}."
            )
        return attn_mask.unsqueeze(0)
    if attn_mask.dim() == 3:
        if attn_mask.shape != (heads, rows, columns):
            raise RuntimeError(
                f"The shape of the 3D attn_mask is {attn_mask.shape}, but should be {(heads, rows, columns)}."
            )
        return attn_mask
    raise RuntimeError(f"attn_mask's dimension {attn_mask.dim()} is not supported")


def _heads(t, static, name, heads, head_dim):
    """(L, N, E) as (N * heads, L, E / heads), or the static tensor that replaces it."""
    if static is None:
        return t.view(t.shape[0], heads, head_dim).transpose(0, 1)
    if static.size(0) != heads:
        raise AssertionError(f"expecting {name}.size(0) of {heads}, but got {static.size(0)}")
    if static.size(2) != head_dim:
        raise AssertionError(f"expecting {name}.size(2) of {head_dim}, but got {static.size(2)}")
    return static


def _longer(mask):
    return None if mask is None else torch.nn.functional.pad(mask, (0, 1))


def _merge_masks(attn_mask, key_padding_mask, bsz, heads, src_len):
    if key_padding_mask is None:
        return attn_mask
    if key_padding_mask.shape != (bsz, src_len):
        raise AssertionError(
            f"expecting key_padding_mask shape of {(bsz, src_len)}, but got {key_padding_mask.shape}"
        )
    wide = key_padding_mask.view(bsz, 1, 1, src_len).expand(-1, heads, -1, -1).reshape(bsz * heads, 1, src_len)
    return wide if attn_mask is None else attn_mask + wide


def _with_weights(q, k, v, attn_mask, dropout_p):
    """Attention that also gives its weights."""
    functional = torch.nn.functional
    scaled = q * math.sqrt(1.0 / float(q.shape[-1]))
    if attn_mask is not None:
        weights = torch.baddbmm(attn_mask, scaled, k.transpose(-2, -1))
    else:
        weights = torch.bmm(scaled, k.transpose(-2, -1))
    weights = functional.softmax(weights, dim=-1)
    if dropout_p > 0.0:
        weights = functional.dropout(weights, p=dropout_p)
    return torch.bmm(weights, v), weights


@overridable
def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k,
                                 bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True,
                                 key_padding_mask=None, need_weights=True, attn_mask=None,
                                 use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None,
                                 v_proj_weight=None, static_k=None, static_v=None, average_attn_weights=True,
                                 is_causal=False):
    """Attention of several heads: (L, N, E) queries, (S, N, E) keys and values."""
    batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    tgt_len, bsz, embed_dim = query.shape
    src_len = key.shape[0]
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask",
                                       query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        if key_padding_mask is not None:
            is_causal = False
    if embed_dim != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    head_dim = embed_dim // num_heads
    if head_dim * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
        biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = _in_projection(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, *biases)
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    heads = bsz * num_heads
    if attn_mask is not None:
        attn_mask = _check_mask_size(attn_mask, tgt_len, src_len, heads)
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k = torch.cat([k, bias_k.repeat(1, bsz, 1)])
        v = torch.cat([v, bias_v.repeat(1, bsz, 1)])
        attn_mask, key_padding_mask = _longer(attn_mask), _longer(key_padding_mask)
    q = q.view(tgt_len, heads, head_dim).transpose(0, 1)
    k = _heads(k, static_k, "static_k", heads, head_dim)
    v = _heads(v, static_v, "static_v", heads, head_dim)
    if add_zero_attn:
        zeros = (heads, 1, head_dim)
        k = torch.cat([k, torch.zeros(zeros, dtype=k.dtype, device=k.device)], dim=1)
        v = torch.cat([v, torch.zeros(zeros, dtype=v.dtype, device=v.device)], dim=1)
        attn_mask, key_padding_mask = _longer(attn_mask), _longer(key_padding_mask)
    src_len = k.size(1)
    attn_mask = _merge_masks(attn_mask, key_padding_mask, bsz, num_heads, src_len)
    if not training:
        dropout_p = 0.0
    if need_weights:
        if is_causal and attn_mask is None:
            raise AssertionError("FIXME: is_causal not implemented for need_weights")
        out, weights = _with_weights(q, k, v, attn_mask, dropout_p)
        out = out.transpose(0, 1).contiguous().view(tgt_len * bsz, embed_dim)
        out = _linear(out, out_proj_weight, out_proj_bias)
        out = out.view(tgt_len, bsz, out.size(1))
        weights = weights.view(bsz, num_heads, tgt_len, src_len)
        if average_attn_weights:
            weights = weights.mean(dim=1)
        return (out, weights) if batched else (out.squeeze(1), weights.squeeze(0))
    if attn_mask is not None:
        if attn_mask.size(0) == 1 and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.view(bsz, num_heads, -1, src_len)
    q = q.view(bsz, num_heads, tgt_len, head_dim)
    k = k.view(bsz, num_heads, src_len, head_dim)
    v = v.view(bsz, num_heads, src_len, head_dim)
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    out = out.permute(2, 0, 1, 3).contiguous().view(bsz * tgt_len, embed_dim)
    out = _linear(out, out_proj_weight, out_proj_bias)
    out = out.view(tgt_len, bsz, out.size(1))
    return (out if batched else out.squeeze(1)), None
