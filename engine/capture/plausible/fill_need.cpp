#include "engine/capture/plausible/fill_need.h"

#include <algorithm>
#include <cmath>

#include "engine/capture/common/random_data.h"
#include "engine/capture/plausible/need_values.h"
#include "engine/support/hash.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/convert.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline capture {
namespace {

constexpr std::int64_t grain = 1 << 14;

template <class T>
void fillElements(Storage& storage, const ElementLaw& law, std::uint64_t seed) {
  T* const elements = reinterpret_cast<T*>(storage.data());
  parallelFor(storage.bytes() / std::int64_t(sizeof(T)), grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) elements[i] = convertElement<T>(law.at(seed, std::uint64_t(i)));
  });
}

/// Rows along one dimension of a strided tensor; a dimension of stride 0 counts once.
struct Rows {
  std::int64_t length = 1, stride = 1, count = 1;
  Sizes outer, outerStrides;

  /// Offset of the first element of row number `row`, in elements.
  std::int64_t begin(std::int64_t row) const {
    std::int64_t offset = 0;
    for (std::size_t d = outer.size(); d-- > 0;) {
      offset += row % outer[d] * outerStrides[d];
      row /= outer[d];
    }
    return offset;
  }
};

Rows rowsOf(const Tensor& tensor, std::int64_t dim) {
  Rows rows;
  const auto rank = std::int64_t(tensor.sizes().size());
  if (rank == 0) return rows;
  if (dim < 0) dim += rank;
  dim = std::clamp<std::int64_t>(dim, 0, rank - 1);
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t stride = tensor.strides()[std::size_t(d)];
    const std::int64_t size =
        stride == 0 ? std::min<std::int64_t>(tensor.sizes()[std::size_t(d)], 1) : tensor.sizes()[std::size_t(d)];
    if (d == dim) {
      rows.length = size;
      rows.stride = stride;
      continue;
    }
    rows.outer.push_back(size);
    rows.outerStrides.push_back(stride);
    rows.count *= size;
  }
  return rows;
}

template <class T>
void fillRows(Tensor& tensor, const ValueNeed& need, const ElementLaw& law, std::uint64_t seed) {
  const Rows rows = rowsOf(tensor, need.dim);
  if (rows.length == 0 || rows.count == 0) return;
  T* const elements = tensor.data<T>();
  // Rows that overlap are filled one after the other, so that the last one wins whatever the threads.
  const bool overlap = rows.count > tensor.storage()->bytes() / std::int64_t(sizeof(T)) / rows.length;
  const std::int64_t least = overlap ? rows.count : std::max<std::int64_t>(grain / rows.length, 1);
  parallelFor(rows.count, least, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> values(std::size_t(rows.length));
    for (std::int64_t row = begin; row < end; ++row) {
      fillRow(need, law, seed, row, values);
      T* const first = elements + rows.begin(row);
      for (std::int64_t i = 0; i < rows.length; ++i) first[i * rows.stride] = convertElement<T>(values[std::size_t(i)]);
    }
  });
}

/// Masks that nothing is known of hide little, and never a whole row.
ValueNeed completed(const ValueNeed& need, DType dtype) {
  if (dtype != DType::Bool || need.pattern != ValueNeed::Pattern::Free || need.hard.bounded()) return need;
  ValueNeed mask = need;
  mask.pattern = ValueNeed::Pattern::Binary;
  return mask;
}

DType partOf(DType dtype) {
  if (dtype == DType::Complex64) return DType::Float32;
  return dtype == DType::Complex128 ? DType::Float64 : dtype;
}

}  // namespace

std::uint64_t seedOfInput(std::uint64_t seed, std::string_view name) { return mixedBits(seed, hashText(name).low); }

void fillAsNeeded(Tensor& tensor, const ValueNeed& given, FillPart part, std::uint64_t seed) {
  if (!tensor.defined() || tensor.storage()->bytes() == 0 || !tensor.inBounds()) return;
  const DType dtype = tensor.dtype();
  const ValueNeed need = completed(given, dtype);
  const ElementLaw law = lawOf(need, dtype);
  const bool isComplexTensor = isComplex(dtype);
  const auto filled = dispatchAll(partOf(dtype), [&]<class T>() {
    if ((isRowwise(need) || part == FillPart::View) && !isComplexTensor)
      fillRows<T>(tensor, need, law, seed);
    else
      fillElements<T>(*tensor.storage(), law, seed);
  });
  if (!filled) fillLikeRandStrided(*tensor.storage(), dtype, seed);  // 8-bit floats
}

}  // namespace kerf::inline capture
