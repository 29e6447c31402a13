// Higher-order ops: cond, loops, wrappers and flex attention over nested graphs. One table row each. Private to
// engine/ops.
#pragma once

#include <span>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// One call of a higher-order op.
struct HigherOrderCall {
  std::string_view name;  ///< without "torch.ops.higher_order."
  const ValueList& args;
  const KeywordValues& kwargs;
  const SubgraphCaller& subgraphs;
  const OpCaller& ops;
  bool shapesOnly = false;  ///< tensors have no data: conditions are unknown, loops run once

  /// Argument `i`, or the keyword `key`; null when absent.
  const Value* find(std::size_t i, std::string_view key) const;
  /// The path of the nested graph at argument `i`.
  Result<std::string> graph(std::size_t i) const;
  /// Argument `i` as a list; a missing one is empty, a single value a list of one.
  ValueList list(std::size_t i, std::string_view key = {}) const;
  Result<Value> run(std::string_view path, const ValueList& operands) const {
    return subgraphs.callSubgraph(path, operands);
  }
  /// torch.ops.aten.… of the caller's table.
  Result<Value> aten(std::string_view op, const ValueList& operands, const KeywordValues& keywords = {}) const;
  Result<Tensor> atenTensor(std::string_view op, const ValueList& operands, const KeywordValues& keywords = {}) const;
};

struct HigherOrderRow {
  std::string_view name;
  Result<Value> (*run)(const HigherOrderCall&);
};
using HigherOrderRows = std::span<const HigherOrderRow>;

HigherOrderRows loopRows();         ///< cond, while_loop, scan, associative_scan, map
HigherOrderRows wrapperRows();      ///< invoke_subgraph, wrap_*, checkpoint, with_effects, out_dtype, …
HigherOrderRows functionalRows();   ///< auto_functionalized and _v2
HigherOrderRows randomStateRows();  ///< run_and_save_rng_state, run_with_rng_state
HigherOrderRows flexRows();         ///< flex_attention and its backward

/// The row of "torch.ops.higher_order.cond" or "cond"; null if there is none.
const HigherOrderRow* findHigherOrder(std::string_view target);
/// UnsupportedOp with the reason for ops that only a compiler backend can run (Triton kernels).
Result<Value> callHigherOrderOp(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs, const OpCaller& ops, bool shapesOnly);

/// A result as the list of its parts.
ValueList partsOf(const Value& value);
/// Most iterations of one loop.
inline constexpr std::int64_t maximumIterations = 1'000'000;

}  // namespace kerf::inline ops
