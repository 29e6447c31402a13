// Histograms: counts or weight sums per bin, in one or several dimensions, with bin edges given or spread evenly.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait none = OpTrait::None;

/// Positions of the arguments that the ops have in different places; -1 where an op lacks one.
struct Layout5 {
  int range, weight, density;
};

/// Samples as rows of `dims` coordinates.
struct Samples {
  std::int64_t count = 0, dims = 1;
  Doubles values;
};

Result<void> checkSelf(const BoundArguments& args) {
  const DType dtype = args.tensor(0).dtype();
  if (dtype != DType::Float32 && dtype != DType::Float64)
    return mismatch(args, "argument 'self' must be float32 or float64, got {}", dtypeInfo(dtype).torchName);
  return {};
}

Result<void> checkWeight(const BoundArguments& args, std::size_t at, const SymSizes& sizes) {
  const Tensor* weight = args.tensorIf(at);
  if (!weight) return {};
  if (weight->dtype() != args.tensor(0).dtype() || !checkEqual(weight->symSizes(), sizes))
    return mismatch(args, "argument 'weight' must be {} of shape [{}]", dtypeInfo(args.tensor(0).dtype()).torchName,
                    fmt::join(sizes, ", "));
  return {};
}

/// Lowest and highest edge per dimension: the range given, the samples' extremes, or 0 to 1 without samples; widened by
/// one half to both sides where they coincide.
Result<std::vector<std::pair<double, double>>> outerEdges(const BoundArguments& args, std::size_t rangeAt,
                                                          const Samples& samples) {
  std::vector<std::pair<double, double>> edges(std::size_t(samples.dims), {0.0, 1.0});
  if (const Value& range = args.values[rangeAt]; range.isList()) {
    const ValueList& list = range.list();
    if (list.size() != 2 * edges.size())
      return mismatch(args, "argument 'range' needs {} entries, got {}", 2 * edges.size(), list.size());
    for (std::size_t d = 0; d < edges.size(); ++d)
      edges[d] = {*list[2 * d].as<double>(), *list[2 * d + 1].as<double>()};
  } else {
    for (std::size_t i = 0; i < samples.values.size(); ++i) {
      auto& [low, high] = edges[i % edges.size()];
      const double x = samples.values[i];
      if (i < edges.size()) low = high = x;
      if (std::isnan(x) || x < low) low = x;
      if (std::isnan(x) || x > high) high = x;
    }
  }
  for (auto& [low, high] : edges) {
    if (!std::isfinite(low) || !std::isfinite(high) || low > high)
      return mismatch(args, "bin range [{}, {}] is not finite or not rising", low, high);
    if (low == high) {
      low -= 0.5;
      high += 0.5;
    }
  }
  return edges;
}

Result<Tensor> evenEdges(DType dtype, std::pair<double, double> outer, std::int64_t bins) {
  return callTensorOp("aten.linspace.default"_op, {outer.first, outer.second, bins + 1}, {{"dtype", dtype}});
}

Result<std::vector<Doubles>> readEdges(const BoundArguments& args, const std::vector<Tensor>& edges) {
  std::vector<Doubles> result;
  for (const Tensor& tensor : edges) {
    KERF_TRY(Doubles values, doublesOf(tensor));
    if (values.empty()) return mismatch(args, "bin edges have no elements");
    result.push_back(std::move(values));
  }
  return result;
}

/// Flat bin of a sample, or -1 outside; every bin holds its lower edge, the last one its upper edge too.
std::int64_t binOf(const double* sample, const std::vector<Doubles>& edges) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < edges.size(); ++d) {
    const Doubles& axis = edges[d];
    if (!(sample[d] >= axis.front() && sample[d] <= axis.back())) return -1;
    const auto bins = std::int64_t(axis.size()) - 1;
    const std::int64_t bin = std::ranges::upper_bound(axis, sample[d]) - axis.begin() - 1;
    if (bins == 0) return -1;
    flat = flat * bins + std::min(bin, bins - 1);
  }
  return flat;
}

/// Divides by the total and by every bin's extent.
void toDensity(Doubles& counts, const std::vector<Doubles>& edges) {
  double total = 0;
  for (double count : counts) total += count;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] /= total;
    std::size_t rest = i;
    for (std::size_t d = edges.size(); d-- > 0;) {
      const std::size_t bins = edges[d].size() - 1, bin = rest % bins;
      rest /= bins;
      counts[i] /= edges[d][bin + 1] - edges[d][bin];
    }
  }
}

