// OpCaller: how the Interpreter reaches kernels without knowing them. Implemented by engine/ops.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/op_id.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline ir {

using KeywordValues = std::vector<std::pair<std::string, Value>>;

/// What is called: its number, where the name has one, and its text for what has none and for messages.
struct OpTarget {
  OpId id;
  std::string_view text;  ///< must outlive the call

  OpTarget(OpId op) : id(op), text(opName(op)) {}                              // NOLINT: an op is its name
  OpTarget(std::string_view target) : id(knownOp(target)), text(target) {}     // NOLINT
  OpTarget(const std::string& target) : OpTarget(std::string_view(target)) {}  // NOLINT
  OpTarget(const char* target) : OpTarget(std::string_view(target)) {}         // NOLINT
  OpTarget(OpId op, std::string_view target) : id(op), text(target) {}
};

/// Runs nested graphs for higher-order ops. A path is what the node's get_attr gave ("true_graph_0").
class SubgraphCaller {
 public:
  virtual ~SubgraphCaller() = default;
  /// The nested graph's output, as Interpreter::run gives it. TooLarge when graphs nest or run without end.
  virtual Result<Value> callSubgraph(std::string_view path, const ValueList& args) const = 0;
};

class OpCaller {
 public:
  virtual ~OpCaller() = default;
  /// Runs `target` ("torch.ops.aten.add.Tensor", "operator.getitem"). Tuple results come back as one list Value.
  /// UnsupportedOp when unknown; ShapeMismatch with op, argument and expectation otherwise.
  /// A slice arrives as the list {"slice", start, stop, step}, `...` as the string "...", a dict as a list of pairs.
  virtual Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const = 0;
  /// Runs "torch.ops.higher_order.…": nested graphs arrive as their paths. By default none is known.
  virtual Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                        const SubgraphCaller& subgraphs) const;
};

}  // namespace kerf::inline ir
