// Passes on the forward and on the backward graph, after autograd, in the order in which they run (manager/pass_table.cpp).
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Assert removal: calls that only say what is known already, or only mark time, go.
///
///     a = addmm(b, x, w); _assert_tensor_metadata(a, None, None, float16); y = relu(a)      →      a = …; y = relu(a)
///
/// aten._assert_tensor_metadata where the tensor's meta says the same (torch._inductor's remove_assert_ops drops all),
/// and profiler.* marks whose results only other marks read (remove_profiler_ops). They keep a value alive and its
/// users from being fused.
Pass removeAssertOpsPass();

/// Small matmul: a product that is bound by memory becomes a multiplication and a sum, which fuse with their neighbours.
///
///     y = mm(a, b)      →      y = sum(mul(unsqueeze(a, 2), unsqueeze(b, 0)), [1])       (a is f32[20000, 8])
///
/// mm, addmm and bmm of many rows and few columns (torch._inductor's decompose_mem_bound_mm with its two limits). Off
/// by default, as there.
Pass decomposeMmPass();

/// Products with int8 weights: a matrix product with converted int8 weights, scaled by column, is one call.
///
///     y = mm(x, permute(convert(w, bf16), [1, 0])) * scales      →      y = _weight_int8pack_mm(x, w, scales)
///
/// Off by default: the product is not rounded to x's dtype before it is scaled. `w` is int8 [n, k], `scales` [n] in x's
/// dtype (torch._inductor's weight-only quantized patterns).
Pass woqInt8Pass();

/// A product of int8 matrices, its conversion and its scale: one call, which never holds the int32 sums as a tensor of
/// the graph (Inductor's force_fuse_int_mm_with_mul, and its smooth-quant pattern on CPUs).
///
///     y = mul(convert(_int_mm(x, w), f32), scales)   →   y = qlinear_pointwise(x, 1, 0, qlinear_prepack(w.t()), scales)
Pass fusedIntMmMulPass();

/// Online softmax: maximum and sum of a softmax in one pass over its row.
///
///     m = amax(x, [-1], True); d = sub(x, m); e = exp(d); s = sum(e, [-1], True)
///         →      p = prepare_softmax_online(x, -1); m = p[0]; s = p[1]; d = sub(x, m); e = exp(d)
///
/// torch._inductor's prepare_softmax_pattern. On CUDA by default, as there: elsewhere no kernel does it in one pass.
Pass onlineSoftmaxPass();

/// Split and cat: pieces that are put together as they were cut are the whole; pieces of a whole that was put together
/// are its parts.
///
///     s = split_with_sizes(x, [2, 3], 1); c = cat([s[0], s[1]], 1)      →      c = x
///     c = cat([a, b], 0); s = split_with_sizes(c, [2, 3]); y = relu(s[1])      →      y = relu(b)
///
/// All pieces of one split, or slices that cover a tensor, in order and along one dimension; and a cat of a cat and its
/// own beginning (torch._inductor's splitwithsizes_cat_replace, cat_splitwithsizes_replace, cat_slice_cat). A part
/// stands in only if it lies in memory as the piece did.
Pass splitwithsizesCatReplacePass();

/// Slice scatters: what was just written into a slice is not read out of it again, nor written over something unread.
///
///     t = slice_scatter(x, a, 0, 2, 4); y = slice(t, 0, 2, 4)               →      y = a
///     t = slice_scatter(x, a, 0, 2, 4); y = slice_scatter(t, b, 0, 2, 4)    →      y = slice_scatter(x, b, 0, 2, 4)
///     y = slice_scatter(x, slice(x, 0, 2, 4), 0, 2, 4)                      →      y = x
///
/// Of one region: dimension, start, end and step, all numbers. Functionalized writes into slices leave such chains.
Pass sliceScattersPass();

/// Addmm unfusing: a bias that can be added in the kernel of what follows is no part of the product.
///
///     a = addmm(b, x, w); y = gelu(a)      →      p = mm(x, w); a = add(b, p); y = gelu(a)
///
/// Where all users of an addmm or baddbmm are pointwise (torch._inductor's unfuse_bias_add_to_pointwise, which knows
/// addmm alone). On CUDA by default, as there: on a CPU the product adds its bias for nothing.
Pass unfuseBiasAddToPointwisePass();