Result<Tensor> fillHistogram(const BoundArguments& args, const Samples& samples, const std::vector<Tensor>& edgeTensors,
                             const Layout5& at) {
  KERF_TRY(const std::vector<Doubles> edges, readEdges(args, edgeTensors));
  Sizes sizes;
  for (const Doubles& axis : edges) sizes.push_back(std::int64_t(axis.size()) - 1);
  KERF_TRY(Tensor out, Tensor::zeros(args.tensor(0).dtype(), sizes));
  Doubles weights(std::size_t(samples.count), 1.0);
  if (const Tensor* weight = args.tensorIf(std::size_t(at.weight))) {
    KERF_TRY(weights, doublesOf(*weight));
  }
  Doubles counts(std::size_t(out.numel()), 0.0);
  for (std::int64_t i = 0; i < samples.count; ++i)
    if (const std::int64_t bin = binOf(samples.values.data() + i * samples.dims, edges); bin >= 0) {
      double& count = counts[std::size_t(bin)];
      count = roundedTo(out.dtype(), count + weights[std::size_t(i)]);  // kept in the tensor's type
    }
  if (args.boolean(std::size_t(at.density))) toDensity(counts, edges);
  KERF_CHECK(writeValues(counts, out));
  return out;
}

// histogram.bin_ct(self, bins, *, range, weight, density); histogram.bins_tensor(self, bins, *, weight, density)

constexpr Layout5 countLayout{2, 3, 4};
constexpr Layout5 tensorLayout{-1, 2, 3};

Result<Value> countShape(const BoundArguments& args) {
  KERF_CHECK(checkSelf(args));
  KERF_CHECK(checkWeight(args, 3, args.tensor(0).symSizes()));
  const std::int64_t bins = args.integer(1);
  if (bins < 1 || bins > (1LL << 40)) return mismatch(args, "argument 'bins' must be positive, got {}", bins);
  const DType dtype = args.tensor(0).dtype();
  return Value(ValueList{metaTensor(dtype, Sizes{bins}), metaTensor(dtype, Sizes{bins + 1})});
}

Result<Value> countKernel(const BoundArguments& args) {
  KERF_CHECK(countShape(args));
  Samples samples{args.tensor(0).numel(), 1, {}};
  KERF_TRY(samples.values, doublesOf(args.tensor(0)));
  KERF_TRY(const auto outer, outerEdges(args, 2, samples));
  KERF_TRY(const Tensor edges, evenEdges(args.tensor(0).dtype(), outer[0], args.integer(1)));
  KERF_TRY(const Tensor counts, fillHistogram(args, samples, {edges}, countLayout));
  return Value(ValueList{counts, edges});
}

Result<Value> tensorShape(const BoundArguments& args) {
  KERF_CHECK(checkSelf(args));
  KERF_CHECK(checkWeight(args, 2, args.tensor(0).symSizes()));
  const Tensor& bins = args.tensor(1);
  const DType dtype = args.tensor(0).dtype();
  if (bins.dim() != 1 || guardOrFalse(bins.symSize(0) < 1) || bins.dtype() != dtype)
    return mismatch(args, "argument 'bins' must be a sequence of edges of self's dtype");
  return Value(ValueList{metaTensor(dtype, SymSizes{bins.symSize(0) - 1}), metaTensor(dtype, bins.symSizes())});
}

Result<Value> tensorKernel(const BoundArguments& args) {
  KERF_CHECK(tensorShape(args));
  Samples samples{args.tensor(0).numel(), 1, {}};
  KERF_TRY(samples.values, doublesOf(args.tensor(0)));
  KERF_TRY(const Tensor counts, fillHistogram(args, samples, {args.tensor(1)}, tensorLayout));
  KERF_TRY(const Tensor edges, args.tensor(1).clone());
  return Value(ValueList{counts, edges});
}

// _histogramdd_bin_edges, _histogramdd_from_bin_cts (self, int[] bins, *, range, weight, density),
// _histogramdd_from_bin_tensors (self, Tensor[] bins, *, weight, density): self is [..., dims]

Result<void> checkSamples(const BoundArguments& args, std::size_t bins, std::size_t weightAt) {
  KERF_CHECK(checkSelf(args));
  const Tensor& self = args.tensor(0);
  if (self.dim() < 2) return mismatch(args, "argument 'self' needs at least 2 dimensions, got {}", self.dim());
  if (guardOrFalse(self.symSizes().back() != std::int64_t(bins)) || bins == 0)
    return mismatch(args, "{} bin counts for samples of {} coordinates", bins, self.symSizes().back());
  return checkWeight(args, weightAt, SymSizes(self.symSizes().begin(), self.symSizes().end() - 1));
}

