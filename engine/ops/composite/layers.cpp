// Layers as torch.export keeps them (linear, conv2d, attention, …): programs over the ops that they decompose into.
// Source of each decomposition: ATen's CompositeImplicitAutograd functions of the same names.
#include <cmath>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

SymSizes repeated(SymSizes values, std::size_t count) {
  if (values.size() == 1) values.resize(count, values[0]);
  return values;
}

// Products

SymSizes batchOf(const Tensor& tensor) { return {tensor.symSizes().begin(), tensor.symSizes().end() - 2}; }

Result<SymSizes> broadcastBatches(const BoundArguments& args, const SymSizes& a, const SymSizes& b) {
  auto sizes = broadcastSizes(a, b);
  if (!sizes) return mismatch(args, "batches [{}] and [{}] do not broadcast", fmt::join(a, ", "), fmt::join(b, ", "));
  return sizes;
}

/// [batch…, m, k] as [product of batch, m, k] after broadcasting the batch.
Result<Tensor> asBatch(const OpRunner& run, const Tensor& tensor, const SymSizes& batch) {
  SymSizes full = batch;
  full.append(tensor.symSizes().end() - 2, tensor.symSizes().end());
  KERF_TRY(const SymInt count, checkedCount(batch));
  KERF_TRY(Tensor expanded, run("aten.expand.default"_op, {tensor, intList(full)}));
  return run("aten.reshape.default"_op,
             {expanded, intList({count, tensor.symSizes().end()[-2], tensor.symSizes().back()})});
}

Result<Value> batchedProduct(const BoundArguments& args, const OpRunner& run, const Tensor& a, const Tensor& b) {
  KERF_TRY(const SymSizes batch, broadcastBatches(args, batchOf(a), batchOf(b)));
  KERF_TRY(const Tensor left, asBatch(run, a, batch));
  KERF_TRY(const Tensor right, asBatch(run, b, batch));
  KERF_TRY(const Tensor product, run("aten.bmm.default"_op, {left, right}));
  SymSizes full = batch;
  full.push_back(product.symSize(1));
  full.push_back(product.symSize(2));
  return run.value("aten.view.default"_op, {product, intList(full)}, {});
}

Result<Value> product(const BoundArguments& args, const OpRunner& run, const Tensor& a, const Tensor& b) {
  if (a.dim() == 0 || b.dim() == 0) return mismatch(args, "both arguments need at least 1 dimension");
  if (a.dim() == 1 && b.dim() == 1) return run.value("aten.dot.default"_op, {a, b}, {});
  if (a.dim() == 2 && b.dim() == 1) return run.value("aten.mv.default"_op, {a, b}, {});
  if (a.dim() == 2 && b.dim() == 2) return run.value("aten.mm.default"_op, {a, b}, {});
  if (a.dim() == 1) {
    KERF_TRY(const Tensor row, run("aten.unsqueeze.default"_op, {a, std::int64_t{0}}));
    KERF_TRY(const Value wide, product(args, run, row, b));
    return run.value("aten.squeeze.dim"_op, {wide, std::int64_t{-2}}, {});
  }
  if (b.dim() == 1) {
    KERF_TRY(const Tensor column, run("aten.unsqueeze.default"_op, {b, std::int64_t{1}}));
    KERF_TRY(const Value wide, product(args, run, a, column));
    return run.value("aten.squeeze.dim"_op, {wide, std::int64_t{-1}}, {});
  }
  if (b.dim() > 2) return batchedProduct(args, run, a, b);
  // [batch…, m, k] times [k, n]: one product of all rows
  if (guardOrFalse(a.symSizes().back() != b.symSize(0)))
    return mismatch(args, "[…, {}] cannot be multiplied with [{}, …]", a.symSizes().back(), b.symSize(0));
  KERF_TRY(const SymInt rows, checkedCount({a.symSizes().begin(), a.symSizes().end() - 1}));
  KERF_TRY(const Tensor flat, run("aten.reshape.default"_op, {a, intList({rows, b.symSize(0)})}));
  KERF_TRY(const Tensor out, run("aten.mm.default"_op, {flat, b}));
  SymSizes full(a.symSizes().begin(), a.symSizes().end() - 1);
  full.push_back(b.symSize(1));
  return run.value("aten.view.default"_op, {out, intList(full)}, {});
}

Result<Value> matmulProgram(const BoundArguments& args, const OpRunner& run) {
  return product(args, run, args.tensor(0), args.tensor(1));
}

