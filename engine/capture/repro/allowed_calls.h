// What an export may call: the tables that its writer and its auditor share. Nothing outside of them is ever written.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline capture {

/// Call targets that the user lets through although no table has them (`--allow-call`), by their full dotted names.
using ExtraCalls = std::set<std::string, std::less<>>;

/// Whether `target` ("torch.ops.aten.add.Tensor", "torch.nn.functional.relu", "operator.getitem", "builtins.len") only
/// computes. True for any `torch.ops.NS.OP[.OVERLOAD]` of identifiers, for ops of the op table under all their names,
/// and for the functions of the tables.
bool isAllowedFunction(std::string_view target);
/// Whether `name` is a method of tensors (or of sizes) that only computes.
bool isAllowedMethod(std::string_view name);
/// Whether `name` is a class of torch.nn that `__init__` may construct.
bool isAllowedModule(std::string_view name);
/// Whether no --allow-call may let this target through: it loads or runs code, or its name has a dunder part.
bool isForbiddenCall(std::string_view target);

/// What `--allow-call` was given. BadUsage for what is no dotted name and for targets that may never be called.
Result<ExtraCalls> parseExtraCalls(const std::vector<std::string>& targets);

/// The attributes of tensors, sizes and modules that an expression may read are all but those with leading dunders.
bool isAllowedAttribute(std::string_view name);

}  // namespace kerf::inline capture
