// Calls that have no row in the op table: Python's functions as graphs name them, and higher-order ops over nested
// graphs. Both are programs over the table and stand in folders above this one; engine/ops/calls_without_row.cpp names
// them.
#pragma once

#include "engine/ir/op_caller.h"

namespace kerf::inline ops {

struct CallsWithoutRow {
  /// Whether a name may be one of Python's: "method.view", "torch.conv2d".
  bool (*isPython)(std::string_view target);
  Result<Value> (*python)(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                          const OpCaller& ops);
  /// `shapesOnly`: tensors have no data.
  Result<Value> (*higherOrder)(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                               const SubgraphCaller& subgraphs, const OpCaller& ops, bool shapesOnly);
};
const CallsWithoutRow& callsWithoutRow();

}  // namespace kerf::inline ops