/// Addmm fusion: a product and the sum that alone reads it are one call.
///
///     p = mm(a, b); y = add(p, c)      →      y = addmm(c, a, b)
///
/// mm (to addmm) where the other term is a tensor of the product's dtype that can be expanded to its shape. On the
/// devices that unfuse_bias_add_to_pointwise names, a sum that can be fused with what reads it stays
/// (torch._inductor's addmm and should_prefer_unfused_addmm). With `batches` bmm becomes baddbmm in the
/// same way, which Inductor does not do.
Pass addmmFusionPass();

/// Partial reductions: the extremum of everything is that of the extrema along a dimension.
///
///     p = amax(x, [1]); m = max(x)      →      p = amax(x, [1]); m = max(p)
///
/// amax and max, amin and min, of tensors with at least `min_elements` (torch._inductor's reuse_partial).
Pass reusePartialPass();

/// View moves: tensors are put together first and viewed once, not viewed one by one; of two views around pointwise
/// calls one is left, above them.
///
///     c = cat([view(a, [2, 2, 3]), view(b, [4, 2, 3])])      →      c = view(cat([a, b]), [6, 2, 3])    (a: f32[2, 6])
///     v = view(relu(view(x, [6])), [3, 2])                               →      v = relu(view(x, [3, 2]))
///
/// Below a cat along the first dimension: views that leave its rows whole, each read by the cat alone
/// (torch._inductor's move_view_after_cat). Off by default, as there. Above calls that are read by one call or view
/// each and read no other tensor, where the view then meets another (`above`).
Pass moveViewAfterCatPass();

/// Locality order: a value is computed right before its first use.
///
///     a = exp(x); b = relu(y); c = add(b, 1); d = mul(a, c)      →      b = …; c = …; a = exp(x); d = mul(a, c)
///
/// Shortens how long values live; nothing is moved over a write or a draw of random numbers, nor out of their order
/// (torch._inductor's reorder_for_locality, which it does for inference only). Off by default: Kerf's scheduler chooses
/// an order of its own.
Pass reorderForLocalityPass();

/// Constructor moves: tensors that are made on the CPU and only index others on a device are made there.
///
///     i = iota(8, device=cpu); y = index(x, [i])      →      i = iota(8, device=cuda:0); y = index(x, [i])
///
/// Where the graph has tensors of one other device, x above, and everything that is computed on the CPU from them ends
/// in ops that take tensors of two devices (torch._inductor's move_constructors_to_gpu). Graphs on one device stay as
/// they are; so do random numbers.
Pass moveConstructorsToGpuPass();

/// Reinplacing: an op whose operand dies writes into it.
///
///     z = full([9], 0); y = index_put(z, [i], v)      →      z = full([9], 0); y = index_put_(z, [i], v)
///     y = as_strided_scatter(z, v, [4], [2], 0)       →      w = as_strided(z, [4], [2], 0); copy_(w, v); y = z
///
/// index_put, and the scatters of views: as_strided_scatter and diagonal_scatter always, slice_scatter and
/// select_scatter into inputs whose result the graph copies back (torch._inductor's reinplace_inplaceable_ops). A copy_
/// of a result onto itself goes. Off by default: a write keeps Kerf's kernels from being fused.
Pass reinplaceInplaceableOpsPass();

/// Auto-functionalized calls: the op that writes, on copies of what it writes into, or on that itself where it dies.
///
///     f = auto_functionalized(ns.add_to.default, x=a, y=b); r = f[1]      →      c = clone(a); ns.add_to(c, b); r = c
///
/// auto_functionalized and auto_functionalized_v2 of ops that Kerf has a row for (torch._inductor's
/// decompose_auto_functionalized). With `reinplace` a dying operand is written without a copy. Off by default: the
/// wrapper runs as it is, and writes keep kernels from being fused.
Pass decomposeAutoFunctionalizedPass();

}  // namespace kerf::inline passes
