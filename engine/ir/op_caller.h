// OpCaller: how the Interpreter reaches kernels without knowing them. Implemented by engine/ops.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline ir {

using KeywordValues = std::vector<std::pair<std::string, Value>>;

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
  virtual Result<Value> call(std::string_view target, const ValueList& args, const KeywordValues& kwargs) const = 0;
  /// Runs "torch.ops.higher_order.…": nested graphs arrive as their paths. By default none is known.
  virtual Result<Value> callHigherOrder(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                                        const SubgraphCaller& subgraphs) const;
};

}  // namespace kerf::inline ir
