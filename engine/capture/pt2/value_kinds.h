// ValueKinds: what torch.export's schema wants to know of nodes and Kerf's graph says only in part: types of symbols,
// argument names, whether several results are a list.
#pragma once

#include <string>

#include "engine/capture/pt2/program.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace kerf::inline capture::pt2 {

class ValueKinds {
 public:
  /// `scope` is in front of the graph's node names in the program.
  ValueKinds(const Graph& graph, const Pt2Program* program, std::string scope)
      : m_graph(graph), m_program(program), m_scope(std::move(scope)) {}

  /// Union key of a node's value; empty if it has none that is known (constants, calls that return nothing).
  std::string keyOf(const Node& node) const;
  /// The same from the meta alone: symbols count as integers.
  static std::string keyOfMeta(const ValueMeta& meta);
  std::int64_t layoutOf(const std::string& name) const;
  std::string classOf(const std::string& name) const;
  /// Argument object of an input that is a plain value.
  std::string constantOf(const std::string& name) const;
  /// Name of a positional argument: from the op's schema, else as the archive had it; "" for higher-order ops.
  /// BadInput for ops whose schema nobody knows.
  Result<std::string> argumentName(const Node& node, std::size_t index) const;
  bool returnsList(const Node& node) const;
  bool returnsNothing(const Node& node) const;
  /// Whether a getitem takes a result that is None.
  bool isNoneResult(const Node& node) const;

 private:
  const Graph& m_graph;
  const Pt2Program* m_program;
  std::string m_scope;
};

}  // namespace kerf::inline capture::pt2
