#include "engine/tensor/copy.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>

#include "engine/tensor/convert.h"
#include "engine/tensor/convert_rows.h"
#include "engine/tensor/strided_loop.h"

namespace kerf::inline tensor {
namespace {

constexpr std::int64_t parallelGrain = 1 << 15;
constexpr std::int64_t tile = 32;  ///< rows and columns moved together by a transposing copy

template <class To, class From>
void convertRow(std::byte* to, std::int64_t toStep, const std::byte* from, std::int64_t fromStep, std::int64_t count) {
  auto* target = reinterpret_cast<To*>(to);
  const auto* source = reinterpret_cast<const From*>(from);
  if (toStep == 1 && fromStep == 1) {
    if constexpr (std::is_same_v<To, From>)
      std::memcpy(target, source, std::size_t(count) * sizeof(To));
    else
      for (std::int64_t i = 0; i < count; ++i) target[i] = convertElement<To>(source[i]);
    return;
  }
  if (fromStep == 0) return (void)[&] {
      const To value = convertElement<To>(source[0]);
      for (std::int64_t i = 0; i < count; ++i) target[i * toStep] = value;
    }
  ();
  for (std::int64_t i = 0; i < count; ++i) target[i * toStep] = convertElement<To>(source[i * fromStep]);
}

// The 8-bit floats are only stored and converted, so they are known here and not to dispatchAll.
using Float8Types = TypeList<Float8E4M3FN, Float8E5M2, Float8E4M3FNUZ, Float8E5M2FNUZ, Float8E8M0FNU>;
constexpr DType firstFloat8 = DType::Float8E4M3FN;

template <class Body, class... Types>
bool dispatchFloat8(DType dtype, Body& body, TypeList<Types...>) {
  int row = int(firstFloat8);
  return ((row++ == int(dtype) ? (body.template operator()<Types>(), true) : false) || ...);
}

template <class Body>
Result<void> dispatchEvery(DType dtype, Body&& body) {
  if (dispatchFloat8(dtype, body, Float8Types{})) return {};
  return dispatchAllAndComplex(dtype, body);
}

Result<RowFunction> rowFunction(DType to, DType from) {
  RowFunction found = vectorRowFunction(to, from);
  if (found != nullptr) return found;
  if (to == from) {
    KERF_CHECK(dispatchBits(itemSize(from), [&]<class T>() { found = convertRow<T, T>; }));
    return found;
  }
  Result<void> inner;
  KERF_CHECK(dispatchEvery(
      from, [&]<class From>() { inner = dispatchEvery(to, [&]<class To>() { found = convertRow<To, From>; }); }));
  if (!inner) return std::unexpected(inner.error());
  return found;
}

/// One copy with its dimensions in the destination's memory order, outermost first, merged where both sides allow it.
struct CopyPlan {
  struct Dim {
    std::int64_t size, to, from;
  };
  std::vector<Dim> dims;

  CopyPlan(const Tensor& source, const Tensor& destination) {
    std::vector<Dim> all;
    for (std::size_t d = 0; d < source.sizes().size(); ++d)
      if (source.sizes()[d] != 1) all.push_back({source.sizes()[d], destination.strides()[d], source.strides()[d]});
    std::ranges::stable_sort(all, [](const Dim& a, const Dim& b) { return a.to > b.to; });
    for (const Dim& dim : all) {
      if (!dims.empty() && dims.back().to == dim.to * dim.size && dims.back().from == dim.from * dim.size)
        dims.back() = {dims.back().size * dim.size, dim.to, dim.from};
      else
        dims.push_back(dim);
    }
    if (dims.empty()) dims.push_back({1, 1, 1});
  }

