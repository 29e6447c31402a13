// embedding_bag: sums, means or maxima of a weight's rows per bag; and embedding_renorm_.
#include "engine/ops/kernels/indexing.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/planes.h"
#include "engine/ops/nn/embedding_bag.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {

Result<BagMode> bagMode(const BoundArguments& args, std::int64_t mode) {
  if (mode < 0 || mode > 2) return mismatch(args, "argument 'mode' must be 0 (sum), 1 (mean) or 2 (max), got {}", mode);
  return static_cast<BagMode>(mode);
}

Result<Bags> readBags(const BoundArguments& args, const Tensor& indices, const Tensor& offsets, bool includeLast,
                      std::int64_t rows) {
  Bags bags;
  KERF_TRY(bags.indices, integerValues(indices));
  KERF_TRY(bags.offsets, integerValues(offsets));
  const auto total = std::int64_t(bags.indices.size());
  for (std::int64_t index : bags.indices) KERF_CHECK(checkIndex(args, index, rows, 0));
  if (!bags.offsets.empty() && bags.offsets[0] != 0)
    return mismatch(args, "argument 'offsets' must start with 0, got {}", bags.offsets[0]);
  for (std::size_t b = 0; b < bags.offsets.size(); ++b)
    if (bags.offsets[b] < (b == 0 ? 0 : bags.offsets[b - 1]) || bags.offsets[b] > total)
      return mismatch(args, "argument 'offsets' must rise to at most {}, got {}", total, bags.offsets[b]);
  if (includeLast) bags.offsets.pop_back();
  bags.bagOf.assign(bags.indices.size(), -1);
  for (std::int64_t b = 0; b < bags.count(); ++b)
    for (std::int64_t i = bags.begin(b); i < bags.end(b); ++i) bags.bagOf[std::size_t(i)] = b;
  return bags;
}

namespace {

// _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
//                padding_idx)

Result<void> checkForward(const BoundArguments& args) {
  const Tensor &weight = args.tensor(0), &indices = args.tensor(1), &offsets = args.tensor(2);
  if (weight.dim() != 2 || !isFloating(weight.dtype()))
    return mismatch(args, "argument 'weight' must be a floating point matrix");
  if (indices.dim() != 1 || offsets.dim() != 1 || !isIntegral(indices.dtype()) || !isIntegral(offsets.dtype()))
    return mismatch(args, "indices and offsets must be integer tensors of one dimension");
  KERF_TRY(const BagMode mode, bagMode(args, args.integer(4)));
  if (const Tensor* scale = args.tensorIf(6)) {
    if (mode != BagMode::Sum) return mismatch(args, "per_sample_weights work with mode 'sum' only");
    if (!checkEqual(scale->symSizes(), indices.symSizes()) || scale->dtype() != weight.dtype())
      return mismatch(args, "per_sample_weights must have the indices' shape and the weight's dtype");
  }
  if (args.boolean(7) && !guardOrTrue(offsets.symSize(0) >= 1))
    return mismatch(args, "include_last_offset needs an offset");
  const std::int64_t padding = args.integer(8);
  if (padding < -1 || !guardOrTrue(padding < weight.symSize(0)))
    return mismatch(args, "padding_idx {} is out of range", padding);
  return {};
}

/// Whether PyTorch sums without recording each index's bag.
bool skipsBagOf(const BoundArguments& args) {
  const Tensor& weight = args.tensor(0);
  const bool fastType =
      weight.dtype() == DType::Float32 || weight.dtype() == DType::Float16 || weight.dtype() == DType::BFloat16;
  const Tensor* scale = args.tensorIf(6);
  return args.integer(4) == 0 && fastType && guardOrFalse(weight.symStride(1) == 1) && args.integer(8) < 0 &&
         (!scale || guardOrFalse(scale->symStride(0) == 1));
}

template <bool forwardOnly>
Result<Value> bagShape(const BoundArguments& args) {
  KERF_CHECK(checkForward(args));
  const Tensor &weight = args.tensor(0), &indices = args.tensor(1), &offsets = args.tensor(2);
  const DType indexType = offsets.dtype();
  const SymInt bags = offsets.symSize(0) - (args.boolean(7) ? 1 : 0), width = weight.symSize(1);
  const SymInt sized = forwardOnly && args.integer(4) == 0 ? offsets.symSize(0) : bags;
  const SymInt recorded = skipsBagOf(args) ? SymInt(0) : indices.symSize(0);
  const SymSizes positions = args.integer(4) == 2 ? SymSizes{bags, width} : SymSizes{sized};
  return Value(ValueList{metaTensor(weight.dtype(), SymSizes{bags, width}), metaTensor(indexType, SymSizes{recorded}),
                         metaTensor(indexType, SymSizes{sized}), metaTensor(indexType, positions)});
}

struct BagResult {
  Doubles values;
  std::vector<std::int64_t> sizes;      ///< per bag; without padding entries
  std::vector<std::int64_t> positions;  ///< max: the row that each value came from
};

struct BagTable {
  const Doubles& weight;
  std::int64_t width;
  std::int64_t padding;
  const Doubles* scale;  ///< per index, or null
};

void sumBag(const BagTable& table, const Bags& bags, std::int64_t b, BagMode mode, BagResult& result) {
  double* out = result.values.data() + b * table.width;
  std::int64_t size = 0;
  for (std::int64_t i = bags.begin(b); i < bags.end(b); ++i) {
    const std::int64_t row = bags.indices[std::size_t(i)];
    if (row == table.padding) continue;
    ++size;
    const double scale = table.scale ? (*table.scale)[std::size_t(i)] : 1;
    for (std::int64_t c = 0; c < table.width; ++c) out[c] += scale * table.weight[std::size_t(row * table.width + c)];
  }
  if (mode == BagMode::Mean)
    for (std::int64_t c = 0; c < table.width && size > 0; ++c) out[c] /= double(size);
  result.sizes[std::size_t(b)] = size;
}

void maximumOfBag(const BagTable& table, const Bags& bags, std::int64_t b, BagResult& result) {
  std::int64_t size = 0;
  for (std::int64_t i = bags.begin(b); i < bags.end(b); ++i) {
    const std::int64_t row = bags.indices[std::size_t(i)];
    if (row == table.padding) continue;
    for (std::int64_t c = 0; c < table.width; ++c) {
      const auto at = std::size_t(b * table.width + c);
      const double x = table.weight[std::size_t(row * table.width + c)];
      if (size > 0 && !(x > result.values[at])) continue;
      result.values[at] = x;
      result.positions[at] = row;
    }
    ++size;
  }
  result.sizes[std::size_t(b)] = size;
}

Result<BagResult> reduceBags(const BoundArguments& args, const Bags& bags) {
  const Tensor& weight = args.tensor(0);
  KERF_TRY(const Doubles rows, doublesOf(weight));
  Doubles scale;
  if (const Tensor* given = args.tensorIf(6)) {
    KERF_TRY(scale, doublesOf(*given));
  }
  const BagTable table{rows, weight.size(1), args.integer(8), args.none(6) ? nullptr : &scale};
  const auto mode = static_cast<BagMode>(args.integer(4));
  const auto cells = std::size_t(bags.count() * table.width);
  BagResult result{Doubles(cells, 0.0), std::vector<std::int64_t>(std::size_t(bags.count()), 0), {}};
  if (mode == BagMode::Max) result.positions.assign(cells, 0);
  for (std::int64_t b = 0; b < bags.count(); ++b)
    mode == BagMode::Max ? maximumOfBag(table, bags, b, result) : sumBag(table, bags, b, mode, result);
  return result;
}

Result<Value> bagKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const Bags bags, readBags(args, args.tensor(1), args.tensor(2), args.boolean(7), args.tensor(0).size(0)));
  KERF_TRY(BagResult result, reduceBags(args, bags));
  KERF_CHECK(writeValues(result.values, outs[0]));
  if (outs[1].numel() > 0) KERF_CHECK(writeValues(bags.bagOf, outs[1]));
  const std::int64_t mode = args.integer(4);
  if (mode == 0) result.sizes.assign(std::size_t(outs[2].numel()), 0);  // PyTorch leaves zeros for sums
  KERF_CHECK(writeValues(result.sizes, outs[2]));
  KERF_CHECK(writeValues(mode == 2 ? result.positions : result.sizes, outs[3]));
  return tensorList(outs);
}

