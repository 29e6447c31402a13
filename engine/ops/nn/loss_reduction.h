// What losses do with the values of single elements or samples.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// The numbers that PyTorch gives them.
enum class LossReduction : std::int64_t { None, Mean, Sum };

inline LossReduction reductionOf(const BoundArguments& args) {
  return static_cast<LossReduction>(args.integer(args.position("reduction")));
}

}  // namespace kerf::inline ops
