// Sizes that only running the graph gives: unbacked symbols where a ShapeEnv is at work.
#pragma once

#include "engine/ops/core/op_call.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {

/// A fresh "u<n>" from `least` to `most` (none: without end; 0: there is nothing to find). UnsupportedOp outside of a
/// ShapeEnv.
inline Result<SymInt> sizeFromData(const BoundArguments& args, std::optional<SymInt> most, SymInt least = 0) {
  ShapeEnv* env = ShapeEnv::current();
  if (env == nullptr) return fail(ErrorCode::UnsupportedOp, "{}: the shape depends on values", args.opName());
  if (most && staticallyKnown(*most == 0)) return SymInt(0);
  ValueRange range{least.isSymbolic() ? env->range(least).lower : std::int64_t{least}};
  if (most) range.upper = most->isSymbolic() ? env->range(*most).upper : std::int64_t{*most};
  return env->addUnbacked(range);
}

}  // namespace kerf::inline ops