/// linear(input, weight, bias): input · weightᵀ + bias.
Result<Value> linearProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor &input = args.tensor(0), &weight = args.tensor(1);
  const Tensor* bias = args.tensorIf(2);
  if (weight.dim() != 1 && weight.dim() != 2)
    return mismatch(args, "weight needs 1 or 2 dimensions, got {}", weight.dim());
  if (weight.dim() == 1) {
    KERF_TRY(const Value out, product(args, run, input, weight));
    return bias == nullptr ? Result<Value>(out) : run.value("aten.add.Tensor"_op, {out, *bias}, {});
  }
  KERF_TRY(const Tensor turned, run("aten.t.default"_op, {weight}));
  if (bias == nullptr || input.dim() < 2) {
    KERF_TRY(const Value out, product(args, run, input, turned));
    return bias == nullptr ? Result<Value>(out) : run.value("aten.add.Tensor"_op, {out, *bias}, {});
  }
  if (guardOrFalse(input.symSizes().back() != weight.symSize(1)))
    return mismatch(args, "the input's last dimension is {}, the weight's {}", input.symSizes().back(),
                    weight.symSize(1));
  if (input.dim() == 2) return run.value("aten.addmm.default"_op, {*bias, input, turned}, {});
  KERF_TRY(const SymInt rows, checkedCount({input.symSizes().begin(), input.symSizes().end() - 1}));
  KERF_TRY(const Tensor flat, run("aten.reshape.default"_op, {input, intList({rows, weight.symSize(1)})}));
  KERF_TRY(const Tensor out, run("aten.addmm.default"_op, {*bias, flat, turned}));
  SymSizes full(input.symSizes().begin(), input.symSizes().end() - 1);
  full.push_back(weight.symSize(0));
  return run.value("aten.view.default"_op, {out, intList(full)}, {});
}

// Convolutions

struct ConvolutionPlan {
  SymSizes stride, padding, dilation, outputPadding;
  SymInt groups = 1;
  bool transposed = false;
};

/// Convolution over `dims` dimensions; an input without a batch gets one for the while.
Result<Value> convolve(const BoundArguments& args, const OpRunner& run, Tensor input, std::size_t dims,
                       const ConvolutionPlan& plan) {
  const auto rank = std::int64_t(dims) + 2;
  const bool single = input.dim() == rank - 1;
  if (!single && input.dim() != rank)
    return mismatch(args, "input needs {} or {} dimensions, got {}", rank - 1, rank, input.dim());
  if (single) {
    KERF_TRY(input, run("aten.unsqueeze.default"_op, {input, std::int64_t{0}}));
  }
  KERF_TRY(const Value out, run.value("aten.convolution.default"_op,
                                      {input, args.values[1], args.values[2], intList(repeated(plan.stride, dims)),
                                       intList(repeated(plan.padding, dims)), intList(repeated(plan.dilation, dims)),
                                       plan.transposed, intList(repeated(plan.outputPadding, dims)), plan.groups},
                                      {}));
  return single ? run.value("aten.squeeze.dim"_op, {out, std::int64_t{0}}, {}) : Result<Value>(out);
}

/// convNd(input, weight, bias, stride, padding, dilation, groups).
template <std::size_t dims>
Result<Value> convolutionProgram(const BoundArguments& args, const OpRunner& run) {
  return convolve(args, run, args.tensor(0), dims,
                  {args.symSizes(3), args.symSizes(4), args.symSizes(5), {0}, args.symInteger(6), false});
}

/// conv_transposeNd(input, weight, bias, stride, padding, output_padding, groups, dilation).
template <std::size_t dims>
Result<Value> transposedProgram(const BoundArguments& args, const OpRunner& run) {
  return convolve(args, run, args.tensor(0), dims,
                  {args.symSizes(3), args.symSizes(4), args.symSizes(7), args.symSizes(5), args.symInteger(6), true});
}

/// Whether a product of numbers has no int64.
bool overflows(SymInt a, SymInt b) {
  std::int64_t product = 0;
  return !a.isSymbolic() && !b.isSymbolic() && __builtin_mul_overflow(a.bits(), b.bits(), &product);
}

