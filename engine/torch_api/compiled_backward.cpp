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

bool holdsWhatNeedsGrad(const Value& value) {
  if (value.isList()) return std::ranges::any_of(value.list(), holdsWhatNeedsGrad);
  return value.isTensor() && needsGrad(value.tensor());
}

/// Runs ops, and notices whether one reads what needs a gradient.
class GradNoticingOps : public OpCaller {
 public:
  explicit GradNoticingOps(const OpCaller& ops) : m_ops(ops) {}

  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    m_any = m_any || std::ranges::any_of(args, holdsWhatNeedsGrad) ||
            std::ranges::any_of(kwargs, [](const auto& entry) { return holdsWhatNeedsGrad(entry.second); });
    return m_ops.call(target, args, kwargs);
  }

  bool any() const { return m_any; }

 private:
  const OpCaller& m_ops;
  mutable bool m_any = false;
};

std::shared_ptr<GradNode> nodeWithoutDerivative(std::size_t results) {
  auto node = makeNode("CompiledFunctionBackwardBackward", results);
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
  if (!noticing.any() && !node.context && std::ranges::none_of(grads, holdsWhatNeedsGrad)) return next;
  const auto failing = nodeWithoutDerivative(next.size());
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
