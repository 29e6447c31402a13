// writeResults: element-wise writes into results that nobody else sees become new results, which loops compute together
// with what reads them. Exported programs keep what models write in place.
//
//     bn = batch_norm(conv); relu_ = relu_(bn); add_ = add_(bn, x)      →      relu_ = relu(bn); add_ = add(relu_, x)
#pragma once

#include "engine/ir/graph_module.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/result.h"

namespace kerf::inline lower {

/// The op that gives as a new result what a call writes into its first argument element by element; null where it is no
/// such call.
const OpInfo* newResultOf(const Node& node);

/// Writes into inputs, attributes and memory that a view looks at stay. Metas and scope as for writeOut().
Result<void> writeResults(GraphModule& module);

}  // namespace kerf::inline lower
