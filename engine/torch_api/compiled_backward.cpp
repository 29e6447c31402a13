#include "engine/torch_api/compiled_backward.h"

#include <algorithm>

#include "engine/autograd/tape.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/torch_api/eager_ops.h"

namespace kerf::inline torch_api {
namespace {

bool& runsCompiled() {
  static bool runs = false;
  return runs;
}

/// Adds where gradients of a value's tensors go, of those that need one.
void addEdges(const Value& value, std::vector<Edge>& edges) {
  if (value.isList())
    for (const Value& item : value.list()) addEdges(item, edges);
  const VariablePtr variable = value.isTensor() ? variableOf(value.tensor()) : nullptr;
  if (variable == nullptr || !variable->needsGrad()) return;
  Edge edge = edgeOf(*variable);
  const auto isSame = [&](const Edge& one) { return one.node == edge.node && one.number == edge.number; };
  if (edge.node != nullptr && std::ranges::none_of(edges, isSame)) edges.push_back(std::move(edge));
}

/// Runs ops, and notices what they read that needs a gradient.
class GradNoticingOps : public OpCaller {
 public:
  explicit GradNoticingOps(const OpCaller& ops) : m_ops(ops) {}

  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    for (const Value& arg : args) addEdges(arg, m_edges);
    for (const auto& [name, arg] : kwargs) addEdges(arg, m_edges);
    return m_ops.call(target, args, kwargs);
  }

  const std::vector<Edge>& edges() const { return m_edges; }

 private:
  const OpCaller& m_ops;
  mutable std::vector<Edge> m_edges;
};

/// `edges`: what the results depend on, which a transform asks for.
std::shared_ptr<GradNode> nodeWithoutDerivative(std::size_t results, std::vector<Edge> edges) {
  auto node = makeNode("CompiledFunctionBackwardBackward", results);
  node->edges = std::move(edges);
  node->backward = [](GradNode&, const ValueList&, const OpRunner&) -> Result<ValueList> {
    return fail(ErrorCode::RuntimeFailed, "torch.compile with aot_autograd does not currently support double backward");
  };
  return node;
}

}  // namespace

CompiledGraphScope::CompiledGraphScope(bool isCompiled) : m_before(runsCompiled()) { runsCompiled() = isCompiled; }
CompiledGraphScope::~CompiledGraphScope() { runsCompiled() = m_before; }

bool isInCompiledGraph() { return runsCompiled(); }

void noteCompiled(GradNode& node, bool isView) {
  const auto isOfGraph = [](const Edge& edge) { return edge.node && edge.node->isCompiled; };
  if (!runsCompiled() || (isView && std::ranges::none_of(node.edges, isOfGraph))) return;
  node.isCompiled = true;
  node.name = "CompiledFunctionBackward";
}

Result<ValueList> passCompiled(GradNode& node, const ValueList& grads, const OpCaller& ops) {
  const GradNoticingOps noticing(ops);
  const OpRunner run(noticing);
  const GradModeScope mode(false);
  KERF_TRY(ValueList next, withoutThrowing([&] { return node.backward(node, grads, run); }));
  // Python's own backward reads as it likes.
  std::vector<Edge> edges = noticing.edges();
  for (const Value& grad : grads) addEdges(grad, edges);
  if (edges.empty() && !node.context) return next;
  const auto failing = nodeWithoutDerivative(next.size(), std::move(edges));
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (!next[i].isTensor() || !mayHaveGradient(next[i])) continue;
    Tensor handle = next[i].tensor();
    handle.traced = -1;
    const VariablePtr variable = makeVariable(std::move(handle));
    variable->gradFn = failing;
    variable->outputNumber = i;
    CallScope::keep(variable);
    next[i] = variable->tensor;
  }
  return next;
}

}  // namespace kerf::inline torch_api
