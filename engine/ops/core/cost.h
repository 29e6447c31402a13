// What a call costs to run again: floating point operations, and whether recomputing it is worth a thought.
#pragma once

#include <optional>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// The min-cut partitioner's classes of nodes.
enum class RecomputeCost : std::uint8_t {
  Free,              ///< views: no memory is written
  Fusible,           ///< pointwise: part of the kernel that needs it
  Reads,             ///< reductions and moves: reads its inputs again
  ComputeIntensive,  ///< GEMM, convolution, attention: better saved than recomputed
  Never,             ///< random draws and effects
};

RecomputeCost recomputeCostOf(const OpInfo& op);

/// Floating point operations of one call, a multiplication with its addition counting two, as
/// torch.utils.flop_counter counts them; results are one Value per schema return. By the op's formula; without one,
/// pointwise ops count one per element of the result, reductions one per element read, views none. Nothing where
/// neither is known.
std::optional<double> flopsOf(const BoundArguments& args, const ValueList& results);

}  // namespace kerf::inline ops
