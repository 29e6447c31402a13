#include "engine/torch_api/backward.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "engine/ops/core/symbolic_checks.h"
#include "engine/torch_api/compiled_backward.h"
#include "engine/torch_api/dispatch_classes.h"
#include "engine/torch_api/dispatch_mode.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/hooks.h"
#include "engine/torch_api/placed_tensors.h"

namespace kerf::inline torch_api {
namespace {

using NodePtr = std::shared_ptr<GradNode>;

struct Later {
  bool operator()(const NodePtr& a, const NodePtr& b) const { return a->sequence < b->sequence; }
};

class Walk {
 public:
  explicit Walk(const BackwardCall& call)
      : m_call(call),
        m_ops(call.createGraph || !dispatchModes().empty() || placedTensors() != nullptr || haveDispatchTensors()
                  ? eagerOps()
                  : referenceOps()),
        m_run(m_ops),
        m_results(call.inputs.size()) {}

  Result<ValueList> run() {
    for (std::size_t i = 0; i < m_call.tensors.size(); ++i) KERF_CHECK(addRoot(i));
    for (std::size_t i = 0; i < m_call.inputs.size(); ++i) m_wanted.push_back(edgeOf(*m_call.inputs[i]));
    countDependencies();
    const GradModeScope mode(m_call.createGraph);
    for (const auto& [node, buffer] : m_buffers)
      if (m_missing[node] == 0) m_ready.push(m_owners[node]);
    while (!m_ready.empty()) {
      const NodePtr node = m_ready.top();
      m_ready.pop();
      KERF_CHECK(visit(*node));
    }
    return finish();
  }

 private:
  Result<void> addRoot(std::size_t i) {
    Variable& root = *m_call.tensors[i];
    Edge edge = edgeOf(root);
    if (!edge.node)
      return fail(ErrorCode::RuntimeFailed, "element {} of tensors does not require grad and does not have a grad_fn",
                  i);
    Value grad = i < m_call.grads.size() ? m_call.grads[i] : Value();
    if (!grad.isTensor()) {
      if (root.tensor.numel() != 1)
        return fail(ErrorCode::RuntimeFailed, "grad can be implicitly created only for scalar outputs");
      KERF_TRY(grad, m_run.value("aten.ones_like.default"_op, {root.tensor}));
    } else if (grad.tensor().sizes() != root.tensor.sizes()) {
      return fail(ErrorCode::RuntimeFailed,
                  "Mismatch in shape: grad_output[{}] has a shape of {} and output[{}] has a shape of {}.", i,
                  shapeText(grad.tensor()), i, shapeText(root.tensor));
    }
    m_roots.push_back(edge.node);
    return add(edge, grad);
  }

  static std::string shapeText(const Tensor& tensor) {
    return fmt::format("torch.Size([{}])", fmt::join(tensor.sizes(), ", "));
  }

  /// How many edges lead to each node from nodes that will run.
  void countDependencies() {
    std::vector<NodePtr> open = m_roots;
    std::unordered_set<GradNode*> seen;
    for (const NodePtr& root : m_roots) m_owners[root.get()] = root;
    while (!open.empty()) {
      const NodePtr node = open.back();
      open.pop_back();
      if (!seen.insert(node.get()).second) continue;
      for (const Edge& edge : node->edges) {
        if (!edge.node) continue;
        ++m_missing[edge.node.get()];
        m_owners[edge.node.get()] = edge.node;
        open.push_back(edge.node);
      }
    }
  }

  Result<void> add(const Edge& edge, const Value& grad) {
    ValueList& buffer = m_buffers[edge.node.get()];
    buffer.resize(std::max(edge.node->results, edge.number + 1));
    Value& slot = buffer[edge.number];
    if (!grad.isTensor()) return {};
    if (!slot.isTensor()) {
      slot = grad;
      return {};
    }
    KERF_TRY(slot, m_run.value("aten.add.Tensor"_op, {slot, grad}));
    return {};
  }

  Result<void> visit(GradNode& node) {
    ValueList grads = std::move(m_buffers[&node]);
    grads.resize(std::max(grads.size(), node.results));
    KERF_CHECK(runTensorHooks(node, grads));
    for (std::size_t i = 0; i < m_wanted.size(); ++i)
      if (m_wanted[i].node.get() == &node) m_results[i] = grads[m_wanted[i].number];
    KERF_CHECK(retain(node, grads));
    const bool flows = std::ranges::any_of(grads, &Value::isTensor);
    if (node.leaf) return flows && m_call.accumulates && isWanted(node) ? accumulate(node, grads[0]) : Result<void>();
    KERF_TRY(const ValueList next, pass(node, grads, flows));
    for (std::size_t i = 0; i < node.edges.size(); ++i) {
      const Edge& edge = node.edges[i];
      if (!edge.node) continue;
      KERF_CHECK(add(edge, i < next.size() ? next[i] : Value()));
      if (--m_missing[edge.node.get()] == 0) m_ready.push(edge.node);
    }
    return {};
  }

