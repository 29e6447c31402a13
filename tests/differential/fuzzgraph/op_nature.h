// OpNature: what the generator must know of an op so that two right answers cannot differ by more than rounding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ops/core/op_registry.h"

namespace kerf::fuzzgraph {

/// "add" of aten.add_.Tensor, "floor" of aten._foreach_floor_.default.
std::string plainName(const OpInfo& op);

/// Whether a float result is a choice among the float arguments, or exact: nothing is rounded.
bool isExact(const OpInfo& op);

/// Whether a tiny change of a float argument can change the result by a lot: floor, a sign, an eigenvector. Such ops
/// get only arguments that nothing has rounded yet, which are equal on both sides. Comparisons need no line: whatever
/// gives integers or bools from floats counts.
bool isDiscontinuous(const OpInfo& op);

/// Whether PyTorch refuses complex numbers here, which nothing in the table says.
bool refusesComplex(const OpInfo& op);

/// The ops that graphs are made of: every row of the table but those with a reason not to (`whyLeftOut`).
std::vector<const OpInfo*> generatedOps();
/// Empty for ops that take part.
std::string_view whyLeftOut(const OpInfo& op);

}  // namespace kerf::fuzzgraph