  /// The dimension along which the source is contiguous while the destination is not, if a copy in tiles pays.
  std::size_t transposedDim() const {
    const std::size_t last = dims.size() - 1;
    if (dims[last].to != 1 || dims[last].from <= 1 || dims[last].size < 4) return last;
    for (std::size_t d = 0; d < last; ++d)
      if (dims[d].from == 1 && dims[d].size >= 4) return d;
    return last;
  }
};

/// Elements of one width, read along `from`'s contiguous dimension and written along `to`'s, tile by tile.
template <class T>
void transposeTile(T* to, std::int64_t toRow, const T* from, std::int64_t fromColumn, std::int64_t rows,
                   std::int64_t columns) {
  T buffer[tile][tile];
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) buffer[r][c] = from[c * fromColumn + r];
  for (std::int64_t r = 0; r < rows; ++r) std::memcpy(to + r * toRow, buffer[r], std::size_t(columns) * sizeof(T));
}

template <class T>
void transposeCopy(const CopyPlan& plan, std::size_t rowDim, T* to, const T* from) {
  const CopyPlan::Dim row = plan.dims[rowDim], column = plan.dims.back();
  Sizes sizes, toStrides, fromStrides;
  for (std::size_t d = 0; d + 1 < plan.dims.size(); ++d) {
    if (d == rowDim) continue;
    sizes.push_back(plan.dims[d].size);
    toStrides.push_back(plan.dims[d].to);
    fromStrides.push_back(plan.dims[d].from);
  }
  // Two more dimensions for the tiles, innermost; the loop's step along them is a whole tile.
  const std::int64_t rowTiles = (row.size + tile - 1) / tile, columnTiles = (column.size + tile - 1) / tile;
  const std::int64_t tiles = rowTiles * columnTiles;
  const StridedLoop<2> outer(sizes, {toStrides, fromStrides});
  std::vector<std::array<std::int64_t, 2>> bases;
  outer.forRows([&](const auto& at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      bases.push_back({at[0] + i * outer.innerStrides()[0], at[1] + i * outer.innerStrides()[1]});
  });
  const auto total = std::int64_t(bases.size()) * tiles;
  parallelFor(total, std::max<std::int64_t>(1, parallelGrain / (tile * tile)),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) {
                  const auto& base = bases[std::size_t(i / tiles)];
                  const std::int64_t r = i % tiles / columnTiles * tile, c = i % columnTiles * tile;
                  transposeTile(to + base[0] + r * row.to + c, row.to, from + base[1] + r + c * column.from,
                                column.from, std::min(tile, row.size - r), std::min(tile, column.size - c));
                }
              });
}

}  // namespace

Result<void> copyElements(const Tensor& source, const Tensor& destination) {
  if (source.sizes() != destination.sizes())
    return fail(ErrorCode::ShapeMismatch, "cannot copy [{}] into [{}]", fmt::join(source.sizes(), ", "),
                fmt::join(destination.sizes(), ", "));
  if (source.numel() == 0) return {};
  KERF_TRY(const RowFunction convert, rowFunction(destination.dtype(), source.dtype()));
  const std::int64_t toSize = itemSize(destination.dtype()), fromSize = itemSize(source.dtype());
  std::byte* to = destination.storage()->data() + destination.offset() * toSize;
  const std::byte* from = source.storage()->data() + source.offset() * fromSize;
  const CopyPlan plan(source, destination);
  const std::size_t row = plan.transposedDim();
  if (row + 1 < plan.dims.size() && source.dtype() == destination.dtype())
    return dispatchBits(toSize, [&]<class T>() {
      transposeCopy(plan, row, reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from));
    });
  Sizes sizes, toStrides, fromStrides;
  for (const auto& dim : plan.dims) {
    sizes.push_back(dim.size);
    toStrides.push_back(dim.to);
    fromStrides.push_back(dim.from);
  }
  const StridedLoop<2> loop(sizes, {toStrides, fromStrides});
  const auto [toStep, fromStep] = loop.innerStrides();
  loop.forRowsParallel(parallelGrain, [=, toStep = toStep, fromStep = fromStep](const auto& at, std::int64_t count) {
    convert(to + at[0] * toSize, toStep, from + at[1] * fromSize, fromStep, count);
  });
  return {};
}

}  // namespace kerf::inline tensor
