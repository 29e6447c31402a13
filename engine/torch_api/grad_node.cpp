#include "engine/torch_api/grad_node.h"

#include <algorithm>

#include "engine/autograd/gradient_rules_of_ops.h"
#include "engine/autograd/tape.h"
#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/torch_api/compiled_backward.h"
#include "engine/torch_api/dispatch_classes.h"
#include "engine/torch_api/dispatch_mode.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/inference_tensors.h"
#include "engine/torch_api/placed_tensors.h"
#include "engine/torch_api/saved_tensors.h"
#include "engine/torch_api/saved_versions.h"

namespace kerf::inline torch_api {
namespace {

/// Where a gradient goes: which argument, and which of its items where it is a list.
struct Place {
  std::size_t argument;
  std::ptrdiff_t item = -1;
};

/// A taped call: all that its formula needs.
struct SavedCall {
  const OpInfo* op;
  BoundArguments args;
  ValueList results;  ///< one per schema return
  std::vector<bool> wanted;
  std::vector<Place> places;  ///< by edge
  std::vector<VariablePtr> variables;
  std::vector<SavedVersion> versions;
  std::vector<Ref> objects;          ///< those of dispatch classes
  std::vector<PackedTensor> packed;  ///< what hooks of saved tensors made of the arguments, then of the results
};

/// The call with what the hooks give back for what they took.
Result<SavedCall> unpacked(const SavedCall& saved) {
  if (saved.packed.empty()) return saved;
  SavedCall call = saved;
  std::size_t next = 0;
  for (ValueList* values : {&call.args.values, &call.results})
    for (Value& value : *values) {
      KERF_TRY(value, unpackValue(value, saved.packed, next));
    }
  return call;
}

Result<void> packAll(SavedCall& saved) {
  if (savedTensorHooks().empty()) return {};
  for (ValueList* values : {&saved.args.values, &saved.results})
    for (Value& value : *values) {
      KERF_TRY(value, packValue(value, saved.packed));
    }
  return {};
}

ValueList resultsOf(const OpInfo& op, const Value& result) {
  return op.schema.returns.size() == 1 || !result.isList() ? ValueList{result} : result.list();
}

/// The handle of a result while its node's formula runs.
Value resultHandle(const Value& value, GradNode& node, std::size_t& next) {
  if (value.isTensor()) {
    Tensor tensor = value.tensor();
    const std::size_t number = next++;
    if (isDispatched(tensor)) return tensor;  // its own variable, which this node made
    tensor.traced = -1;
    if (!gradModes().grad || !mayHaveGradient(tensor)) return tensor;
    const VariablePtr variable = makeVariable(tensor);
    variable->gradFn = node.shared_from_this();
    variable->outputNumber = number;
    CallScope::keep(variable);
    return variable->tensor;
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(resultHandle(item, node, next));
  return items;
}

/// Gradients by schema return from those by tensor.
Value regrouped(const Value& like, const ValueList& grads, std::size_t& next) {
  if (like.isTensor()) return next < grads.size() ? grads[next++] : Value();
  if (!like.isList()) return {};
  ValueList items;
  for (const Value& item : like.list()) items.push_back(regrouped(item, grads, next));
  return std::ranges::all_of(items, &Value::isNone) ? Value() : Value(std::move(items));
}

Result<ValueList> formulaOf(const SavedCall& saved, const CallRecord& call, const ValueList& flowing,
                            const OpRunner& run) {
  const Gradient gradient = gradientOf(*saved.op);
  std::vector<SavedVersion> stale = staleOf(saved.versions);
  if (stale.empty()) return gradient(call, flowing, run);
  const VersionCheckedOps checked(run, std::move(stale));
  return gradient(call, flowing, OpRunner(checked));
}

Result<ValueList> flowBack(const SavedCall& packed, GradNode& node, const ValueList& grads, const OpRunner& run) {
  const Gradient gradient = gradientOf(*packed.op);
  if (gradient == nullptr)
    return fail(ErrorCode::UnsupportedOp, "the derivative for '{}' is not implemented",
                packed.op->schema.qualifiedName());
  KERF_TRY(const SavedCall saved, unpacked(packed));
  std::size_t next = 0, nextGrad = 0;
  ValueList results, flowing;
  for (const Value& result : saved.results) results.push_back(resultHandle(result, node, next));
  for (const Value& result : saved.results) flowing.push_back(regrouped(result, grads, nextGrad));
  const CallRecord call{saved.args, results, saved.wanted};
  KERF_TRY(const ValueList flows, formulaOf(saved, call, flowing, run));
  ValueList byEdge;
  for (const auto& [argument, item] : saved.places) {
    Value flow = argument < flows.size() ? flows[argument] : Value();
    if (item >= 0)
      flow = flow.isList() && std::size_t(item) < flow.list().size() ? flow.list()[std::size_t(item)] : Value();
    if (flow.isTensor()) {
      const Value& given = saved.args.values[argument];
      const Tensor& like = item >= 0 ? given.list()[std::size_t(item)].tensor() : given.tensor();
      KERF_TRY(flow, fittedGradient(flow.tensor(), like, run));
    }
    byEdge.push_back(std::move(flow));
  }
  return byEdge;
}

void connect(SavedCall& saved, GradNode& node, const Value& value, Place place) {
  if (value.isList()) {
    for (std::size_t i = 0; i < value.list().size(); ++i)
      connect(saved, node, value.list()[i], {place.argument, std::ptrdiff_t(i)});
    return;
  }
  if (!value.isTensor()) return;
  const VariablePtr variable = variableOf(value.tensor());
  if (!variable) return;
  saved.variables.push_back(variable);
  Edge edge = edgeOf(*variable);
  if (!edge.node) return;
  saved.wanted[place.argument] = true;
  saved.places.push_back(place);
  node.edges.push_back(std::move(edge));
}

/// One for each element of each result: a gradient to try a formula with.
Result<ValueList> onesFor(const ValueList& values, const OpCaller& ops) {
  ValueList ones;
  for (const Value& value : values) {
    if (value.isList()) {
      KERF_TRY(ValueList items, onesFor(value.list(), ops));
      ones.insert(ones.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    } else if (value.isTensor()) {
      if (!mayHaveGradient(value)) {
        ones.emplace_back();
        continue;
      }
      KERF_TRY(Value one, ops.call("aten.ones_like.default"_op, {value}, {}));
      ones.push_back(std::move(one));
    }
  }
  return ones;
}

/// Inference tensors among the arguments may not be what the formula reads.
Result<void> refuseInference(const SavedCall& saved, GradNode& node) {
  return refuseInferenceTensors(saved.variables, [&](const OpCaller& ops) -> Result<ValueList> {
    KERF_TRY(const ValueList ones, onesFor(saved.results, referenceOps()));
    return withoutThrowing([&] { return flowBack(saved, node, ones, OpRunner(ops)); });
  });
}

std::size_t countTensors(const ValueList& values) {
  std::size_t count = 0;
  for (const Value& value : values) count += value.isList() ? countTensors(value.list()) : value.isTensor();
  return count;
}

Tensor shapeOf(const Tensor& tensor) { return metaTensor(tensor.dtype(), tensor.symSizes(), tensor.symStrides()); }

struct TapedCall {
  std::shared_ptr<GradNode> node;
  std::shared_ptr<SavedCall> saved;
};

Result<TapedCall> nodeOfCall(const OpInfo& op, const BoundArguments& args, const ValueList& results) {
  auto node = makeNode(nodeName(op), countTensors(results));
  SavedCall saved{&op, args, results, std::vector<bool>(args.values.size()), {}, {}, {}, {}, {}};
  for (const ValueList* values : {&args.values, &results})
    for (const Value& value : *values) collectDispatched(value, saved.objects);
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (!writesTo(op, i)) noteVersions(args.values[i], 0, saved.versions);
  for (std::size_t i = 0; i < args.values.size(); ++i) connect(saved, *node, args.values[i], {i});
  noteCompiled(*node, has(op.traits, OpTrait::View));
  KERF_CHECK(refuseInference(saved, *node));
  KERF_CHECK(packAll(saved));
  auto kept = std::make_shared<SavedCall>(std::move(saved));
  node->backward = [kept](GradNode& self, const ValueList& grads, const OpRunner& run) {
    return flowBack(*kept, self, grads, run);
  };
  return TapedCall{std::move(node), std::move(kept)};
}

/// What a dispatch mode answered with stays the object that the mode knows.
VariablePtr ownOfMode(const Tensor& tensor, const std::vector<VariablePtr>& given) {
  VariablePtr own = variableOf(tensor);
  if (dispatchModes().empty() && !(own && own->isDispatched)) return nullptr;
  return own && !own->needsGrad() && std::ranges::find(given, own) == given.end() ? own : nullptr;
}

Value tagged(const Value& value, const std::shared_ptr<GradNode>& node, const std::vector<VariablePtr>& given,
             bool differentiable) {
  if (value.isList()) {
    ValueList items;
    for (const Value& item : value.list()) items.push_back(tagged(item, node, given, differentiable));
    return items;
  }
  if (!value.isTensor()) return value;
  node->resultMetas.push_back(shapeOf(value.tensor()));
  const std::size_t number = node->resultMetas.size() - 1;
  Tensor tensor = value.tensor();
  tensor.traced = -1;
  if (!differentiable || !mayHaveGradient(value)) return tensor;
  const auto shared = std::ranges::find_if(
      given, [&](const VariablePtr& other) { return tensor.defined() && sharesValues(tensor, other->tensor); });
  VariablePtr variable = ownOfMode(value.tensor(), given);
  if (!variable) variable = shared != given.end() ? makeView(tensor, *shared, true) : makeVariable(tensor);
  variable->gradFn = node;
  variable->outputNumber = number;
  CallScope::keep(variable);
  return variable->tensor;
}

void collect(const Value& value, std::vector<VariablePtr>& found) {
  if (value.isTensor())
    if (VariablePtr variable = variableOf(value.tensor())) found.push_back(std::move(variable));
  if (!value.isList()) return;
  for (const Value& item : value.list()) collect(item, found);
}

/// PyTorch numbers the formulas of an op's overloads; where that is not 0.
struct Numbered {
  std::string_view op;
  int number;
};
constexpr Numbered numbered[] = {
    {"aten.sum.dim_IntList", 1}, {"aten.mean.dim", 1},           {"aten.pow.Tensor_Tensor", 1},
    {"aten.pow.Scalar", 2},      {"aten.squeeze.dim", 1},        {"aten.squeeze.dims", 2},
    {"aten.max.default", 1},     {"aten.min.default", 1},        {"aten.prod.dim_int", 1},
    {"aten.add.Scalar", 1},      {"aten.sub.Scalar", 1},         {"aten.mul.Scalar", 1},
    {"aten.div.Scalar", 1},      {"aten.div.Tensor_mode", 2},    {"aten.rsub.Scalar", 1},
    {"aten.clamp.default", 1},   {"aten.masked_fill.Tensor", 1}, {"aten.norm.ScalarOpt_dim", 1},
    {"aten.median.dim", 1},      {"aten.nanmedian.dim", 1},
};

/// A copy of a gradient in which views of `like` are found where they are in it.
Result<Tensor> laidOutAs(const Tensor& like, const Value& gradient, const OpRunner& run) {
  if (like.isContiguous() || isPlaced(gradient.tensor()))
    return run("aten.clone.default"_op, {gradient}, {{"memory_format", MemoryFormat::Contiguous}});
  KERF_TRY(const Tensor room,
           run("aten.new_empty_strided.default"_op, {gradient, intList(like.symSizes()), intList(like.symStrides())}));
  return run("aten.copy_.default"_op, {room, gradient});
}

}  // namespace

GradNode::~GradNode() = default;

std::shared_ptr<GradNode> makeNode(std::string name, std::size_t results) {
  static std::uint64_t next = 0;
  auto node = std::make_shared<GradNode>();
  node->name = std::move(name);
  node->results = results;
  node->sequence = next++;
  return node;
}

std::string nodeName(const OpInfo& op) {
  std::string_view name = op.schema.name;
  name.remove_prefix(std::min(name.size(), name.rfind(':') + 1));
  if (name == "copy_") return "CopyBackwards";
  if (name.ends_with("_forward")) name.remove_suffix(8);
  std::string camel;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    camel += upper ? char(std::toupper(c)) : c;
    upper = false;
  }
  const auto* found = std::ranges::find(numbered, op.schema.qualifiedName(), &Numbered::op);
  return fmt::format("{}Backward{}", camel, found == std::end(numbered) ? 0 : found->number);
}

Result<Value> recordCall(const OpInfo& op, const BoundArguments& args, const Value& result) {
  const ValueList results = resultsOf(op, result);
  KERF_TRY(const TapedCall taped, nodeOfCall(op, args, results));
  const auto& node = taped.node;
  std::vector<VariablePtr> given;
  for (const Value& value : args.values) collect(value, given);
  ValueList now;
  const std::size_t differentiable = std::min(results.size(), differentiableResults(op.id));
  for (std::size_t i = 0; i < results.size(); ++i) now.push_back(tagged(results[i], node, given, i < differentiable));
  for (const Value& made : now) noteVersions(made, 0, taped.saved->versions);
  if (op.schema.returns.size() == 1 || !result.isList()) return std::move(now[0]);
  return Value(std::move(now));
}

Result<void> recordWrite(const OpInfo& op, const BoundArguments& saved, const Value& result, Variable& target) {
  BoundArguments args = saved;
  const VariablePtr before = makeVariable(saved.tensor(0));  // the same value, whose history ends here
  const Edge history = edgeOf(target);
  before->gradFn = history.node;
  before->outputNumber = history.number;
  args.values[0] = before->tensor;
  KERF_TRY(const TapedCall taped, nodeOfCall(op, args, {result}));
  const auto node = taped.node;
  noteVersions(target.tensor, 1, taped.saved->versions);  // the write counts after this
  node->resultMetas.push_back(shapeOf(target.tensor));
  if (!target.base) {
    target.gradFn = node;
    target.outputNumber = 0;
    return {};
  }
  // The base's gradient: nothing where the view was, which the call's own formula gets.
  Variable& base = *target.base;
  const auto slices = makeNode("CopySlices", 1);
  slices->edges = {edgeOf(base)};
  slices->resultMetas = {shapeOf(base.tensor)};
  slices->edges.insert(slices->edges.end(), node->edges.begin(), node->edges.end());
  noteCompiled(*slices, false);
  std::vector<bool> isTarget;
  for (const Edge& edge : node->edges) isTarget.push_back(edge.node == history.node && edge.number == history.number);
  const ViewReplay view = viewReplay(target.tensor, base.tensor);
  const bool hasHistory = history.node != nullptr;
  const Tensor like = metaTensor(base.tensor.dtype(), base.tensor.symSizes(), base.tensor.symStrides());
  slices->backward = [node, view, like, isTarget, hasHistory](GradNode&, const ValueList& grads,
                                                              const OpRunner& run) -> Result<ValueList> {
    if (!grads[0].isTensor()) return ValueList(isTarget.size() + 1);
    KERF_TRY(const Tensor whole, laidOutAs(like, grads[0], run));
    KERF_TRY(const Tensor part, view(whole, run));
    KERF_TRY(const Tensor flow, run("aten.clone.default"_op, {part}));
    KERF_TRY(ValueList flows, node->backward(*node, {flow}, run));
    KERF_TRY(const Tensor hole, view(whole, run));
    Value left;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (!hasHistory || !isTarget[i]) continue;
      left = flows[i];
      flows[i] = Value();
      break;
    }
    if (left.isTensor())
      KERF_CHECK(run("aten.copy_.default"_op, {hole, left}));
    else
      KERF_CHECK(run("aten.zero_.default"_op, {hole}));
    flows.insert(flows.begin(), Value(whole));
    return flows;
  };
  base.gradFn = slices;
  base.outputNumber = 0;
  return {};
}

}  // namespace kerf::inline torch_api
