// SeenResults: what the graph's results were on all inputs that were drawn: whether they tell one program from another.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "engine/audit/meaning/number_array.h"
#include "engine/ir/graph_module.h"
#include "engine/tensor/value.h"

namespace kerf::inline audit {

class SeenResults {
 public:
  /// `graph` must outlive it.
  explicit SeenResults(const GraphModule& graph);
  /// `inputs`: placeholders whose dependents are asked for.
  SeenResults(const GraphModule& graph, const std::set<NodeId>& inputs);

  /// The results of one more run.
  void add(const ValueList& outputs);
  /// Empty, or why a program that gives the same may compute something else. `isAgain`: inputs were drawn several times, so
  /// that a single number has changed.
  std::string whyNotTold(std::size_t output, bool isAgain) const;
  /// Whether the result's numbers depend on those of inputs.
  bool isDependent(std::size_t output) const;

 private:
  struct Seen {
    double low = 0, high = 0;
    std::size_t count = 0;
    bool isThere = false, isMostlyThere = false;
    void add(const NumberArray& numbers);
  };

  const GraphModule& m_graph;
  std::map<std::size_t, Seen> m_seen;  ///< by result
  std::set<NodeId> m_dependent;        ///< nodes whose numbers depend on those of inputs
};

}  // namespace kerf::inline audit
