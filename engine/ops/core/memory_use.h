// What one call does to memory, by its op's schema: which arguments it writes into, which its result may look at.
#pragma once

#include <functional>
#include <string_view>

#include "engine/ir/graph.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Whether a call of `op` writes to the memory of its argument at schema position `i`: "Tensor(a!)", or the first one
/// of an op with the trait Inplace.
bool writesTo(const OpInfo& op, std::size_t i);
/// Whether a result of `op` may look at the memory of its argument at schema position `i`: "Tensor(a)", or the first
/// one of a view, or any tensor where mayReturnArgument().
bool sharesMemory(const OpInfo& op, std::size_t i);
/// Whether the one result of `op`, or every item of the list that it is, looks at the memory of its argument at schema
/// position `i`: what views and in-place calls give. Not of an op that updates statistics or noise beside its result.
bool resultLooksAt(const OpInfo& op, std::size_t i);
/// Whether a result of `op` may be a view of an argument, or the argument itself, though neither schema nor traits say
/// so: atleast_3d, einsum, chain_matmul of one matrix, conj_physical of real numbers. It may as well be new.
bool mayReturnArgument(const OpInfo& op);
/// Whether a result of `op` may look at the memory of any argument: by its schema, its traits, or mayReturnArgument().
bool mayShareMemory(const OpInfo& op);
/// The argument that a call binds to schema position `i`, by position or by name; null where it leaves it out.
const Argument* boundArgument(const Node& node, const OpInfo& op, std::size_t i);

/// Calls visit(argument, writes, shares) for every argument that a call writes into or that its result may look at:
/// by its schema; where Python's calls have none, by PyTorch's conventions (operator.iadd, torch.relu_, x.add_, x.view,
/// inplace=True, out=).
void forEachMemoryUse(const Node& node, const std::function<void(const Argument&, bool, bool)>& visit);

/// Batch norms move their running statistics in training, which the schemas of the older ones do not say
/// (native_batch_norm, batch_norm, cudnn_batch_norm).
bool updatesStatistics(const OpInfo& op, std::size_t i);
/// Whether ATen has a view of that name ("transpose"), for tensor methods.
bool isViewMethod(std::string_view name);
/// Whether a call without a row changes its first argument: impure by its name, not for what it does elsewhere
/// (torch.manual_seed, with_effects).
bool changesFirst(const Node& node);
/// `inplace=True` among the keywords.
bool asksForInplace(const Node& node);
/// `out=` of one of PyTorch's own ops, which write nothing else; null for others.
const Argument* outOfTorch(const Node& node);

}  // namespace kerf::inline ops
