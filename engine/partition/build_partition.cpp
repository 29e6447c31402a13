// From the saved values to the two graphs.
#include <algorithm>
#include <set>

#include "engine/partition/graph_plan.h"
#include "engine/partition/joint_cleanup.h"
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
    KERF_TRY(m_copied, writtenBeforeRead(forward, backward));
    forward.copied = backward.copied = m_copied;
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

  int storageOf(int place) const { return m_joint.nodes[std::size_t(place)].storage; }

  /// Inputs that the forward graph writes although the backward graph reads what they, or views of them, held before.
  Result<std::vector<int>> writtenBeforeRead(const GraphPlan& forward, const GraphPlan& backward) const {
    std::set<int> written, read, writtenAgain;
    for (const int call : forward.calls)
      if (writesMemory(m_joint.node(call))) written.insert(storageOf(call));
    const std::set<int> saved(m_passed.tensors.begin(), m_passed.tensors.end());
    for (const int call : backward.calls) {
      const auto& inputs = m_joint.nodes[std::size_t(call)].inputs;
      const bool writes = writesMemory(m_joint.node(call));
      if (writes) writtenAgain.insert(storageOf(call));
      for (std::size_t i = writes ? 1 : 0; i < inputs.size(); ++i)
        if (saved.contains(inputs[i])) read.insert(storageOf(inputs[i]));
    }
    std::vector<int> places;
    for (const int input : m_joint.inputs) {
      const int storage = storageOf(input);
      if (!written.contains(storage) || !read.contains(storage)) continue;
      if (writtenAgain.contains(storage))
        return fail(ErrorCode::UnsupportedOp, "{} is written by both parts, and read by the backward part between",
                    m_joint.name(input));
      if (const auto writer = writerThroughView(forward, input))
        return fail(ErrorCode::UnsupportedOp, "{} writes {} through a view, and the backward part reads it as it was",
                    m_joint.name(*writer), m_joint.name(input));
      if (const auto view = returnedView(input))
        return fail(ErrorCode::UnsupportedOp,
                    "{} looks at {}, which is written, and read by the backward part as it was", m_joint.name(*view),
                    m_joint.name(input));
      places.push_back(input);
    }
    return places;
  }

  /// A call that writes the input's memory, but is not given the input: it would write into the copy of it.
  std::optional<int> writerThroughView(const GraphPlan& forward, int input) const {
    for (const int call : forward.calls) {
      const auto& inputs = m_joint.nodes[std::size_t(call)].inputs;
      const bool writes = writesMemory(m_joint.node(call)) && storageOf(call) == storageOf(input);
      if (writes && inputs.front() != input && !writesMemory(m_joint.node(inputs.front()))) return call;
    }
    return std::nullopt;
  }

  /// A result that looks at the input's memory, and shows what is written; the forward graph may return the input
  /// itself.
  std::optional<int> returnedView(int input) const {
    const auto isGradient = [&](const Argument& output) {
      const NodeId* id = output.as<NodeId>();
      return id != nullptr && *id == m_joint.nodes[std::size_t(input)].id;
    };
    if (std::ranges::any_of(m_joint.backwardOutputs, isGradient)) return input;
    for (int place = 0; place < int(m_joint.nodes.size()); ++place)
      if (place != input && storageOf(place) == storageOf(input) && m_joint.nodes[std::size_t(place)].isReturned)
        return place;
    return std::nullopt;
  }

  std::string nameOf(int place) const {
    const bool isCopied = std::ranges::find(m_copied, place) != m_copied.end();
    return isCopied ? nameOfCopy(m_joint, place) : m_joint.name(place);
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
    for (const auto* places : {&m_passed.tensors, &m_passed.objects})
      for (const int place : *places) {
        const JointNode& node = m_joint.nodes[std::size_t(place)];
        const std::int64_t bytes = node.kind == SavedKind::Opaque ? 0 : node.bytes;
        partition.saved.push_back({nameOf(place), bytes, ruleOf(place)});
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
  std::vector<int> m_copied;
};

}  // namespace

Result<Partition> buildPartition(const JointGraph& joint, const CutSolution& solution) {
  return PartitionBuilder(joint, solution).run();
}

}  // namespace kerf::inline partition
