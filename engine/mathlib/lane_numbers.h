// LaneNumbers: vectors of integers that shuffle vectors of floats. Private to mathlib.
#pragma once

#include "engine/mathlib/vector_of.h"

namespace kerf::inline mathlib {

/// Numbers of lanes, for a shuffle of vectors.
template <class T, int bytes>
struct LaneNumbers;
template <>
struct LaneNumbers<float, 16> { using Type = int __attribute__((vector_size(16))); };
template <>
struct LaneNumbers<float, 32> { using Type = int __attribute__((vector_size(32))); };
template <>
struct LaneNumbers<float, 64> { using Type = int __attribute__((vector_size(64))); };
template <>
struct LaneNumbers<double, 16> { using Type = long long __attribute__((vector_size(16))); };
template <>
struct LaneNumbers<double, 32> { using Type = long long __attribute__((vector_size(32))); };
template <>
struct LaneNumbers<double, 64> { using Type = long long __attribute__((vector_size(64))); };

}  // namespace kerf::inline mathlib