  Result<ValueList> pass(GradNode& node, const ValueList& grads, bool flows) {
    if (!flows) return ValueList(node.edges.size());
    if (node.isReleased)
      return fail(
          ErrorCode::RuntimeFailed,
          "Trying to backward through the graph a second time (or directly access saved tensors after they have "
          "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
          "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
          "if you need to access saved tensors after calling backward.");
    KERF_TRY(const ValueList before, runPreHooks(node, grads));
    KERF_TRY(ValueList next, flowThrough(node, before));
    if (anomalyMode()) KERF_CHECK(refuseNan(node, next));
    KERF_CHECK(runPostHooks(node, next, before));
    if (!m_call.retainGraph && !node.context) {
      node.backward = {};
      node.isReleased = true;
    } else if (!m_call.retainGraph) {
      node.isReleased = true;
    }
    return next;
  }

  Result<ValueList> flowThrough(GradNode& node, const ValueList& grads) {
    if (node.isCompiled && m_call.createGraph && !isInCompiledGraph()) return passCompiled(node, grads, m_ops);
    return withoutThrowing([&] { return node.backward(node, grads, m_run); });
  }

  static Result<void> refuseNan(const GradNode& node, const ValueList& grads) {
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].isTensor()) continue;
      KERF_CHECK(refusePlaced(grads[i].tensor(), "anomaly mode"));
      KERF_TRY(const Value found, referenceOps().call("aten.isnan.default"_op, {grads[i]}, {}));
      KERF_TRY(const Value any, referenceOps().call("aten.any.default"_op, {found}, {}));
      if (any.tensor().itemAsInt() != 0)
        return fail(ErrorCode::RuntimeFailed, "Function '{}' returned nan values in its {}th output.", node.name, i);
    }
    return {};
  }

  bool isWanted(const GradNode& node) const {
    return m_call.inputs.empty() ||
           std::ranges::any_of(m_wanted, [&](const Edge& edge) { return edge.node.get() == &node; });
  }

  Result<void> retain(GradNode& node, const ValueList& grads) {
    for (std::size_t i = 0; i < node.retained.size(); ++i) {
      const VariablePtr variable = node.retained[i].lock();
      if (variable && i < grads.size() && grads[i].isTensor()) KERF_CHECK(addToGrad(*variable, grads[i]));
    }
    return {};
  }

  Result<void> addToGrad(Variable& variable, const Value& grad) {
    Value whole = grad;
    if (variable.grad) {
      if (!m_call.createGraph) {  // .grad is added to in place, as every holder of it sees
        const OpCaller& ops =
            isPlaced(variable.grad->tensor) || isDispatched(variable.grad->tensor) ? eagerOps() : referenceOps();
        KERF_CHECK(ops.call("aten.add_.Tensor"_op, {variable.grad->tensor, grad}, {}));
        ++*variable.grad->version;
        return {};
      }
      KERF_TRY(whole, m_run.value("aten.add.Tensor"_op, {variable.grad->tensor, grad}));
    } else if (!m_call.createGraph && isDispatched(grad.tensor())) {
      KERF_TRY(whole, callDispatchClasses(*findOp("aten.detach.default"_op), {grad}, {}));
      if (whole.isTensor() && isDispatched(whole.tensor()))
        variable.gradObject = Ref::borrow(variableOf(whole.tensor())->object);
    } else if (!m_call.createGraph && isPlaced(grad.tensor())) {
      KERF_TRY(whole, eagerOps().call("aten.clone.default"_op, {grad}, {}));
    } else if (!m_call.createGraph) {
      KERF_TRY(whole, grad.tensor().clonePreservingStrides());
    }
    VariablePtr own = variableOf(whole.tensor());
    variable.grad = own ? own : makeVariable(whole.tensor());
    return {};
  }

  Result<void> accumulate(GradNode& node, const Value& grad) {
    KERF_CHECK(addToGrad(*node.leaf, grad));
    return runAccumulateHooks(*node.leaf);
  }

  Result<ValueList> finish() {
    if (m_call.accumulates) return ValueList();
    for (std::size_t i = 0; i < m_results.size(); ++i) {
      if (m_results[i].isTensor() || m_call.allowUnreachable) continue;
      return fail(ErrorCode::RuntimeFailed, "{}",
                  m_wanted[i].node
                      ? "One of the differentiated Tensors appears to not have been used in the graph. Set "
                        "allow_unused=True if this is the desired behavior."
                      : "One of the differentiated Tensors does not require grad");
    }
    return std::move(m_results);
  }

  const BackwardCall& m_call;
  const OpCaller& m_ops;
  const OpRunner m_run;
  std::vector<Edge> m_wanted;
  ValueList m_results;
  std::vector<NodePtr> m_roots;
  std::unordered_map<GradNode*, ValueList> m_buffers;
  std::unordered_map<GradNode*, int> m_missing;
  std::unordered_map<GradNode*, NodePtr> m_owners;
  std::priority_queue<NodePtr, std::vector<NodePtr>, Later> m_ready;
};

}  // namespace

bool& anomalyMode() {
  static bool enabled = false;
  return enabled;
}

Result<ValueList> runBackward(const BackwardCall& call) { return Walk(call).run(); }

}  // namespace kerf::inline torch_api
