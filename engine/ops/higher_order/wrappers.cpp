// Higher-order ops that run one nested graph or one op under some setting: on values they only pass them through.
#include <algorithm>

#include "engine/ops/core/autocast.h"
#include "engine/ops/higher_order/higher_order.h"

namespace kerf::inline ops {
namespace {

/// Where the nested graph's path and its operands stand among the arguments.
struct Wrapper {
  std::string_view name;
  std::size_t path;
  std::size_t operands;
  bool listed = false;  ///< the operands are one list
};
constexpr Wrapper wrappers[] = {
    {"invoke_subgraph", 0, 2},
    {"wrap", 0, 1},
    {"wrap_activation_checkpoint", 0, 1},
    {"tag_activation_checkpoint", 0, 1},
    {"wrap_with_set_grad_enabled", 1, 2},
    {"wrap_with_autocast", 4, 5},
    {"wrap_inductor_compile_options", 0, 1},
    {"inductor_compiled_code", 0, 1, true},
    {"run_const_graph", 0, 1, true},
    {"strict_mode", 0, 1, true},
    {"hints_wrapper", 0, 1, true},
    {"invoke_quant", 0, 1},
    {"invoke_quant_packed", 0, 1},
    {"dynamo_bypassing_wrapper", 1, 2},
    {"regional_inductor", 0, 1},
    {"local_map_hop", 0, 1},
    {"print", SIZE_MAX, SIZE_MAX},
};

Result<Value> runWrapper(const HigherOrderCall& call) {
  const Wrapper& wrapper = *std::ranges::find(wrappers, call.name, &Wrapper::name);
  if (wrapper.path == SIZE_MAX) return Value();  // print: nothing but an effect
  KERF_TRY(const std::string path, call.graph(wrapper.path));
  if (wrapper.listed) return call.run(path, call.list(wrapper.operands));
  std::optional<AutocastScope> scope;
  if (call.name == "wrap_with_autocast") {  // (device_type, dtype, enabled, cache_enabled, graph, …)
    KERF_TRY(Autocast setting, autocastOf(call.args));
    scope.emplace(std::move(setting));
  }
  const auto first = std::ptrdiff_t(std::min(wrapper.operands, call.args.size()));
  return call.run(path, ValueList(call.args.begin() + first, call.args.end()));
}

/// Name of the op that is passed as a value: "torch.ops.aten.add.Tensor".
Result<std::string> opAt(const HigherOrderCall& call, std::size_t i) {
  const std::string* name = i < call.args.size() ? call.args[i].as<std::string>() : nullptr;
  if (name != nullptr) return *name;
  return fail(ErrorCode::ShapeMismatch, "{}: argument {} must be an op", call.name, i);
}

/// with_effects(token, op, …) → (token, results…)
Result<Value> runWithEffects(const HigherOrderCall& call) {
  KERF_TRY(const std::string op, opAt(call, 1));  // so there are two arguments
  const ValueList operands(call.args.begin() + 2, call.args.end());
  ValueList results{call.args[0]};
  KERF_TRY(const Value value,
           findHigherOrder(op) ? callHigherOrderOp(op, operands, call.kwargs, call.subgraphs, call.ops, call.shapesOnly)
                               : call.ops.call(op, operands, call.kwargs));
  const ValueList parts = partsOf(value);
  results.insert(results.end(), parts.begin(), parts.end());
  return Value(std::move(results));
}

/// out_dtype(op, dtype, …): the op on operands converted to the result's dtype.
Result<Value> runOutDtype(const HigherOrderCall& call) {
  KERF_TRY(const std::string op, opAt(call, 0));
  const DType* dtype = call.args.size() > 1 ? call.args[1].as<DType>() : nullptr;
  if (dtype == nullptr) return fail(ErrorCode::ShapeMismatch, "out_dtype: argument 1 must be a dtype");
  ValueList operands;
  for (std::size_t i = 2; i < call.args.size(); ++i) {
    if (!call.args[i].isTensor()) {
      operands.push_back(call.args[i]);
      continue;
    }
    KERF_TRY(Value wide,
             call.ops.call("torch.ops.prims.convert_element_type.default", {call.args[i], Value(*dtype)}, {}));
    operands.push_back(std::move(wide));
  }
  return call.ops.call(op, operands, {});
}

/// autograd_function_apply(forward, backward, *args): forward(ctx, *args) gives the output and what it saved; without a
/// ctx where the call says which of the arguments are saved.
Result<Value> runAutogradFunction(const HigherOrderCall& call) {
  KERF_TRY(const std::string forward, call.graph(0));
  ValueList operands(call.find(SIZE_MAX, "saved_for_backward_idx") != nullptr ? 0 : 1);
  for (std::size_t i = 2; i < call.args.size(); ++i) operands.push_back(call.args[i]);
  KERF_TRY(const Value result, call.run(forward, operands));
  if (!result.isList() || result.list().empty())
    return fail(ErrorCode::ShapeMismatch,
                "autograd_function_apply: the forward graph must give output and saved values");
  return result.list()[0];
}

/// Values pass unchanged: markers for exporters.
Result<Value> runMarker(const HigherOrderCall& call) { return Value(call.args); }

constexpr HigherOrderRow wrapperRowsTable[] = {
    {"invoke_subgraph", runWrapper},
    {"wrap", runWrapper},
    {"wrap_activation_checkpoint", runWrapper},
    {"tag_activation_checkpoint", runWrapper},
    {"wrap_with_set_grad_enabled", runWrapper},
    {"wrap_with_autocast", runWrapper},
    {"wrap_inductor_compile_options", runWrapper},
    {"inductor_compiled_code", runWrapper},
    {"run_const_graph", runWrapper},
    {"strict_mode", runWrapper},
    {"hints_wrapper", runWrapper},
    {"invoke_quant", runWrapper},
    {"invoke_quant_packed", runWrapper},
    {"dynamo_bypassing_wrapper", runWrapper},
    {"regional_inductor", runWrapper},
    {"local_map_hop", runWrapper},
    {"print", runWrapper},
    {"with_effects", runWithEffects},
    {"out_dtype", runOutDtype},
    {"autograd_function_apply", runAutogradFunction},
    {"_export_tracepoint", runMarker},
};

}  // namespace

HigherOrderRows wrapperRows() { return wrapperRowsTable; }

}  // namespace kerf::inline ops