Result<Samples> readSamples(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  Samples samples;
  samples.dims = self.sizes().back();
  samples.count = self.numel() / std::max<std::int64_t>(samples.dims, 1);
  KERF_TRY(samples.values, doublesOf(self));
  return samples;
}

Result<Sizes> binCounts(const BoundArguments& args) {
  const Sizes bins = args.sizes(1);
  KERF_CHECK(checkSamples(args, bins.size(), 3));
  for (std::int64_t count : bins)
    if (count < 1 || count > (1LL << 40)) return mismatch(args, "argument 'bins' must be positive, got {}", count);
  return bins;
}

Result<Value> edgesShape(const BoundArguments& args) {
  KERF_TRY(const Sizes bins, binCounts(args));
  ValueList metas;
  for (std::int64_t count : bins) metas.emplace_back(metaTensor(args.tensor(0).dtype(), Sizes{count + 1}));
  return Value(std::move(metas));
}

Result<std::vector<Tensor>> edgesOf(const BoundArguments& args, const Samples& samples) {
  KERF_TRY(const Sizes bins, binCounts(args));
  KERF_TRY(const auto outer, outerEdges(args, 2, samples));
  std::vector<Tensor> edges;
  for (std::size_t d = 0; d < bins.size(); ++d) {
    KERF_TRY(Tensor axis, evenEdges(args.tensor(0).dtype(), outer[d], bins[d]));
    edges.push_back(std::move(axis));
  }
  return edges;
}

Result<Value> edgesKernel(const BoundArguments& args) {
  KERF_CHECK(edgesShape(args));
  KERF_TRY(const Samples samples, readSamples(args));
  KERF_TRY(std::vector<Tensor> edges, edgesOf(args, samples));
  return tensorList(std::move(edges));
}

Result<Value> countsShape(const BoundArguments& args) {
  KERF_TRY(const Sizes bins, binCounts(args));
  return Value(metaTensor(args.tensor(0).dtype(), bins));
}

Result<Value> countsKernel(const BoundArguments& args) {
  KERF_CHECK(runShapeRule(args));
  KERF_TRY(const Samples samples, readSamples(args));
  KERF_TRY(const std::vector<Tensor> edges, edgesOf(args, samples));
  KERF_TRY(Tensor out, fillHistogram(args, samples, edges, countLayout));
  return Value(std::move(out));
}

Result<Value> fromTensorsShape(const BoundArguments& args) {
  const std::vector<Tensor> edges = args.tensors(1);
  KERF_CHECK(checkSamples(args, edges.size(), 2));
  SymSizes sizes;
  for (const Tensor& axis : edges) {
    if (axis.dim() != 1 || guardOrFalse(axis.symSize(0) < 1) || axis.dtype() != args.tensor(0).dtype())
      return mismatch(args, "argument 'bins' must be sequences of edges of self's dtype");
    sizes.push_back(axis.symSize(0) - 1);
  }
  return Value(metaTensor(args.tensor(0).dtype(), sizes));
}

Result<Value> fromTensorsKernel(const BoundArguments& args) {
  KERF_CHECK(runShapeRule(args));
  KERF_TRY(const Samples samples, readSamples(args));
  KERF_TRY(Tensor out, fillHistogram(args, samples, args.tensors(1), tensorLayout));
  return Value(std::move(out));
}

#define KERF_BIN_OPTIONS "*, float[]? range=None, Tensor? weight=None, bool density=False"

constexpr OpRow histogramRows[] = {
    {"aten::histogram.bin_ct(Tensor self, int bins=100, " KERF_BIN_OPTIONS ") -> (Tensor hist, Tensor bin_edges)", none,
     countShape, countKernel},
    {"aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor "
     "hist, Tensor bin_edges)",
     none, tensorShape, tensorKernel},
    {"aten::_histogramdd_bin_edges(Tensor self, int[] bins, " KERF_BIN_OPTIONS ") -> Tensor[]", none, edgesShape,
     edgesKernel},
    {"aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, " KERF_BIN_OPTIONS ") -> Tensor", none, countsShape,
     countsKernel},
    {"aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> "
     "Tensor",
     none, fromTensorsShape, fromTensorsKernel},
};

const OpRegistration histogramOps({.rows = histogramRows});

}  // namespace

}  // namespace kerf::inline ops