/// convNd.padding(input, weight, bias, stride, str padding, dilation, groups): "valid" or "same".
template <std::size_t dims>
Result<Value> paddedConvolutionProgram(const BoundArguments& args, const OpRunner& run) {
  const std::string mode = args.text(4);
  const SymSizes dilation = repeated(args.symSizes(5), dims);
  ConvolutionPlan plan{args.symSizes(3), SymSizes(dims, 0), dilation, {0}, args.symInteger(6), false};
  if (mode == "valid") return convolve(args, run, args.tensor(0), dims, plan);
  const Tensor& weight = args.tensor(1);
  if (mode != "same" || weight.dim() != std::int64_t(dims) + 2 || dilation.size() != dims)
    return mismatch(args, "padding is '{}', expected 'valid' or 'same'", mode);
  SymSizes uneven(2 * dims, 0);  // what the right side gets more than the left, last dimension first
  bool symmetric = true;
  for (std::size_t d = 0; d < dims; ++d) {
    const SymInt reach = weight.symSize(std::int64_t(d) + 2) - 1, total = dilation[d] * reach;
    if (overflows(dilation[d], reach) || guardOrFalse(total < 0))
      return mismatch(args, "dilation {} cannot be padded", dilation[d]);
    const SymInt rest = floorMod(total, 2);
    plan.padding[d] = floorDiv(total, 2);
    uneven[2 * (dims - 1 - d) + 1] = rest;
    symmetric = symmetric && guardOrFalse(rest == 0);
  }
  if (symmetric) return convolve(args, run, args.tensor(0), dims, plan);
  KERF_TRY(const Tensor padded,
           run("aten.constant_pad_nd.default"_op, {args.tensor(0), intList(uneven), std::int64_t{0}}));
  return convolve(args, run, padded, dims, plan);
}

// Normalisation

Result<Value> layerNormProgram(const BoundArguments& args, const OpRunner& run) {
  return run.first("aten.native_layer_norm.default"_op,
                   {args.values[0], args.values[1], args.values[2], args.values[3], args.values[4]}, {});
}

/// batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled).
Result<Value> batchNormProgram(const BoundArguments& args, const OpRunner& run) {
  return run.first("aten.native_batch_norm.default"_op, ValueList(args.values.begin(), args.values.begin() + 8), {});
}

/// group_norm(input, num_groups, weight, bias, eps, cudnn_enabled).
Result<Value> groupNormProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  if (input.dim() < 2) return mismatch(args, "input needs at least 2 dimensions, got {}", input.dim());
  KERF_TRY(const SymInt positions, checkedCount({input.symSizes().begin() + 2, input.symSizes().end()}));
  KERF_TRY(const Tensor plain, run("aten.contiguous.default"_op, {input}));
  return run.first("aten.native_group_norm.default"_op,
                   {plain, args.values[2], args.values[3], input.symSize(0), input.symSize(1), positions,
                    args.values[1], args.values[4]},
                   {});
}

/// rms_norm(input, normalized_shape, weight, eps): x · rsqrt(mean(x²) + eps) · weight, computed in float at least.
Result<Value> rmsNormProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  const auto count = std::int64_t(args.symSizes(1).size());
  if (count == 0 || count > input.dim()) return mismatch(args, "normalized_shape does not fit the input");
  Sizes dims;
  for (std::int64_t d = 0; d < count; ++d) dims.push_back(input.dim() - count + d);
  const DType wide = itemSize(input.dtype()) < 4 ? DType::Float32 : input.dtype();
  const double epsilon = wide == DType::Float64 ? 0x1p-52 : 0x1p-23;
  KERF_TRY(const Tensor x, run("aten._to_copy.default"_op, {input}, {{"dtype", wide}}));
  KERF_TRY(const Tensor squares, run("aten.mul.Tensor"_op, {x, x}));
  KERF_TRY(const Tensor mean, run("aten.mean.dim"_op, {squares, intList(dims), true}));
  KERF_TRY(const Tensor shifted, run("aten.add.Scalar"_op, {mean, args.numberIf(3).value_or(epsilon)}));
  KERF_TRY(const Tensor inverse, run("aten.rsqrt.default"_op, {shifted}));
  KERF_TRY(Tensor out, run("aten.mul.Tensor"_op, {x, inverse}));
  if (args.tensorIf(2) != nullptr) {
    KERF_TRY(out, run("aten.mul.Tensor"_op, {out, args.values[2]}));
  }
  return run.value("aten._to_copy.default"_op, {out}, {{"dtype", input.dtype()}});
}

// Dropout, pooling

/// dropout(input, p, train): the input itself when not training.
Result<Value> dropoutProgram(const BoundArguments& args, const OpRunner& run) {
  const double p = args.number(1);
  if (!(p >= 0 && p <= 1)) return mismatch(args, "p is {}, it must lie between 0 and 1", p);
  if (!args.boolean(2) || p == 0) return args.values[0];
  return run.first("aten.native_dropout.default"_op, {args.values[0], p, true}, {});
}

