#include "engine/capture/common/random_data.h"

#include <cmath>
#include <numbers>

#include "engine/support/thread_pool.h"
#include "engine/tensor/convert.h"

namespace kerf::inline capture {
namespace {

/// A counter-based generator: element i needs no state but (seed, i), so threads do not change the result.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// Standard normal by Box and Muller.
double normalAt(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = mix(mix(seed) ^ index);
  const double radius = (double(bits >> 32) + 0.5) * 0x1p-32;
  const double angle = double(bits & 0xffffffffu) * 0x1p-32;
  return std::sqrt(-2.0 * std::log(radius)) * std::cos(2.0 * std::numbers::pi * angle);
}

template <class T>
void fillElements(Storage& storage, std::uint64_t seed) {
  T* elements = reinterpret_cast<T*>(storage.data());
  const std::int64_t count = storage.bytes() / std::int64_t(sizeof(T));
  parallelFor(count, 1 << 14, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) elements[i] = convertElement<T>(normalAt(seed, std::uint64_t(i)));
  });
}

template <class T>
void fillFloat8(Storage& storage, std::uint64_t seed) {
  T* elements = reinterpret_cast<T*>(storage.data());
  parallelFor(storage.bytes(), 1 << 14, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) elements[i] = T(float(Half(float(normalAt(seed, std::uint64_t(i))))));
  });
}

}  // namespace

void fillLikeRandStrided(Storage& storage, DType dtype, std::uint64_t seed) {
  switch (dtype) {
    case DType::Float64:
      return fillElements<double>(storage, seed);
    case DType::Float32:
      return fillElements<float>(storage, seed);
    case DType::Float16:
      return fillElements<Half>(storage, seed);
    case DType::BFloat16:
      return fillElements<BFloat16>(storage, seed);
    case DType::Complex64:
      return fillElements<float>(storage, seed);  // pairs of floats
    case DType::Complex128:
      return fillElements<double>(storage, seed);  // pairs of doubles
    case DType::Float8E4M3FN:
      return fillFloat8<Float8E4M3FN>(storage, seed);
    case DType::Float8E5M2:
      return fillFloat8<Float8E5M2>(storage, seed);
    case DType::Float8E4M3FNUZ:
      return fillFloat8<Float8E4M3FNUZ>(storage, seed);
    case DType::Float8E5M2FNUZ:
      return fillFloat8<Float8E5M2FNUZ>(storage, seed);
    case DType::Float8E8M0FNU:
      return fillFloat8<Float8E8M0FNU>(storage, seed);
    default:
      return;
  }
}

}  // namespace kerf::inline capture
