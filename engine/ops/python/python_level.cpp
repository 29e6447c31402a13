#include "engine/ops/python/python_level.h"

#include <algorithm>

#include "engine/ops/core/autocast.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/python/bind_python_call.h"
#include "engine/ops/python/call_values.h"
#include "engine/ops/python/nn_modules.h"
#include "engine/ops/python/out_argument.h"
#include "engine/ops/python/tensor_facts.h"

namespace kerf::inline ops {
namespace {

/// How the Interpreter asks for modules without a graph.
constexpr std::string_view moduleMark = "module:";

/// Calls that change no value: settings, logging, tracing marks.
constexpr std::string_view withoutEffect[] = {
    "torch._C._log_api_usage_once",
    "torch._C._set_grad_enabled",
    "torch.set_grad_enabled",
    "torch.autograd.grad_mode.set_grad_enabled",
    "torch.autograd.function.FunctionCtx",
    "torch._functorch.predispatch.lazy_load_decompositions",
    "torch._dynamo.graph_break",
    "torch._C._autograd._saved_tensors_hooks_disable",
    "torch._C._autograd._saved_tensors_hooks_enable",
    "torch._C._autograd._saved_tensors_hooks_is_enabled",
    "torch._C._set_autograd_fallback_mode",
    "torch._C._set_cublas_allow_tf32",
    "torch._C._set_cudnn_allow_tf32",
    "torch._C._set_cudnn_benchmark",
    "torch._C._set_cudnn_deterministic",
    "torch._C._set_cudnn_enabled",
    "torch._C._set_deterministic_algorithms",
    "torch._C._set_float32_matmul_precision",
    "torch._C._set_mkldnn_enabled",
    "torch._C._set_multithreading_enabled",
    "torch._C._set_sdp_use_cudnn",
    "torch._C._set_sdp_use_flash",
    "torch._C._set_sdp_use_math",
    "torch._C._set_sdp_use_mem_efficient",
    "torch._C._set_view_replay_enabled",
    "torch._C.autocast_decrement_nesting",
    "torch._C.autocast_increment_nesting",
    "torch._C.clear_autocast_cache",
    "torch._C.set_autocast_cache_enabled",
    "torch.set_float32_matmul_precision",
    "torch.set_warn_always",
    "torch.use_deterministic_algorithms",
    "torch.autograd.grad_mode._enter_inference_mode",
    "torch.autograd.grad_mode._exit_inference_mode",
    "torch._dynamo._trace_wrapped_higher_order_op.inner_trace",
};

const PythonRow* findRow(std::string_view name) {
  for (const PythonRows rows :
       {nnFunctionRows(), functionalLossRows(), functionalLayerRows(), resamplingRows(), torchFunctionRows(),
        signalWindowRows(), shapeFunctionRows(), tensorFactRows(), constructorRows(), tensorMethodRows()}) {
    const auto found = std::ranges::find(rows, name, &PythonRow::name);
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

/// "torch.ops.aten.index": all overloads of a name, of which the arguments choose one.
bool isPacket(std::string_view target) {
  constexpr std::string_view home = "torch.ops.aten.";
  return target.starts_with(home) && target.find('.', home.size()) == target.npos;
}

std::string_view lastName(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// Every parameter of the form by its name; `rest` is what "*args" took.
KeywordValues parametersOf(const BoundForm& bound, const ValueList& args, const KeywordValues& kwargs,
                           ValueList& rest) {
  KeywordValues named;
  const std::size_t first = bound.callable->isMethod ? 1 : 0;
  if (first > 0) named.emplace_back("self", args[0]);
  for (std::size_t i = 0; i < bound.slots.size(); ++i) {
    const FormParameter& parameter = bound.form->parameters[i];
    const ParameterSlot& slot = bound.slots[i];
    const auto from = args.begin() + std::ptrdiff_t(std::min(first + slot.index, args.size()));
    if (parameter.star == ParameterStar::Positional)
      rest.assign(from, args.end());
    else if (slot.source == SlotSource::Rest)
      named.emplace_back(parameter.name, Value(ValueList(from, args.end())));
    else if (slot.source == SlotSource::Positional)
      named.emplace_back(parameter.name, *from);
    else if (slot.source == SlotSource::Keyword)
      named.emplace_back(parameter.name, kwargs[slot.index].second);
    else if (parameter.star == ParameterStar::None && parameter.isOptional)
      named.emplace_back(parameter.name, parameter.byDefault);
  }
  return named;
}

/// Dimensions by name, which no tensor here has; names=None is none.
bool usesNames(const BoundForm& bound, const KeywordValues& kwargs) {
  for (std::size_t i = 0; i < bound.slots.size(); ++i) {
    const ParameterSlot& slot = bound.slots[i];
    if (bound.form->parameters[i].kind != ParameterKind::Dimname || slot.source == SlotSource::Absent) continue;
    if (slot.source != SlotSource::Keyword || !kwargs[slot.index].second.isNone()) return true;
  }
  return false;
}

/// A function or method of PyTorch by its signature: a row above, else the ATen overload that the call means.
Result<Value> callFunction(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                           const OpCaller& ops) {
  KERF_TRY(const BoundForm bound, bindPythonCall(target, args, kwargs));
  if (usesNames(bound, kwargs))
    return fail(ErrorCode::UnsupportedOp, "{}: names of dimensions are not supported", target);
  const std::string_view full = bound.callable->name, name = lastName(full);
  if (isPacket(full)) return callBoundForm(bound, args, kwargs, ops);
  const PythonRow* row = findRow(fmt::format("{}{}", full, bound.form->text));
  if (row == nullptr) row = findRow(full);
  if (row == nullptr) row = findRow(name);
  if (row == nullptr && !bound.callable->isPythonDefined()) return callBoundForm(bound, args, kwargs, ops);
  ValueList rest;
  KeywordValues named = parametersOf(bound, args, kwargs, rest);
  const auto out = std::ranges::find(named, "out", &std::pair<std::string, Value>::first);
  const Value into = out == named.end() ? Value() : std::exchange(out->second, Value());
  OutCall outCall{full, nullptr, rest, false};
  for (const auto& [key, value] : named) {
    if (!into.isNone()) outCall.inputs.push_back(value);
    if (key == "dtype") outCall.choosesDtype = !value.isNone();
  }
  const PythonCall call{name, rest, named, ops, args.size()};
  Result<Value> result = row != nullptr ? row->run(call) : callSameNamed(call, name);
  if (!result) return result;
  const auto wish = std::ranges::find(named, "requires_grad", &std::pair<std::string, Value>::first);
  if (wish != named.end()) KERF_CHECK(checkGradientWish(full, wish->second, *result));
  if (into.isNone()) return result;
  KERF_CHECK(checkOut(outCall, *result, into, ops));
  return writeInto(full, *result, into, ops);
}

}  // namespace

bool runsAsPython(std::string_view target) {
  if (isPacket(target)) return true;
  if (target.starts_with("torch.ops.")) return false;
  return target.starts_with("torch.") || target.starts_with("method.") || target.starts_with("operator.") ||
         target.starts_with(moduleMark) || target.starts_with("builtins.");
}

namespace {

Result<Value> callAtPythonLevel(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                                const OpCaller& ops) {
  if (target.starts_with(moduleMark)) {  // "module:path=repr"
    const std::string_view both = target.substr(moduleMark.size());
    const std::size_t split = std::min(both.find('='), both.size() - 1);
    return callNnModule(both.substr(0, split), both.substr(split + 1), args, ops, kwargs);
  }
  if (std::ranges::find(withoutEffect, target) != std::end(withoutEffect)) return Value();
  if (target == "torch.amp.autocast_mode._enter_autocast") return enterAutocast(args);
  if (target == "torch.amp.autocast_mode._exit_autocast") {
    exitAutocast();
    return Value();
  }
  if (auto done = callTensorOperator(target, args, ops)) return std::move(*done);
  if (target.starts_with("operator.")) {
    const std::string_view name = target.substr(9);
    const PythonRows rows = pythonOperatorRows();
    const auto row = std::ranges::find(rows, name, &PythonRow::name);
    if (row == rows.end()) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", target);
    return row->run({name, args, kwargs, ops});
  }
  if (target == "builtins.getattr") return getAttribute({"getattr", args, kwargs, ops});
  if (target == "builtins.abs" && args.size() == 1 && args[0].isTensor()) target = "method.abs";
  if (target == "builtins.len" && args.size() == 1) return lengthOf(args[0]);
  if (target == "builtins.range") return rangeOf(args);
  if (target.starts_with("method.__"))
    if (auto done = callDunder(target.substr(7), args, ops)) return std::move(*done);
  if (target == "torch._C._autograd._get_data_attr") target = "method.detach";
  auto result = callFunction(target, args, kwargs, ops);
  if (!result && result.error().code == ErrorCode::UnsupportedOp)
    result.error().while_(fmt::format("calling {}", target));
  return result;
}

}  // namespace

Result<Value> callPythonLevel(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                              const OpCaller& ops) {
  try {
    return withoutThrowing([&] { return callAtPythonLevel(target, args, kwargs, ops); });
  } catch (const std::bad_variant_access&) {  // a program that took None, or a number, for a tensor or a list
    return fail(ErrorCode::BadInput, "{}: an argument is of another kind than this function takes", target);
  }
}

}  // namespace kerf::inline ops
