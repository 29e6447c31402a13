// Gradients of embedding_bag by the weight and by the per-sample weights.
#include <algorithm>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/ops/kernels/planes.h"
#include "engine/ops/nn/embedding_bag.h"

namespace kerf::inline ops {
namespace {

// _embedding_bag_backward(grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights,
//                         scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx)

Result<Value> weightGradShape(const BoundArguments& args) {
  const Tensor& grad = args.tensor(0);
  if (grad.dim() != 2 || !isFloating(grad.dtype())) return mismatch(args, "argument 'grad' must be a float matrix");
  KERF_CHECK(bagMode(args, args.integer(8)));
  if (args.boolean(9)) return fail(ErrorCode::UnsupportedOp, "{}: sparse gradients", args.opName());
  const SymInt rows = args.symInteger(6);
  if (!guardOrTrue(rows >= 0)) return mismatch(args, "argument 'num_weights' is negative");
  return Value(metaTensor(grad.dtype(), SymSizes{rows, grad.symSize(1)}));
}

/// Bag of every index: as recorded by the forward op, or from the offsets where that was empty.
Result<std::vector<std::int64_t>> bagOfIndex(const BoundArguments& args, const Tensor& grad, const Tensor& indices,
                                             const Tensor& offsets, const Tensor& recorded) {
  const auto total = indices.numel();
  std::vector<std::int64_t> bagOf;
  if (recorded.numel() > 0 || total == 0) {
    KERF_TRY(bagOf, integerValues(recorded));
  } else {
    const bool includeLast = offsets.numel() == grad.size(0) + 1;
    KERF_TRY(const Bags bags, readBags(args, indices, offsets, includeLast, std::numeric_limits<std::int64_t>::max()));
    bagOf = bags.bagOf;
  }
  if (std::int64_t(bagOf.size()) != total) return mismatch(args, "offset2bag and indices differ in size");
  for (std::int64_t bag : bagOf)
    if (bag < 0 || bag >= grad.size(0))
      return fail(ErrorCode::RuntimeFailed, "{}: bag {} is outside of the {} bags", args.opName(), bag, grad.size(0));
  return bagOf;
}

Result<void> addMaxima(const BoundArguments& args, const Doubles& grad, Doubles& sums) {
  const std::int64_t width = args.tensor(0).size(1), rows = args.integer(6);
  KERF_TRY(const std::vector<std::int64_t> sizes, integerValues(args.tensor(4)));
  KERF_TRY(const std::vector<std::int64_t> positions, integerValues(args.tensor(5)));
  if (positions.size() != grad.size() || std::int64_t(sizes.size()) != args.tensor(0).size(0))
    return mismatch(args, "bag_size or maximum_indices do not fit the gradient");
  for (std::size_t i = 0; i < grad.size(); ++i) {
    if (sizes[i / std::size_t(width)] == 0) continue;
    KERF_CHECK(checkIndex(args, positions[i], rows, 0));
    sums[std::size_t(positions[i] * width) + i % std::size_t(width)] += grad[i];
  }
  return {};
}

/// Products and sums are kept in the gradient's type.
Result<void> addRows(const BoundArguments& args, const Doubles& grad, Doubles& sums) {
  const DType dtype = args.tensor(0).dtype();
  const std::int64_t width = args.tensor(0).size(1), rows = args.integer(6), padding = args.integer(11);
  KERF_TRY(const std::vector<std::int64_t> indices, integerValues(args.tensor(1)));
  KERF_TRY(const std::vector<std::int64_t> bagOf,
           bagOfIndex(args, args.tensor(0), args.tensor(1), args.tensor(2), args.tensor(3)));
  KERF_TRY(const std::vector<std::int64_t> sizes, integerValues(args.tensor(4)));
  Doubles scale(indices.size(), 1.0);
  if (const Tensor* given = args.tensorIf(10)) {
    KERF_TRY(scale, doublesOf(*given));
    if (scale.size() != indices.size()) return mismatch(args, "per_sample_weights and indices differ in size");
  }
  std::vector<std::int64_t> counts(std::size_t(rows), 0);
  for (std::int64_t index : indices) {
    KERF_CHECK(checkIndex(args, index, rows, 0));
    ++counts[std::size_t(index)];
  }
  const bool mean = args.integer(8) == 1;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] == padding) continue;
    const auto bag = std::size_t(bagOf[i]);
    double factor = scale[i];
    if (args.boolean(7)) factor /= double(counts[std::size_t(indices[i])]);
    if (mean && bag < sizes.size() && sizes[bag] != 0) factor /= double(sizes[bag]);
    factor = roundedTo(dtype, factor);
    for (std::int64_t c = 0; c < width; ++c) {
      double& sum = sums[std::size_t(indices[i] * width + c)];
      const double share = grad[bag * std::size_t(width) + std::size_t(c)];
      sum = roundedTo(dtype, sum + roundedTo(dtype, factor * share));
    }
  }
  return {};
}

