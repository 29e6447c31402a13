// Searches: which elements are members of a set, and between which sorted boundaries they lie.
#include <algorithm>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/kernels/reduction_engine.h"

namespace kerf::inline ops {
namespace {

/// Integers that are compared with integers keep all of their bits: those of both are in V then.
template <class V>
Result<std::vector<V>> elementsOf(const Tensor& tensor) {
  constexpr DType wide = std::is_same_v<V, double> ? DType::Float64 : DType::Int64;
  KERF_TRY(const Tensor converted, tensor.to(wide));
  KERF_TRY(const Tensor flat, converted.contiguous());
  return std::vector<V>(flat.data<V>(), flat.data<V>() + flat.numel());
}

/// As inOrderOf, of the type in which elements of two types are compared.
template <class Body>
auto inCommonOrder(DType a, DType b, Body&& body) {
  const bool areAlike = isIntegral(a) && isIntegral(b) && (a == DType::UInt64) == (b == DType::UInt64);
  return inOrderOf(areAlike ? a : DType::Float64, body);
}

Result<Value> isinShape(const BoundArguments& args) {
  return Value(metaTensor(DType::Bool, args.tensor(0).symSizes()));
}
Result<Value> isinKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const bool invert = args.boolean(3);
  KERF_CHECK(inCommonOrder(args.tensor(0).dtype(), args.tensor(1).dtype(), [&]<class V>(V) -> Result<void> {
    KERF_TRY(const std::vector<V> x, elementsOf<V>(args.tensor(0)));
    KERF_TRY(std::vector<V> set, elementsOf<V>(args.tensor(1)));
    std::erase_if(set, [](V value) { return element::isNan(value); });
    std::ranges::sort(set);
    for (std::size_t i = 0; i < x.size(); ++i)
      out.data<bool>()[i] = (!element::isNan(x[i]) && std::ranges::binary_search(set, x[i])) != invert;
    return {};
  }));
  return Value(std::move(out));
}

// bucketize(self, boundaries) and searchsorted(sorted, self)

/// NaN is behind all boundaries.
template <class V>
std::int64_t bucketOf(const V* begin, const V* end, V x, bool right) {
  const auto isBefore = [right](V boundary, V value) { return right ? !(boundary > value) : !(boundary >= value); };
  return std::lower_bound(begin, end, x, isBefore) - begin;
}

/// Buckets of `x`, of which `perRow` follow one another for each row of `width` boundaries; 0: all have the same row.
template <class V>
Result<std::vector<std::int64_t>> bucketsOf(const Tensor& sequence, const Tensor& x, std::int64_t width,
                                            std::int64_t perRow, bool right) {
  KERF_TRY(const std::vector<V> boundaries, elementsOf<V>(sequence));
  KERF_TRY(const std::vector<V> values, elementsOf<V>(x));
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const V* const begin = boundaries.data() + (perRow == 0 ? 0 : std::int64_t(i) / perRow * width);
    result.push_back(bucketOf(begin, begin + width, values[i], right));
  }
  return result;
}

Result<Value> bucketShape(const BoundArguments& args) {
  const bool bucketize = args.op->schema.name == "aten::bucketize";
  const Tensor& self = args.tensor(bucketize ? 0 : 1);
  return Value(metaTensor(args.boolean(2) ? DType::Int32 : DType::Int64, self.symSizes()));
}

Result<Value> bucketizeKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (args.tensor(1).dim() != 1) return mismatch(args, "argument 'boundaries' must have 1 dimension");
  const Tensor &self = args.tensor(0), &boundaries = args.tensor(1);
  KERF_TRY(const auto result, inCommonOrder(self.dtype(), boundaries.dtype(), [&]<class V>(V) {
             return bucketsOf<V>(boundaries, self, boundaries.numel(), 0, args.boolean(3));
           }));
  KERF_CHECK(writeValues(result, out));
  return Value(std::move(out));
}

Result<Value> searchKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor &sorted = args.tensor(0), &self = args.tensor(1);
  if (sorted.dim() == 0) return mismatch(args, "argument 'sorted_sequence' needs at least one dimension");
  const bool shared = sorted.dim() == 1;
  if (!shared &&
      (self.dim() != sorted.dim() || !std::equal(self.sizes().begin(), self.sizes().end() - 1, sorted.sizes().begin())))
    return mismatch(args, "leading dimensions of sorted_sequence and self must match");
  Tensor sequence = sorted;
  if (const Tensor* sorter = args.tensorIf(5)) {
    if (sorter->sizes() != sorted.sizes()) return mismatch(args, "sorter and sorted_sequence differ in shape");
    KERF_TRY(sequence, callTensorOp("aten.gather.default"_op, {sorted, std::int64_t{-1}, *sorter}));
  }
  const bool right = args.boolean(3) || args.text(4) == "right";
  const std::int64_t width = sorted.sizes().back(), perRow = shared ? 0 : self.sizes().back();
  KERF_TRY(const auto result, inCommonOrder(sequence.dtype(), self.dtype(), [&]<class V>(V) {
             return bucketsOf<V>(sequence, self, width, perRow, right);
           }));
  KERF_CHECK(writeValues(result, out));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow searchRows[] = {
    {"aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) "
     "-> Tensor",
     none, isinShape, isinKernel},
    {"aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
     none, bucketShape, bucketizeKernel},
    {"aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? "
     "side=None, Tensor? sorter=None) -> Tensor",
     none, bucketShape, searchKernel},
};

const OpRegistration searchOps({.rows = searchRows});

}  // namespace

}  // namespace kerf::inline ops
