#include "engine/torch_api/eager_ops.h"

#include <algorithm>
#include <optional>

#include "engine/autograd/implicit_forms.h"
#include "engine/autograd/tape.h"
#include "engine/ops/core/autocast.h"
#include "engine/ops/core/calls_without_row.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/python/bind_python_call.h"
#include "engine/ops/python/python_level.h"
#include "engine/torch_api/dispatch_classes.h"
#include "engine/torch_api/dispatch_mode.h"
#include "engine/torch_api/grad_node.h"
#include "engine/torch_api/placed_tensors.h"

namespace kerf::inline torch_api {
namespace {

NamedResults lastNamed;

/// Composite ops of torch.export's first graphs, which Python's functions of that name would write out.
constexpr std::string_view keptComposites[] = {
    "conv1d",           "conv2d",        "conv3d",     "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "batch_norm",    "layer_norm", "group_norm",       "dropout",
    "feature_dropout",  "alpha_dropout", "softmax",    "log_softmax",      "max_pool1d",
    "max_pool2d",       "max_pool3d",    "flatten",    "unflatten",        "rms_norm",
    "rnn_tanh",         "lstm",          "gru",        "embedding_bag",    "adaptive_avg_pool1d",
};

template <class Visit>
void eachTensor(const Value& value, const Visit& visit) {
  if (value.isTensor()) visit(value.tensor());
  if (!value.isList()) return;
  for (const Value& item : value.list()) eachTensor(item, visit);
}

template <class Visit>
void eachTensor(const ValueList& args, const KeywordValues& kwargs, const Visit& visit) {
  for (const Value& value : args) eachTensor(value, visit);
  for (const auto& [name, value] : kwargs) eachTensor(value, visit);
}

bool holdsTensor(const ValueList& args) {
  return std::ranges::any_of(args, [](const Value& value) { return value.isTensor(); });
}

bool anyNeedsGrad(const ValueList& args, const KeywordValues& kwargs) {
  bool any = false;
  eachTensor(args, kwargs, [&](const Tensor& tensor) { any = any || needsGrad(tensor); });
  return any;
}

bool writes(const OpInfo& op) {
  for (std::size_t i = 0; i < op.schema.arguments.size(); ++i)
    if (writesTo(op, i)) return true;
  return false;
}

/// Ops whose results are what they look at, but never its gradient.
bool cutsGradient(const OpInfo& op) { return op.schema.name == "aten::detach" || op.schema.name == "aten::detach_"; }

/// A handle that stands for nothing yet.
Tensor anonymous(Tensor tensor) {
  tensor.traced = -1;
  return tensor;
}

/// A view has a number of its own even where the kernel gave back the handle.
Value withoutNumbers(const Value& value) {
  if (value.isTensor()) return anonymous(value.tensor());
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(withoutNumbers(item));
  return items;
}

/// What core_aten_decompositions() makes of a call, for a mode that wants it; nothing where it leaves it as it is.
std::optional<Result<Value>> callDecomposed(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  if (!dispatchModeDecomposes(op)) return std::nullopt;
  static const Decomposes core = decomposesBy(DecompositionTable::Core);
  const Replacement by = core(op);
  const Composite program = by.program != nullptr ? by.program : op.decomposition;
  if (!by.replaces || program == nullptr) return std::nullopt;
  const auto bound = bindArguments(op, args, kwargs);
  if (!bound) return Result<Value>(std::unexpected(bound.error()));
  if (by.applies != nullptr && !by.applies(*bound)) return std::nullopt;
  return withoutThrowing([&] { return program(*bound, OpRunner(eagerOps())); });
}

/// Whether Python answers the call.
bool isIntercepted(const ValueList& args, const KeywordValues& kwargs) {
  return !dispatchModes().empty() || anyDispatched(args, kwargs);
}

/// The kernel, or what stands before it: the program's mode, or the parts that tensors of several ranks have here.
Result<Value> runKernel(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  const bool isSeen = op.schema.name.starts_with("aten::") || op.schema.name.starts_with("_c10d_functional");
  if (!dispatchModes().empty() && isSeen) {
    if (auto made = callDecomposed(op, args, kwargs)) return *std::move(made);
    return callDispatchMode(op, args, kwargs);
  }
  if (anyDispatched(args, kwargs) && op.schema.name.starts_with("aten::")) return callDispatchClasses(op, args, kwargs);
  if (anyPlaced(args, kwargs)) return placedTensors()->call(op, args, kwargs);
  return referenceOps().call(op.id, args, kwargs);
}

/// What a formula reads of a tensor that is written into.
Result<Value> copyOf(const Tensor& tensor) {
  if (isPlaced(tensor)) return placedTensors()->call(*findOp("aten.clone.default"_op), {tensor}, {});
  KERF_TRY(Tensor copy, tensor.clone());
  return Value(std::move(copy));
}

class EagerOps : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    const OpInfo* op = findOp(target);
    if (!op) {
      if (auto kept = callKept(target, args, kwargs)) return *std::move(kept);
      if (callsWithoutRow().isPython(target.text)) return callsWithoutRow().python(target.text, args, kwargs, *this);
      return fail(ErrorCode::UnsupportedOp, "there is no op '{}'", target.text);
    }
    if (target.text.starts_with("operator.") && holdsTensor(args)) return callOperator(target.text, args, kwargs);
    if (auto cast = callInAutocast(*op, args, kwargs, *this)) return std::move(*cast);
    KERF_TRY(Value result, dispatch(*op, args, kwargs));
    lastNamed = {};
    if (op->schema.returns.size() > 1 && result.isList()) lastNamed = {op, &result.list()};
    return result;
  }
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override {
    return callsWithoutRow().higherOrder(target.text, args, kwargs, subgraphs, *this, false);
  }

