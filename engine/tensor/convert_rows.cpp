#include "engine/tensor/convert_rows.h"

#include "engine/tensor/convert_flat.h"
#include "engine/tensor/simd.h"

namespace kerf::inline tensor {
namespace {

template <class To, class From>
struct ConvertKernel {
  KERF_KERNEL void run(To* to, const From* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = convertFlat<To>(from[i]);
  }
};

template <class To, class From>
void convertRow(std::byte* to, std::int64_t toStep, const std::byte* from, std::int64_t fromStep, std::int64_t count) {
  auto* target = reinterpret_cast<To*>(to);
  const auto* source = reinterpret_cast<const From*>(from);
  if (toStep == 1 && fromStep == 1) return perIsa<ConvertKernel<To, From>>(target, source, count);
  for (std::int64_t i = 0; i < count; ++i) target[i * toStep] = convertFlat<To>(source[i * fromStep]);
}

struct Pair {
  DType to, from;
  RowFunction function;
};
template <class To, class From>
constexpr Pair pair = {dtypeOf<To>(), dtypeOf<From>(), convertRow<To, From>};

constexpr Pair pairs[] = {
    pair<float, BFloat16>,
    pair<BFloat16, float>,
    pair<float, Half>,
    pair<Half, float>,
    pair<double, BFloat16>,
    pair<BFloat16, double>,
    pair<double, Half>,
    pair<Half, double>,
    pair<double, float>,
    pair<float, double>,
    pair<Half, BFloat16>,
    pair<BFloat16, Half>,
    pair<float, bool>,
    pair<double, bool>,
    pair<bool, float>,
    pair<std::int64_t, bool>,
    pair<float, std::int64_t>,
    pair<double, std::int64_t>,
    pair<float, std::int32_t>,
    pair<double, std::int32_t>,
    pair<float, std::uint8_t>,
    pair<float, std::int8_t>,
    pair<std::int64_t, std::int32_t>,
    pair<std::int32_t, std::int64_t>,
    pair<bool, std::int64_t>,
    pair<std::int64_t, std::uint8_t>,
};

}  // namespace

RowFunction vectorRowFunction(DType to, DType from) {
  for (const Pair& row : pairs)
    if (row.to == to && row.from == from) return row.function;
  return nullptr;
}

}  // namespace kerf::inline tensor
