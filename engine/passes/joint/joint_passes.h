// Passes on the joint graph, in the order in which they run (manager/pass_table.cpp).
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Uniform folding: a tensor whose elements are all one known number becomes aten.full, whatever made it.
///
///     o = full([4], 1.0); f = mul(o, 3); e = expand(view(f, [1, 4]), [2, 4])      →      e = full([2, 4], 3.0)
///
/// Follows one number through creation, pointwise ops, views, expand and slice, computed in the op's own dtype
/// (torch._inductor's constant_fold_uniform_value). x * 0 counts for integers only: NaN and infinities are not lost.
/// Left alone: symbolic sizes, tensors that are not row-major, unsigned and complex ones, mutated memory, and outputs
/// that share memory with others.
Pass constantFoldUniformValuePass();

/// View cleanup: chains of views become one view, or none.
///
///     v = view(view(x, [6]), [3, 2]); p = permute(permute(y, [1, 0]), [1, 0])      →      v = view(x, [3, 2]); p = y
///
/// view of view, permute of permute, expand of expand; unsqueeze then squeeze of the same dimension. A chain is only
/// shortened where the short one is a view too, with the same strides (torch._inductor's pointless_view,
/// pointless_view_pair, pointless_permute_pair).
Pass pointlessViewPass();

/// Conversion chains: of two dtype conversions in a row, the first goes where it loses nothing.
///
///     w = convert_element_type(x, float32); y = convert_element_type(w, bfloat16)      →      y = x      (x is bf16)
///
/// Among float16, bfloat16, float32 and float64 (torch._inductor's pointless_convert). A first conversion that rounds
/// stays: Inductor drops it unless emulate_precision_casts is set; so does the option `drop_rounding`.
Pass pointlessConvertPass();

/// Uniform cumsum: the running sum of equal numbers is a multiple of the position.
///
///     f = full([8], 1, dtype=int64); c = cumsum(f, 0)      →      c = iota(8, start=1, step=1)
///
/// Position masks of language models begin so (torch._inductor's pointless_cumsum_replacement). Floating-point sums are
/// replaced only where every partial sum is exact.
Pass pointlessCumsumReplacementPass();

/// Single batch matmul: a product of batches of one is a product of matrices.
///
///     y = bmm(a, b)      →      y = unsqueeze(mm(squeeze(a, 0), squeeze(b, 0)), 0)         (a is f32[1, 4, 8])
///
/// torch._inductor's bmm_to_mm. On CUDA by default, as there; `devices` says on which.
Pass bmmToMmPass();

/// Scatter to where: one number scattered into a uniform tensor, one place a row, is a comparison of positions.
///
///     f = full([8, 100], 0); s = scatter(f, 1, target, -1)
///         →      s = where(eq(expand(target), view(iota(100), [1, 100])), -1, 0)
///
/// The gradient of a cross entropy begins so; as a comparison it fuses with what reads it (torch._inductor's
/// scatter_upon_const_tensor). The index must have one place along `dim` and all of the other dimensions.
Pass scatterUponConstTensorPass();

/// Softmax rescaling: the maximum of a softmax is taken before the scores are scaled, not after.
///
///     s = mul(x, 0.125); y = sub(s, amax(s, [-1], True))      →      y = mul(sub(x, amax(x, [-1], True)), 0.125)
///
/// Scaled once, the maximum is subtracted from itself exactly (torch._inductor's mul_softmax_pattern and
/// div_softmax_pattern). The factor is a finite Python number other than 0, or a tensor that is one number along what
/// is reduced; a negative one turns the maximum's sign. A conversion after the scaling is looked through. Off by
/// default: values change in the last digits.
Pass mulSoftmaxPatternPass();

/// Matmul padding: factors of a product whose sizes are odd for tensor cores get rows and columns of zeros.
///
///     y = mm(a, b)  with a: f16[1024, 1023]      →      y = mm(pad(a, [0, 1]), pad(b, [0, 0, 0, 1]))
///
/// mm and bmm of fixed sizes, where one of them is no multiple of what the dtype asks for (8 for 16 bits, 4 for
/// float32) and the product has at least `min_intensity` multiplications for each element that is copied for it
/// (torch._inductor's pad_mm, which measures too). The result keeps sizes and strides.
Pass padMmPass();

/// Bernoulli as comparison: draws of 0 and 1 become uniform numbers that are compared with the probability, which fuses.
///
///     y = bernoulli(x, p=0.3)      →      y = convert(lt(rand(x.shape), 0.3), x.dtype)
///
/// Off by default: these are other numbers than eager's for the same generator (`inductor_numbers`).
Pass replaceBernoulliPass();

/// Random replacement: random tensors become numbers that a seed and their position give, so that they may be computed
/// anywhere, and again. All seeds of a device are drawn at once.
///
///     a = rand([4]); b = randn([8])
///       →      s = inductor_seeds(2, cpu); a = inductor_random([4], inductor_lookup_seed(s, 0), "rand")
///              b = inductor_random([8], inductor_lookup_seed(s, 1), "randn")
///
/// Off by default: these are other numbers than eager's for the same generator (`inductor_numbers`). Of float32,
/// row-major tensors (torch._inductor's replace_random).
Pass replaceRandomPass();

}  // namespace kerf::inline passes
