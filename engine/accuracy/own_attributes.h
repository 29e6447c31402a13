// Attributes that a run writes into: each run has its own, so that one run does not see what another one wrote.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/tensor/value.h"

namespace kerf::inline accuracy {

using NamedValues = std::vector<std::pair<std::string, Value>>;

/// Copy of `module` whose attributes `paths` have memory of their own, writable even where the module's is a mapped
/// file. Attributes that share memory share the copy.
Result<GraphModule> withOwnAttributes(const GraphModule& module, const std::vector<std::string>& paths);

/// The tensors at `paths`, as they are now.
NamedValues attributeValues(const GraphModule& module, const std::vector<std::string>& paths);

/// Writes the values that `from` has at `paths` into the memory of `into`, where they differ.
Result<void> restoreAttributes(const GraphModule& from, const GraphModule& into, const std::vector<std::string>& paths);

}  // namespace kerf::inline accuracy