Result<Value> inplaceDropoutProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value out, dropoutProgram(args, run));
  return run.value("aten.copy_.default"_op, {args.values[0], out}, {});
}

template <int dims>
Result<Value> maxPoolProgram(const BoundArguments& args, const OpRunner& run) {
  return run.first(dims == 2 ? "aten.max_pool2d_with_indices.default"_op : "aten.max_pool3d_with_indices.default"_op,
                   args.values, {});
}

/// One-dimensional pooling as two-dimensional pooling over a dimension of one.
Result<Value> maxPool1Program(const BoundArguments& args, const OpRunner& run) {
  const auto two = [&](std::size_t i, std::int64_t first) {
    const Sizes values = args.sizes(i);
    return values.empty() ? intList({}) : intList({first, values[0]});
  };
  KERF_TRY(const Tensor flat, run("aten.unsqueeze.default"_op, {args.values[0], std::int64_t{-2}}));
  KERF_TRY(const Value out, run.first("aten.max_pool2d_with_indices.default"_op,
                                      {flat, two(1, 1), two(2, 1), two(3, 0), two(4, 1), args.values[5]}, {}));
  return run.value("aten.squeeze.dim"_op, {out, std::int64_t{-2}}, {});
}

// Attention

/// The mask to add to the scores, of the query's dtype; none where nothing is masked.
Result<Value> additiveMask(const BoundArguments& args, const OpRunner& run) {
  const Tensor &query = args.tensor(0), &key = args.tensor(1);
  Value mask = args.values[3];
  if (args.boolean(5)) {
    if (!mask.isNone()) return mismatch(args, "attn_mask and is_causal exclude each other");
    const SymSizes shape{query.symSizes().end()[-2], key.symSizes().end()[-2]};
    KERF_TRY(const Value ones, run.value("aten.full.default"_op, {intList(shape), true}, {{"dtype", DType::Bool}}));
    KERF_TRY(mask, run.value("aten.tril.default"_op, {ones}, {}));
  }
  if (mask.isNone() || mask.tensor().dtype() != DType::Bool) return mask;
  KERF_TRY(const Value zeros,
           run.value("aten.full.default"_op, {intList(mask.tensor().symSizes()), 0.0}, {{"dtype", query.dtype()}}));
  KERF_TRY(const Value hidden, run.value("aten.logical_not.default"_op, {mask}, {}));
  return run.value("aten.masked_fill.Scalar"_op, {zeros, hidden, -HUGE_VAL}, {});
}

/// Keys and values repeated for groups of query heads.
Result<Tensor> groupedHeads(const BoundArguments& args, const OpRunner& run, std::size_t which) {
  const Tensor &query = args.tensor(0), &heads = args.tensor(which);
  if (!args.boolean(7)) return heads;
  const SymInt wanted = query.symSizes().end()[-3];
  const SymInt given = heads.dim() < 3 ? SymInt(0) : heads.symSizes().end()[-3];
  if (guardOrFalse(given <= 0) || guardOrFalse(floorMod(wanted, given) != 0))
    return mismatch(args, "{} query heads cannot share {} key heads", wanted, given);
  KERF_TRY(const Tensor apart, run("aten.unsqueeze.default"_op, {heads, std::int64_t{-3}}));
  SymSizes sizes = apart.symSizes();
  sizes.end()[-3] = floorDiv(wanted, given);
  KERF_TRY(const Tensor wide, run("aten.expand.default"_op, {apart, intList(sizes)}));
  SymSizes joined = heads.symSizes();
  joined.end()[-3] = wanted;
  return run("aten.reshape.default"_op, {wide, intList(joined)});
}

/// The scale that is given, or one over the root of the heads' size.
Result<Value> scaleOf(const BoundArguments& args, const OpRunner& run) {
  if (!args.none(6)) return Value(args.number(6));
  const SymInt width = args.tensor(0).symSizes().back();
  if (!width.isSymbolic()) return Value(1 / std::sqrt(double(width.bits())));
  KERF_TRY(const Value real, run.value("torch.sym_float", {width}));
  KERF_TRY(const Value root, run.value("math.sqrt", {real}));
  return run.value("operator.truediv", {1.0, root});
}

/// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, *, scale, enable_gqa): the math
/// form; a row that sees nothing gives zeros.
Result<Value> attentionProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& query = args.tensor(0);
  if (query.dim() < 2 || args.tensor(1).dim() < 2 || args.tensor(2).dim() < 2)
    return mismatch(args, "query, key and value need at least 2 dimensions");
  if (args.boolean(7) && query.dim() < 3) return mismatch(args, "enable_gqa needs at least 3 dimensions");
  KERF_TRY(const Tensor key, groupedHeads(args, run, 1));
  KERF_TRY(const Tensor value, groupedHeads(args, run, 2));
  KERF_TRY(const Value scale, scaleOf(args, run));
  KERF_TRY(const Tensor turned, run("aten.transpose.int"_op, {key, std::int64_t{-2}, std::int64_t{-1}}));
  KERF_TRY(const Value scores, product(args, run, query, turned));
  KERF_TRY(Value logits, run.value("aten.mul.Scalar"_op, {scores, scale}, {}));
  KERF_TRY(const Value mask, additiveMask(args, run));
  if (!mask.isNone()) {
    KERF_TRY(logits, run.value("aten.add.Tensor"_op, {logits, mask}, {}));
  }
  KERF_TRY(Value weights, run.value("aten._softmax.default"_op, {logits, std::int64_t{-1}, false}, {}));
  if (!mask.isNone()) {  // softmax of a row of -inf is NaN
    KERF_TRY(const Value nothing, run.value("aten.eq.Scalar"_op, {logits, -HUGE_VAL}, {}));
    KERF_TRY(const Value all, run.value("aten.all.dim"_op, {nothing, std::int64_t{-1}, true}, {}));
    KERF_TRY(weights, run.value("aten.masked_fill.Scalar"_op, {weights, all, 0.0}, {}));
  }
  if (args.number(4) > 0) {
    KERF_TRY(weights, run.first("aten.native_dropout.default"_op, {weights, args.values[4], true}, {}));
  }
  return product(args, run, weights.tensor(), value);
}

constexpr OpTrait heavy = OpTrait::Matmul;
constexpr OpTrait conv = OpTrait::Convolution;

#define KERF_CONV(n)                                                                                                   \
  compositeRow(convolutionProgram<n>,                                                                                  \
               "aten::conv" #n "d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[" #n "] stride=1, SymInt[" #n \
               "] padding=0, SymInt[" #n "] dilation=1, SymInt groups=1) -> Tensor",                                   \
               conv),                                                                                                  \
      compositeRow(paddedConvolutionProgram<n>,                                                                        \
                   "aten::conv" #n "d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[" #n              \
                   "] stride=1, str padding=\"valid\", SymInt[" #n "] dilation=1, SymInt groups=1) -> Tensor",         \
                   conv)

constexpr OpRow layerRows[] = {
    compositeRow(matmulProgram, "aten::matmul(Tensor self, Tensor other) -> Tensor", heavy),
    compositeRow(linearProgram, "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", heavy),
    KERF_CONV(1),
    KERF_CONV(2),
    KERF_CONV(3),
    compositeRow(transposedProgram<1>,
                 "aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] "
                 "stride=1, SymInt[1] padding=0, SymInt[1] output_padding=0, SymInt groups=1, "
                 "SymInt[1] dilation=1) -> Tensor",
                 conv),
    compositeRow(transposedProgram<2>,
                 "aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, "
                 "SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt "
                 "groups=1, SymInt[2] dilation=1) -> Tensor",
                 conv),
    compositeRow(transposedProgram<3>,
                 "aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, "
                 "SymInt[3] stride=1, SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt "
                 "groups=1, SymInt[3] dilation=1) -> Tensor",
                 conv),
    compositeRow(layerNormProgram,
                 "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
                 "Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor"),
    compositeRow(batchNormProgram,
                 "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
                 "Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) "
                 "-> Tensor",
                 OpTrait::Impure),
    compositeRow(groupNormProgram,
                 "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? "
                 "bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor"),
    compositeRow(rmsNormProgram,
                 "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? "
                 "eps=None) -> Tensor"),
    compositeRow(dropoutProgram, "aten::dropout(Tensor(a) input, float p, bool train) -> Tensor(a)", OpTrait::Random),
    compositeRow(inplaceDropoutProgram, "aten::dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
                 OpTrait::Random | OpTrait::Inplace | OpTrait::Impure),
    compositeRow(maxPool1Program,
                 "aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, "
                 "int[1] dilation=1, bool ceil_mode=False) -> Tensor"),
    compositeRow(maxPoolProgram<2>,
                 "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
                 "padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor"),
    compositeRow(maxPoolProgram<3>,
                 "aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
                 "padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor"),
    compositeRow(attentionProgram,
                 "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
                 "attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, "
                 "bool enable_gqa=False) -> Tensor",
                 heavy),
};

const OpRegistration layerOps({.rows = layerRows});

}  // namespace

}  // namespace kerf::inline ops