// embedding_renorm_(self, indices, max_norm, norm_type)

Result<Value> renormShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() != 2 || !isFloating(self.dtype())) return mismatch(args, "argument 'self' must be a float matrix");
  if (!isIntegral(args.tensor(1).dtype())) return mismatch(args, "argument 'indices' must be integers");
  return Value(metaTensor(self.dtype(), self.symSizes(), self.symStrides(), self.symOffset()));
}

double rowNorm(const double* row, std::int64_t width, double p) {
  double sum = 0;
  for (std::int64_t c = 0; c < width; ++c) {
    const double x = std::abs(row[c]);
    if (std::isinf(p))
      sum = std::isnan(x) || x > sum ? x : sum;
    else
      sum += p == 0 ? x != 0 : p == 1 ? x : p == 2 ? x * x : std::pow(x, p);
  }
  if (std::isinf(p) || p == 0 || p == 1) return sum;
  return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
}

Result<Value> renormKernel(const BoundArguments& args) {
  KERF_CHECK(renormShape(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(Doubles values, doublesOf(self));
  KERF_TRY(const std::vector<std::int64_t> indices, integerValues(args.tensor(1)));
  const std::int64_t width = self.size(1);
  const double limit = args.number(2);
  for (std::int64_t row : std::set<std::int64_t>(indices.begin(), indices.end())) {
    KERF_CHECK(checkIndex(args, row, self.size(0), 0));
    double* const start = values.data() + row * width;
    const double norm = roundedTo(self.dtype(), rowNorm(start, width, args.number(3)));
    if (!(norm > limit)) continue;
    for (std::int64_t c = 0; c < width; ++c) start[c] *= roundedTo(self.dtype(), limit / (norm + 1e-7));
  }
  KERF_CHECK(writeValues(values, self));
  return args.values[0];
}

#define KERF_BAG(name, shape)                                                                                        \
  {"aten::" name                                                                                                     \
   "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool "                \
   "sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, " \
   "Tensor, Tensor, Tensor)",                                                                                        \
   OpTrait::None, shape, bagKernel}

constexpr OpRow embeddingBagRows[] = {
    KERF_BAG("_embedding_bag", bagShape<false>),
    KERF_BAG("_embedding_bag_forward_only", bagShape<true>),
    {"aten::embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
     OpTrait::Inplace | OpTrait::Impure, renormShape, renormKernel},
};

const OpRegistration embeddingBagOps({.rows = embeddingBagRows});

}  // namespace

}  // namespace kerf::inline ops
