// A graph in the order that keeps the fewest values alive: inputs stand where they are used, and what is only returned
// is computed as soon as it can be.
//
//     w = placeholder; e = embedding(w, i); … ; y = mm(x, w); s = permute(x); return (y, s, w)
//     e = embedding(w_1, i); … ; s = permute(x); w_2; y = mm(x, w_2); w_3        handed over: s, y, w_3
#pragma once

#include <map>
#include <set>

#include "engine/accuracy/written_memory.h"
#include "engine/ir/graph_module.h"
#include "engine/tensor/value.h"

namespace kerf::inline accuracy {

/// Outputs that are handed over when their nodes have run: positions in the returned list by NodeId::index.
using TakenOutputs = std::map<std::uint32_t, std::vector<std::size_t>>;

/// Call in the order of the members.
class LazyGraph {
 public:
  LazyGraph(GraphModule module, ValueList inputs);
  const GraphModule& module() const { return m_module; }
  /// One for each placeholder as it stands now.
  const ValueList& inputs() const { return m_inputs; }
  const TakenOutputs& taken() const { return m_taken; }
  /// Whether a placeholder or attribute is only read by calls that copy rows of it: those may be converted instead.
  bool isNarrow(NodeId id) const { return m_narrow.contains(id.index); }
  bool copiesRows(NodeId id) const { return m_rowCopies.contains(id.index); }

  /// Forgets outputs, by position in the returned list, and the pure calls that nothing else needs.
  void dropOutputs(const std::set<std::size_t>& positions);
  /// Takes the outputs that may be handed over early out of the return statement.
  void takeOutputs();
  /// Moves pure calls that only the return statement needs, and views that only these need, to what they are made of:
  /// AOTAutograd puts the views that it saves for backward at the end of the graph, where all of their bases would
  /// still be alive.
  void moveReturnedUp();
  /// Gives each use of a large input a placeholder of its own, so that its float64 form does not live from one to the
  /// next: converting it twice costs less than keeping it.
  void splitLargeInputs();
  /// After takeOutputs(): being returned is no use of what was handed over.
  void moveToFirstUses();

 private:
  bool fits() const { return m_fits; }
  std::map<std::uint32_t, std::size_t> positions() const;
  Tensor givenAt(NodeId id) const;
  void split(NodeId id);
  NodeId copyBefore(NodeId id, NodeId anchor);

  GraphModule m_module;
  ValueList m_given;  ///< in the order of the placeholders of the graph as it came
  ValueList m_inputs;
  std::map<std::uint32_t, std::size_t> m_positions;  ///< of placeholders, and copies of them, in m_given
  bool m_fits;                                       ///< there is one input for each placeholder
  WrittenMemory m_written;
  TakenOutputs m_taken;
  std::set<std::uint32_t> m_narrow, m_rowCopies;
};

}  // namespace kerf::inline accuracy