Result<Value> weightGradKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  Doubles sums(std::size_t(out.numel()), 0.0);
  if (args.integer(8) == 2)
    KERF_CHECK(addMaxima(args, grad, sums));
  else
    KERF_CHECK(addRows(args, grad, sums));
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

// _embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq,
//                               mode, per_sample_weights, padding_idx): the same with offset2bag always given

BoundArguments withOffsets(const BoundArguments& args) {
  const ValueList& v = args.values;
  return {args.op, {v[0], v[1], v[2], v[2], v[3], v[4], v[5], v[6], v[7], false, v[8], v[9]}};
}
Result<Value> denseGradShape(const BoundArguments& args) { return weightGradShape(withOffsets(args)); }
Result<Value> denseGradKernel(const BoundArguments& args) {
  const BoundArguments full = withOffsets(args);
  KERF_TRY(const Value meta, weightGradShape(full));
  KERF_TRY(Tensor out, allocate(meta.tensor()));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  Doubles sums(std::size_t(out.numel()), 0.0);
  if (full.integer(8) == 2)
    KERF_CHECK(addMaxima(full, grad, sums));
  else
    KERF_CHECK(addRows(full, grad, sums));
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

// _embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, mode, padding_idx)

Result<Value> scaleGradShape(const BoundArguments& args) {
  const Tensor &grad = args.tensor(0), &weight = args.tensor(1);
  if (args.integer(5) != 0) return mismatch(args, "per_sample_weights work with mode 'sum' only");
  if (grad.dim() != 2 || weight.dim() != 2 || !guardOrTrue(grad.symSize(1) == weight.symSize(1)) ||
      args.tensor(2).dim() != 1)
    return mismatch(args, "grad and weight must be matrices of one width, indices of one dimension");
  return Value(metaTensor(grad.dtype(), args.tensor(2).symSizes()));
}

Result<Value> scaleGradKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles weight, doublesOf(args.tensor(1)));
  KERF_TRY(const std::vector<std::int64_t> indices, integerValues(args.tensor(2)));
  KERF_TRY(const std::vector<std::int64_t> bagOf,
           bagOfIndex(args, args.tensor(0), args.tensor(2), args.tensor(3), args.tensor(4)));
  const std::int64_t width = args.tensor(0).size(1);
  Doubles values(indices.size(), 0.0);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    KERF_CHECK(checkIndex(args, indices[i], args.tensor(1).size(0), 0));
    if (indices[i] == args.integer(6)) continue;
    for (std::int64_t c = 0; c < width; ++c)
      values[i] += grad[std::size_t(bagOf[i] * width + c)] * weight[std::size_t(indices[i] * width + c)];
  }
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

constexpr OpRow embeddingBagBackwardRows[] = {
    {"aten::_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, "
     "Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, Tensor? "
     "per_sample_weights, int padding_idx=-1) -> Tensor",
     OpTrait::None, weightGradShape, weightGradKernel},
    {"aten::_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor "
     "maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int "
     "padding_idx=-1) -> Tensor",
     OpTrait::None, denseGradShape, denseGradKernel},
    {"aten::_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, "
     "Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
     OpTrait::None, scaleGradShape, scaleGradKernel},
};

const OpRegistration embeddingBagBackwardOps({.rows = embeddingBagBackwardRows});

}  // namespace

}  // namespace kerf::inline ops
