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

/// Whether `name` is an attribute of tensors, devices and the like that holds data: no method, no module.
bool isAllowedAttribute(std::string_view name);
/// Whether a guard of an exported program may call this method of a size or tensor.
bool isGuardMethod(std::string_view name);

/// Whether the path below `self` ("layers.0.weight") may be read or set: none of its parts has a leading dunder, is the
/// name of a module of Python that runs code, or of something that every torch.nn.Module has.
bool isAllowedSelfPath(std::string_view path);
/// The same for a path that is called: its last part does not load or run code either.
bool isAllowedSelfCall(std::string_view path);

/// Whether expressions of graphs call something by this name without a dot ("len", "tensor", "Max", "Linear"), so that
/// no class or variable of module level may have it.
bool isCalledByName(std::string_view name);

/// A function that calls one of its arguments.
struct CallbackRule {
  std::string_view target;    ///< with its modules
  std::size_t position = 0;   ///< the argument that it calls; npos if none without a keyword
  std::string_view keywords;  ///< of arguments that it calls, with blanks around each
  bool isCalledBy(std::string_view keyword) const;
};
/// The rule for `target`, or null: what it calls may be a subgraph, or be left out, and no function.
const CallbackRule* callbackRule(std::string_view target);

}  // namespace kerf::inline capture
