// Moves runs of elements between stored dtypes and the three compute types of the element-wise engine.
#pragma once

#include <cstdint>

#include "engine/tensor/dtype.h"

namespace kerf::inline ops {

/// Type in which the engine computes: float for 16- and 32-bit floats, double, int64 for integers and bool.
enum class ComputeType : std::uint8_t { Float, Double, Int64 };

inline ComputeType computeTypeOf(DType dtype) {
  if (dtype == DType::Float64) return ComputeType::Double;
  return isFloating(dtype) ? ComputeType::Float : ComputeType::Int64;
}
inline DType computeDType(ComputeType type) {
  return type == ComputeType::Float ? DType::Float32 : type == ComputeType::Double ? DType::Float64 : DType::Int64;
}

/// Reads `count` elements, `stride` apart, into a contiguous run of the compute type.
using LoadFunction = void (*)(const void* from, std::int64_t stride, void* to, std::int64_t count);
/// Writes a contiguous run of the compute type to elements `stride` apart.
using StoreFunction = void (*)(const void* from, void* to, std::int64_t stride, std::int64_t count);

/// Null for dtypes without arithmetic (complex, 8-bit floats).
LoadFunction loadFunction(DType from, ComputeType to);
StoreFunction storeFunction(ComputeType from, DType to);

}  // namespace kerf::inline ops