 private:
  /// A function of Python as the composite op of its name, for a mode that keeps those; nothing where there is none.
  std::optional<Result<Value>> callKept(const OpTarget& target, const ValueList& args,
                                        const KeywordValues& kwargs) const {
    if (!dispatchModeKeepsComposites() || target.text.starts_with("torch.ops.")) return std::nullopt;
    const std::string_view name = std::string_view(target.text).substr(target.text.rfind('.') + 1);
    if (std::ranges::find(keptComposites, name) == std::end(keptComposites)) return std::nullopt;
    const auto bound = bindPythonCall(target.text, args, kwargs);
    if (!bound || bound->callable->isPythonDefined()) return std::nullopt;
    Result<Value> made = callBoundForm(*bound, args, kwargs, *this);
    if (!made && made.error().code == ErrorCode::UnsupportedOp) return std::nullopt;
    return made;
  }

  /// Python's operators on tensors are ops of theirs.
  Result<Value> callOperator(std::string_view name, const ValueList& args, const KeywordValues& kwargs) const {
    const std::string op = tensorOperator(name);
    return op.empty() ? callsWithoutRow().python(name, args, kwargs, *this) : call(op, args, kwargs);
  }

  /// Several elements in one place cannot be written.
  static Result<void> refuseOverlap(const OpInfo& op, const ValueList& args) {
    const OpInfo* base = findOp(op.base);
    if (args.empty() || !args[0].isTensor() || !writesTo(op, 0) || (base && has(base->traits, OpTrait::View)))
      return {};
    const Tensor& target = args[0].tensor();
    for (std::int64_t d = 0; d < target.dim(); ++d)
      if (target.size(d) > 1 && target.stride(d) == 0)
        return fail(ErrorCode::RuntimeFailed,
                    "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                    "location. Please clone() the tensor before performing the operation.");
    return {};
  }

  Result<Value> dispatch(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
    KERF_CHECK(refuseOverlap(op, args));
    if (dispatchModeKeepsComposites()) return compute(op, args, kwargs);
    const bool taped = gradModes().grad && !isBelowAutograd() && !cutsGradient(op) && anyNeedsGrad(args, kwargs);
    const bool isAnswered = isIntercepted(args, kwargs);
    const bool placed = anyPlaced(args, kwargs);  // whose views are known step by step
    if (!taped && !isAnswered && !placed) return compute(op, args, kwargs);
    if (const Composite form = implicitForm(op.id)) return runProgram(form, op, args, kwargs);
    if (!taped && !isAnswered) return compute(op, args, kwargs);
    if (isAnswered && op.composite != nullptr && op.row->kernel == nullptr)  // linear, conv2d
      return runProgram(op.composite, op, args, kwargs);
    const Gradient gradient = gradientOf(op);
    if (!taped && (gradient != nullptr || has(op.traits, OpTrait::View))) return compute(op, args, kwargs);
    if (gradient == nothingFlows && !writes(op)) return compute(op, args, kwargs);
    if (gradient == nullptr && op.decomposition != nullptr && !(op.row->kernel && op.composite))
      return runProgram(op.decomposition, op, args, kwargs);
    if (gradient == nullptr && op.composite != nullptr) return runProgram(op.composite, op, args, kwargs);
    return taped ? record(op, args, kwargs) : compute(op, args, kwargs);
  }

  Result<Value> runProgram(Composite program, const OpInfo& op, const ValueList& args,
                           const KeywordValues& kwargs) const {
    KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
    return withoutThrowing([&] { return program(bound, OpRunner(*this)); });
  }

  Result<Value> compute(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
    if (isIntercepted(args, kwargs)) return runKernel(op, args, kwargs);  // the mode's answer is whole
    KERF_TRY(Value result, runKernel(op, args, kwargs));
    if (writes(op)) {
      KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
      return written(op, bound, std::move(result));
    }
    if (has(op.traits, OpTrait::View)) result = withoutNumbers(result);
    return mayShareMemory(op) ? sharing(result, args, !cutsGradient(op)) : result;
  }

  /// Results that look at an argument's memory become variables that know it.
  static Value sharing(const Value& value, const ValueList& args, bool keepsHistory) {
    if (value.isList()) {
      ValueList items;
      for (const Value& item : value.list()) items.push_back(sharing(item, args, keepsHistory));
      return items;
    }
    if (!value.isTensor() || value.tensor().traced >= 0 || !value.tensor().defined()) return value;
    VariablePtr of;
    eachTensor(args, {}, [&](const Tensor& tensor) {
      if (!of && sharesValues(tensor, value.tensor())) of = variableOf(tensor);
    });
    if (!of) return value;
    VariablePtr view = makeView(value.tensor(), of, keepsHistory);
    const Tensor handle = view->tensor;
    CallScope::keep(std::move(view));
    return handle;
  }

  /// What was written into stays the same variable, whose sizes may have changed (unsqueeze_).
  Result<Value> written(const OpInfo& op, const BoundArguments& bound, Value result) const {
    for (std::size_t i = 0; i < bound.values.size(); ++i) {
      if (!writesTo(op, i)) continue;
      eachTensor(bound.values[i], [&](const Tensor& tensor) {
        if (const VariablePtr variable = variableOf(tensor)) ++*variable->version;
      });
    }
    if (!result.isTensor() || bound.values.empty() || !bound.values[0].isTensor() || !writesTo(op, 0)) return result;
    const VariablePtr target = variableOf(bound.tensor(0));
    if (!target) return result;
    Tensor now = result.tensor();
    now.traced = target->tensor.traced;
    target->tensor = now;
    return Value(std::move(now));
  }

  Result<Value> record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const {
    KERF_TRY(BoundArguments bound, bindArguments(op, args, kwargs));
    if (!writes(op)) {
      KERF_TRY(const Value result, runKernel(op, args, kwargs));
      return recordCall(op, bound, result);
    }
    return recordInplace(op, bound, args, kwargs);
  }

  Result<Value> recordInplace(const OpInfo& op, const BoundArguments& bound, const ValueList& args,
                              const KeywordValues& kwargs) const {
    if (bound.values.empty() || !bound.values[0].isTensor() || !writesTo(op, 0))
      return recordOther(op, bound, args, kwargs);
    VariablePtr target = variableOf(bound.tensor(0));
    if (!target) {  // an intermediate value of a program that nobody named
      target = makeVariable(bound.tensor(0));
      CallScope::keep(target);
    }
    if (target->requiresGrad && !target->gradFn)
      return fail(ErrorCode::RuntimeFailed,
                  "a leaf Variable that requires grad is being used in an in-place operation.");
    if (target->base && target->base->requiresGrad && !target->base->gradFn)
      return fail(ErrorCode::RuntimeFailed,
                  "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    BoundArguments saved = bound;
    if (!isDispatched(bound.tensor(0)) && op.id != "aten.copy_.default"_op && op.id != "aten.zero_.default"_op) {
      KERF_TRY(saved.values[0], copyOf(bound.tensor(0)));
    }
    KERF_TRY(Value result, runKernel(op, args, kwargs));
    KERF_CHECK(recordWrite(op, saved, result, *target));
    KERF_TRY(Value now, written(op, bound, std::move(result)));
    if (now.isTensor()) {
      Tensor handle = now.tensor();
      handle.traced = target->tensor.traced;
      return Value(std::move(handle));
    }
    return now;
  }

  /// Ops that write elsewhere than into their first argument (running statistics) are taped by what they give.
  Result<Value> recordOther(const OpInfo& op, const BoundArguments& bound, const ValueList& args,
                            const KeywordValues& kwargs) const {
    KERF_TRY(Value result, runKernel(op, args, kwargs));
    KERF_TRY(result, written(op, bound, std::move(result)));
    return recordCall(op, bound, result);
  }
};

}  // namespace

const OpCaller& eagerOps() {
  static const EagerOps instance;
  return instance;
}

GradModes& gradModes() {
  static GradModes modes;
  return modes;
}

const NamedResults& lastNamedResults() { return lastNamed; }

}  // namespace kerf::inline torch_api
