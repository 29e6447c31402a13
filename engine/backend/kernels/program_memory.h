// plannedMemory(): how many bytes a program's own values take at every step, as it was planned.
#pragma once

#include <span>

#include "engine/backend/backend.h"

namespace kerf::inline backend {

/// One row per step, in order: the arena, storages of their own, results of extern kernels and packed filters that live
/// while it runs; what an extern kernel needs for itself is not in it.
std::vector<StepMemory> plannedMemory(const Program& program);

/// Bytes that every run takes at once for the arena and storages of their own, whatever its inputs are.
std::int64_t heldBytes(const Program& program);

}  // namespace kerf::inline backend
