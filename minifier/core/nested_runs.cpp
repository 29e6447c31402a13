// nestedRuns(): operands are told apart by the memory that they look at.
#include "minifier/core/nested_runs.h"

#include <algorithm>
#include <map>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "minifier/core/copied_values.h"
#include "minifier/core/run_copy.h"

namespace kerf::inline minifier::inline core {

namespace {

bool isSame(const Value& a, const Value& b) {
  if (a.isTensor() && b.isTensor()) {
    const Tensor &x = a.tensor(), &y = b.tensor();
    return x.defined() && x.storage() == y.storage() && x.dtype() == y.dtype() && x.sizes() == y.sizes() &&
           x.strides() == y.strides() && x.offset() == y.offset();
  }
  const auto *i = a.as<std::int64_t>(), *k = b.as<std::int64_t>();
  return i && k && *i == *k;
}

class Recorder {
 public:
  explicit Recorder(const GraphModule& module) : m_module(module) {
    for (const NodeId id : callNodes(module.graph))
      if (!nestedGraphs(module, module.graph.node(id)).empty())
        for (const NodeId operand : module.graph.node(id).inputs()) m_operands.try_emplace(operand);
  }
  bool hasWork() const { return !m_operands.empty(); }

  void begin(const Node* next) { m_current = NestedCall{.call = next ? next->id() : NodeId{}}; }
  void computed(const Node& node, const Value& value) {
    if (const auto operand = m_operands.find(node.id()); operand != m_operands.end()) operand->second = value;
    if (m_current.runs.empty()) return;
    m_current.result = value;
    calls.push_back(std::move(m_current));
    m_current = {};
  }
  void nested(std::string_view path, const ValueList& operands) {
    const auto isPath = [&](const NestedRun& run) { return run.path == path; };
    const Submodule* submodule = m_module.submodule(path);
    if (!submodule || !submodule->graph || std::ranges::any_of(m_current.runs, isPath)) return;
    NestedRun run{.path = std::string(path), .graph = submodule->graph, .operands = operands};
    const std::vector<NodeId> inputs = m_module.graph.node(m_current.call).inputs();
    for (const Value& operand : operands) {
      const auto source = std::ranges::find_if(inputs, [&](NodeId id) { return isSame(operand, m_operands[id]); });
      run.sources.push_back(source == inputs.end() ? NodeId{} : *source);
    }
    m_current.runs.push_back(std::move(run));
  }

  std::vector<NestedCall> calls;

 private:
  const GraphModule& m_module;
  std::map<NodeId, Value> m_operands;
  NestedCall m_current;
};

}  // namespace

std::vector<NestedCall> nestedRuns(const Candidate& candidate, std::stop_token stop) {
  Recorder recorder(candidate.module);
  if (!recorder.hasWork()) return {};
  const auto copy = runCopy(candidate);
  if (!copy) return {};
  const RandomScope random;
  Interpreter interpreter(copy->module, referenceOps());
  interpreter.onNode = [&](const Node& node, const Value& value) { recorder.computed(node, value); };
  interpreter.onSubgraph = [&](std::string_view path, const GraphModule&, const ValueList& operands) {
    recorder.nested(path, operands);
  };
  interpreter.start(copy->inputs, std::move(stop));
  for (bool more = true; more;) {
    recorder.begin(interpreter.nextNode());
    const auto stepped = interpreter.step();
    more = stepped && *stepped;
  }
  return std::move(recorder.calls);
}

}  // namespace kerf::inline minifier::inline core
