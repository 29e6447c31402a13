// From the saved values to the two graphs.
#include <algorithm>

#include "engine/partition/graph_plan.h"
#include "engine/partition/partition.h"
#include "engine/partition/random_draws.h"
#include "engine/partition/saved_symbols.h"

namespace kerf::inline partition {

namespace {

/// Saved values by what the graphs pass on: tensors, objects, symbolic numbers.
struct Passed {
  std::vector<int> tensors, objects, symbols;
};

Passed sorted(const JointGraph& joint, const std::vector<int>& saved) {
  Passed passed;
  for (const int place : saved) {
    const SavedKind kind = joint.nodes[std::size_t(place)].kind;
    if (kind == SavedKind::SymInt || kind == SavedKind::SymFloat)
      passed.symbols.push_back(place);
    else
      (kind == SavedKind::Opaque ? passed.objects : passed.tensors).push_back(place);
  }
  return passed;
}

void append(std::vector<int>& into, const std::vector<int>& more) { into.insert(into.end(), more.begin(), more.end()); }

class PartitionBuilder {
 public:
  PartitionBuilder(const JointGraph& joint, const CutSolution& solution)
      : m_joint(joint), m_solution(solution), m_passed(sorted(joint, solution.saved)) {}

  Result<Partition> run() {
    KERF_CHECK(dropUnused());
    m_passed.symbols = withBoundSymbols(m_joint, m_passed.symbols, m_passed.tensors);
    KERF_TRY(GraphPlan forward, planGraph(m_joint, m_joint.inputs, forwardOutputs(), GraphSide::Forward));
    KERF_TRY(GraphPlan backward, planGraph(m_joint, backwardInputs(), m_joint.backwardOutputs, GraphSide::Backward));
    orderLikeAutograd(m_joint, backward);
    raiseGetitems(m_joint, forward);
    raiseGetitems(m_joint, backward);
    Partition partition;
    KERF_TRY(partition.forward, buildGraph(m_joint, forward));
    KERF_TRY(partition.backward, buildGraph(m_joint, backward));
    describe(partition, forward, backward);
    KERF_CHECK(repeatRandomDraws(partition));
    return partition;
  }

 private:
  /// What the backward graph does not use in the end is not saved.
  Result<void> dropUnused() {
    KERF_TRY(const GraphPlan plan, planGraph(m_joint, backwardInputs(), m_joint.backwardOutputs, GraphSide::Backward));
    const std::vector<bool> used = usedPlaces(m_joint, plan);
    const auto isUnused = [&](int place) { return !used[std::size_t(place)]; };
    for (auto* places : {&m_passed.tensors, &m_passed.objects, &m_passed.symbols}) std::erase_if(*places, isUnused);
    return {};
  }

  std::vector<int> inputsOf(JointInput kind) const {
    std::vector<int> places;
    for (int place = 0; place < int(m_joint.nodes.size()); ++place) {
      const Node& node = m_joint.node(place);
      if (node.op() == Opcode::Placeholder && jointInputOf(node) == kind) places.push_back(place);
    }
    return places;
  }

  std::vector<int> backwardInputs() const {
    std::vector<int> places = m_passed.symbols;
    append(places, m_passed.tensors);
    append(places, m_passed.objects);
    append(places, inputsOf(JointInput::Tangent));
    append(places, inputsOf(JointInput::BackwardSeed));
    return places;
  }

  std::vector<Argument> forwardOutputs() const {
    std::vector<Argument> outputs = m_joint.forwardOutputs;
    for (const auto* places : {&m_passed.tensors, &m_passed.objects, &m_passed.symbols})
      for (const int place : *places) outputs.emplace_back(m_joint.nodes[std::size_t(place)].id);
    return outputs;
  }

  std::string ruleOf(int place) const {
    const std::string_view rule = m_solution.bans.rules[std::size_t(place)];
    return std::string(rule.empty() ? "min_cut" : rule);
  }

  void describe(Partition& partition, const GraphPlan& forward, const GraphPlan& backward) const {
    partition.forwardOutputs = m_joint.forwardOutputs.size();
    for (const int place : m_passed.tensors) {
      const std::int64_t bytes = m_joint.nodes[std::size_t(place)].bytes;
      partition.saved.push_back({m_joint.name(place), bytes, ruleOf(place)});
      partition.savedBytes += bytes;
    }
    for (const int place : m_passed.symbols) partition.symbols.push_back(m_joint.name(place));
    std::vector<bool> inForward(m_joint.nodes.size());
    for (const int call : forward.calls) inForward[std::size_t(call)] = true;
    for (const int call : backward.calls) {
      if (!inForward[std::size_t(call)]) continue;
      partition.recomputed.push_back(m_joint.name(call));
      partition.recomputedFlops += flopsOfNode(m_joint.module.graph, m_joint.node(call));
    }
  }

  const JointGraph& m_joint;
  const CutSolution& m_solution;
  Passed m_passed;
};

}  // namespace

Result<Partition> buildPartition(const JointGraph& joint, const CutSolution& solution) {
  return PartitionBuilder(joint, solution).run();
}

}  // namespace kerf::inline partition
