// WorkingGraph: one graph while passes run on it, and under which hash and snapshot its present state is known. Private
// to the pass manager.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline passes {

class WorkingGraph {
 public:
  /// Works on a copy of `module`.
  explicit WorkingGraph(const GraphModule& module);

  GraphModule& module() { return m_module; }
  Hash128 hash() const { return m_hash; }
  const GraphSnapshot& snapshot() const { return m_snapshot; }

  /// Whether anything was written since the state was last taken.
  bool touched() const { return !(m_module.revision() == m_known); }
  /// Takes what was written as the present state; whether its content differs from the one before.
  bool takeChange();

  /// The working copy of every nested graph that is or was in a module; one graph at two places has one.
  using Pool = std::unordered_map<std::shared_ptr<const GraphModule>, std::shared_ptr<WorkingGraph>>;
  struct Nested {
    std::string name;
    std::shared_ptr<WorkingGraph> graph;
    std::shared_ptr<const GraphModule> inModule;  ///< what the module holds of it
  };
  /// The nested graphs that the module names now.
  const std::vector<Nested>& nested(Pool& pool);
  /// Puts nested graphs that were changed into the module; that alone is no change of this graph.
  void takeNested(Pool& pool);
  /// For `turn`, which grows: true the first time.
  bool isFirstVisit(std::uint64_t turn) { return std::exchange(m_turn, turn) != turn; }

 private:
  /// The module as it is now, for others to hold.
  std::shared_ptr<const GraphModule> published(const std::shared_ptr<WorkingGraph>& self, Pool& pool);

  GraphModule m_module;
  std::uint64_t m_turn = 0;
  // the state that is known
  ModuleRevision m_known;
  GraphSnapshot m_snapshot;
  Hash128 m_hash;
  NamedTable<TensorAttribute> m_attributes;
  NamedTable<Submodule> m_submodules;
  // nested graphs, and what others hold of this one
  std::vector<Nested> m_nested;
  std::uint64_t m_nestedRevision = 0;
  std::shared_ptr<const GraphModule> m_published;
};

}  // namespace kerf::inline passes
