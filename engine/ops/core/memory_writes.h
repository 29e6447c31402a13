// What a graph writes into, by its ops' schemas: placeholders and attributes whose values a run changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Whether a call of `op` writes to the memory of its argument at schema position `i`: "Tensor(a!)", or the first one
/// of an op with the trait Inplace.
bool writesTo(const OpInfo& op, std::size_t i);
/// Whether a result of `op` may look at the memory of its argument at schema position `i`: "Tensor(a)", or the first
/// one of a view.
bool sharesMemory(const OpInfo& op, std::size_t i);
/// Whether a result of `op` may look at the memory of any argument: by its schema, its traits, or although neither says
/// so (atleast_3d, einsum, conj_physical of real numbers).
bool mayShareMemory(const OpInfo& op);
/// The argument that a call binds to schema position `i`, by position or by name; null where it leaves it out.
const Argument* boundArgument(const Node& node, const OpInfo& op, std::size_t i);

/// Calls visit(argument, writes, shares) for every argument that a call writes into or that its result may look at:
/// by its schema; where Python's calls have none, by PyTorch's conventions (operator.iadd, torch.relu_, x.add_, x.view,
/// inplace=True, out=).
void forEachMemoryUse(const Node& node, const std::function<void(const Argument&, bool, bool)>& visit);

/// What a run of a graph writes into.
///
///     slice = k_cache[:, 3:4];  copy_ = copy_(slice, key)      →      placeholders[index of k_cache] is Yes
struct MemoryWrites {
  /// Yes: a schema says so. Maybe: an op without a row, a module or a nested graph that cannot be looked into sees it.
  enum class Answer : unsigned char { No, Maybe, Yes };
  std::vector<Answer> placeholders;                        ///< in their order
  std::vector<std::pair<std::string, Answer>> attributes;  ///< by path, those with Maybe or Yes, in order of first use
};

/// Follows every written argument back through views, in-place results and getitem to where its memory comes from, and
/// into the nested graphs of higher-order ops. Names of methods decide by PyTorch's convention ("add_" writes).
MemoryWrites memoryWrites(const GraphModule& module);

}  // namespace kerf::inline ops
