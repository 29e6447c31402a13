// Python's functions on symbolic numbers: what a graph of sizes computes, as expressions.
#pragma once

#include <optional>

#include "engine/ir/op_caller.h"

namespace kerf::inline ops {

/// Whether some value, or an item of a list among them, is a SymNumber.
bool holdsSymbolic(const ValueList& values);

/// operator.*, torch.sym_*, math.* and the asserts of ATen on numbers of which some are symbolic; none for other
/// targets. Asserts are assumed from then on (runtime asserts). In the scope of a ShapeEnv.
std::optional<Result<Value>> callOnSymbols(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs);

}  // namespace kerf::inline ops
