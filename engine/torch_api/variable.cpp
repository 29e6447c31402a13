#include "engine/torch_api/variable.h"

#include <unordered_map>

#include "engine/ops/core/op_call.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/grad_node.h"
#include "engine/torch_api/placed_tensors.h"

namespace kerf::inline torch_api {
namespace {

/// By number. Only the process of the interpreter fills it, which has one thread that runs Python.
std::unordered_map<int, std::weak_ptr<Variable>>& variables() {
  static auto& map = *new std::unordered_map<int, std::weak_ptr<Variable>>;  // outlives every object
  return map;
}

struct Kept {
  std::vector<VariablePtr> variables;
  std::vector<Ref> objects;
  int scopes = 0;
};
Kept& kept() {
  static auto& instance = *new Kept;
  return instance;
}

/// Zeros in which views of `like` are found where they are in it.
Result<Tensor> zerosLaidOutAs(const Tensor& like, const Value& gradient, const OpRunner& run) {
  if (like.isContiguous() || isPlaced(gradient.tensor()))
    return run("aten.new_zeros.default"_op, {gradient, intList(like.symSizes())});
  KERF_TRY(const Tensor room,
           run("aten.new_empty_strided.default"_op, {gradient, intList(like.symSizes()), intList(like.symStrides())}));
  return run("aten.zero_.default"_op, {room});
}

/// The gradFn of a view of a tensor that was written into through another name: the gradient goes to its place in the
/// base.
void renewView(Variable& view) {
  Variable& base = *view.base;
  const auto node = makeNode("AsStridedBackward0", 1);
  node->edges = {edgeOf(base)};
  node->resultMetas = {view.tensor};
  const Tensor baseLike = metaTensor(base.tensor.dtype(), base.tensor.symSizes(), base.tensor.symStrides());
  node->backward = [baseLike, placeOf = viewReplay(view.tensor, base.tensor)](
                       GradNode&, const ValueList& grads, const OpRunner& run) -> Result<ValueList> {
    if (!grads[0].isTensor()) return ValueList{Value()};
    KERF_TRY(const Tensor whole, zerosLaidOutAs(baseLike, grads[0], run));
    KERF_TRY(const Tensor place, placeOf(whole, run));
    KERF_CHECK(run("aten.copy_.default"_op, {place, grads[0]}));
    return ValueList{whole};
  };
  view.gradFn = node;
  view.outputNumber = 0;
  view.baseFn = base.gradFn;
}

}  // namespace

Variable::~Variable() { variables().erase(tensor.traced); }

VariablePtr makeVariable(Tensor tensor) {
  static int next = 0;
  auto variable = std::make_shared<Variable>();
  tensor.traced = next++;
  variable->tensor = std::move(tensor);
  variable->version = std::make_shared<unsigned>(0);
  variable->isInference = gradModes().inference;
  variables()[variable->tensor.traced] = variable;
  return variable;
}

VariablePtr makeView(Tensor tensor, const VariablePtr& of, bool keepsHistory) {
  VariablePtr view = makeVariable(std::move(tensor));
  view->version = of->version;
  view->isInference = of->isInference;
  if (!keepsHistory) return view;
  view->base = of->base ? of->base : of;
  view->baseFn = view->base->gradFn;
  return view;
}

VariablePtr variableOf(const Tensor& tensor) {
  if (tensor.traced < 0) return nullptr;
  const auto found = variables().find(tensor.traced);
  return found == variables().end() ? nullptr : found->second.lock();
}

bool needsGrad(const Tensor& tensor) {
  const VariablePtr variable = variableOf(tensor);
  if (!variable) return false;
  return variable->needsGrad() || (variable->base && variable->base->gradFn != variable->baseFn);
}

Edge edgeOf(Variable& variable) {
  if (variable.base && variable.base->gradFn != variable.baseFn) renewView(variable);
  if (variable.gradFn) return {variable.gradFn, variable.outputNumber};
  if (!variable.requiresGrad) return {};
  if (auto node = variable.accumulator.lock()) return {std::move(node), 0};
  auto node = makeNode("AccumulateGrad", 1);
  node->sequence = UINT64_MAX;  // as soon as its gradient is whole
  node->leaf = variable.shared_from_this();
  node->resultMetas = {variable.tensor};
  variable.accumulator = node;
  return {std::move(node), 0};
}

CallScope::CallScope() : m_before(kept().variables.size()), m_objectsBefore(kept().objects.size()) { ++kept().scopes; }
CallScope::~CallScope() {
  --kept().scopes;
  std::vector<VariablePtr> ending;  // destructors may come back here
  std::vector<Ref> endingObjects;
  auto& objects = kept().objects;
  endingObjects.assign(std::make_move_iterator(objects.begin() + std::ptrdiff_t(m_objectsBefore)),
                       std::make_move_iterator(objects.end()));
  objects.resize(m_objectsBefore);
  auto& all = kept().variables;
  ending.assign(std::make_move_iterator(all.begin() + std::ptrdiff_t(m_before)), std::make_move_iterator(all.end()));
  all.resize(m_before);
}
void CallScope::keep(VariablePtr variable) {
  if (kept().scopes > 0) kept().variables.push_back(std::move(variable));
}

void CallScope::keepObject(const Ref& object) {
  if (kept().scopes > 0) kept().objects.push_back(object);
}

void keepVariables(const Value& value) {
  if (value.isTensor())
    if (VariablePtr variable = variableOf(value.tensor())) CallScope::keep(std::move(variable));
  if (!value.isList()) return;
  for (const Value& item : value.list()) keepVariables(item);
}

}  // namespace kerf::inline torch_api
