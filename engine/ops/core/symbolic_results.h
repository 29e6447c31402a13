// Symbolic texts for computed sizes: of arithmetic on symbolic integers, and of shapes that follow the symbols. Private
// to engine/ops.
#pragma once

#include <functional>
#include <optional>

#include "engine/ir/graph_module.h"
#include "engine/support/result.h"

namespace kerf::inline ops {

/// The expression of a node that computes an integer from symbolic ones (sym_size, operator.*, torch.sym_*), if its
/// arguments have expressions and it agrees with `hint`.
std::optional<SymExpr> symbolicResult(const Graph& graph, const Node& node, std::int64_t hint);

/// Sizes and strides that were computed from hints become expressions where they follow the placeholders' symbols:
/// `propagate` runs again with other values for each symbol; a number that changes is fitted with an expression (affine
/// in the symbols, or a product of sizes), which must also be right for one more set of values. Nothing happens in
/// graphs without symbols, or above 20 symbols.
void labelSymbolicShapes(GraphModule& module, const std::function<Result<void>(GraphModule&)>& propagate);

}  // namespace kerf::inline ops
