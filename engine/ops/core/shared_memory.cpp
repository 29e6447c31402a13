#include "engine/ops/core/shared_memory.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

/// From the first byte to behind the last, from the start of the memory.
struct Reach {
  SymInt begin, end;
};

Reach reachOf(const Tensor& tensor) {
  const std::int64_t bytes = itemSize(tensor.dtype());
  SymInt last = tensor.symOffset();
  for (std::int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.symSize(d) - 1) * tensor.symStride(d);
  return {tensor.symOffset() * bytes, (last + 1) * bytes};
}

bool isEmpty(const Tensor& tensor) { return guardOrFalse(tensor.symNumel() == 0); }

bool areEqual(const SymSizes& a, const SymSizes& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!a[d].isIdentical(b[d]) && !guardOrFalse(a[d] == b[d])) return false;
  return true;
}

bool areSameElements(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && areEqual(a.symSizes(), b.symSizes()) && areEqual(a.symStrides(), b.symStrides()) &&
         guardOrFalse(a.symOffset() == b.symOffset());
}

bool reachIntoEachOther(const Reach& a, const Reach& b) {
  return guardOrFalse(a.begin < b.end) && guardOrFalse(b.begin < a.end);
}

/// What all steps between elements are multiples of; 0 where there is one element, 1 where that is not known.
std::int64_t commonStep(const Tensor& tensor) {
  std::int64_t step = 0;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.symStride(d).isSymbolic()) return 1;
    if (!guardOrFalse(tensor.symSize(d) < 2)) step = std::gcd(step, tensor.stride(d));
  }
  return step;
}

/// Where its elements lie, in order; empty where sizes are symbols, or where they are very many.
std::vector<std::int64_t> placesOf(const Tensor& tensor) {
  constexpr std::int64_t most = 1 << 16;
  if (tensor.symSizes().isSymbolic() || tensor.symStrides().isSymbolic() || tensor.numel() > most) return {};
  std::vector<std::int64_t> places{tensor.offset()};
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    const std::size_t before = places.size();
    for (std::int64_t i = 1; i < tensor.size(d); ++i)
      for (std::size_t k = 0; k < before; ++k) places.push_back(places[k] + i * tensor.stride(d));
  }
  std::ranges::sort(places);
  return places;
}

bool haveCommon(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return !common.empty();
}

}  // namespace

bool shareMemory(const Tensor& a, const Tensor& b, const OpCaller& ops) {
  if (a.defined() && b.defined()) return a.storage() == b.storage();
  if (a.traced < 0 || b.traced < 0) return false;
  if (a.traced == b.traced) return true;
  const auto* follows = dynamic_cast<const FollowsMemory*>(&ops);
  return follows != nullptr && follows->shareMemory(a, b);
}

Overlap overlapOf(const Tensor& a, const Tensor& b) {
  if (isEmpty(a) || isEmpty(b)) return Overlap::None;
  if (areSameElements(a, b)) return Overlap::Full;
  if (!isNonOverlappingAndDense(a) || !isNonOverlappingAndDense(b)) return Overlap::Unknown;
  const Reach x = reachOf(a), y = reachOf(b);
  if (!reachIntoEachOther(x, y)) return Overlap::None;
  const bool isWhole = guardOrFalse(x.begin == y.begin) && guardOrFalse(x.end == y.end);
  return isWhole && areEqual(a.symStrides(), b.symStrides()) ? Overlap::Full : Overlap::Partial;
}

bool mayMeet(const Tensor& a, const Tensor& b) {
  if (isEmpty(a) || isEmpty(b) || !reachIntoEachOther(reachOf(a), reachOf(b))) return false;
  if (a.dtype() != b.dtype() || a.symOffset().isSymbolic() || b.symOffset().isSymbolic()) return true;
  const std::int64_t step = std::gcd(commonStep(a), commonStep(b));
  if (step != 0 && (a.offset() - b.offset()) % step != 0) return false;
  const auto x = placesOf(a), y = placesOf(b);
  return x.empty() || y.empty() || haveCommon(x, y);
}

}  // namespace kerf::inline ops
