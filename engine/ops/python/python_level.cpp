#include "engine/ops/python/python_level.h"

#include <algorithm>
#include <array>

#include "engine/ops/core/autocast.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/python/nn_modules.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

/// How the Interpreter asks for modules without a graph.
constexpr std::string_view moduleMark = "module:";

/// A Python module and what its functions' names start with in ATen.
struct Module {
  std::string_view prefix;
  std::string_view atenPrefix;
};
constexpr Module modules[] = {
    {"torch.nn.functional.", ""},
    {"torch._C._nn.", ""},
    {"torch._C._fft.", ""},
    {"torch._C._linalg.", ""},
    {"torch._C._special.", ""},
    {"torch.linalg.", "linalg_"},
    {"torch.fft.", "fft_"},
    {"torch.special.", "special_"},
    {"torch._C.TensorBase.", ""},
    {"torch.Tensor.", ""},
    {"torch._tensor.", ""},
    {"torch.functional.", ""},
    {"torch._C._VariableFunctions.", ""},
    {"torch.nn.init.", ""},
    {"method.", ""},
    {"torch.", ""},
};

/// Calls that change no value: settings, logging, tracing marks.
constexpr std::string_view withoutEffect[] = {
    "torch._C._log_api_usage_once",
    "torch._C._set_grad_enabled",
    "torch.set_grad_enabled",
    "torch.autograd.grad_mode.set_grad_enabled",
    "torch.autograd.function.FunctionCtx",
    "torch._functorch.predispatch.lazy_load_decompositions",
    "torch._dynamo.graph_break",
    "torch._dynamo._trace_wrapped_higher_order_op.inner_trace",
};

std::string atenName(std::string_view target) {
  for (const Module& module : modules)
    if (target.starts_with(module.prefix))
      return std::string(module.atenPrefix) + std::string(target.substr(module.prefix.size()));
  return std::string(target);
}

/// "__add__" → "add", "__and__" stays what ATen calls it too: "bitwise_and".
std::string withoutUnderscores(std::string name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> bitwise = {
      {{"__and__", "bitwise_and"},
       {"__or__", "bitwise_or"},
       {"__xor__", "bitwise_xor"},
       {"__invert__", "bitwise_not"}}};
  for (const auto& [dunder, aten] : bitwise)
    if (name == dunder) return std::string(aten);
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) return name.substr(2, name.size() - 4);
  return name;
}

/// Overloads that Python's argument parser would try first come first.
int overloadRank(std::string_view overload) {
  static constexpr std::array<std::string_view, 9> order = {"default", "Tensor", "Tensor_Scalar", "Scalar",    "dim",
                                                            "int",     "self",   "dim_IntList",   "using_ints"};
  return int(std::ranges::find(order, overload) - order.begin());
}

std::vector<const OpInfo*> overloadsOf(const std::string& name) {
  const std::string start = "aten." + name + ".";
  std::vector<const OpInfo*> found;
  const auto all = allOps();
  auto first = std::ranges::lower_bound(all, start, {}, [](const OpInfo& op) { return op.schema.qualifiedName(); });
  for (; first != all.end() && first->schema.qualifiedName().starts_with(start); ++first) found.push_back(&*first);
  std::ranges::sort(found, {}, [&](const OpInfo* op) {
    const std::string full = op->schema.qualifiedName();
    return std::pair(overloadRank(std::string_view(full).substr(start.size())), full);
  });
  return found;
}

/// x.view(2, 3) and torch.ones(2, 3) as view(x, [2, 3]) and ones([2, 3]); none where the last arguments are no ints.
std::optional<ValueList> packed(const ValueList& args, std::size_t first) {
  if (args.size() <= first) return {};
  ValueList numbers;
  for (std::size_t i = first; i < args.size(); ++i) {
    if (!args[i].asSymInt()) return {};
    numbers.push_back(args[i]);
  }
  ValueList result(args.begin(), args.begin() + std::ptrdiff_t(first));
  result.emplace_back(std::move(numbers));
  return result;
}

bool binds(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  const bool output = std::ranges::any_of(op.schema.arguments, [](const SchemaArgument& argument) {
    return argument.keywordOnly && argument.alias.find('!') != std::string::npos;
  });
  return !output && op.kernel != nullptr && bindArguments(op, args, kwargs).has_value();
}

Result<Value> callOverload(const PythonCall& call, const std::string& name);

/// `out=`: the result is written there. A tensor of another size, which PyTorch would resize, is refused.
Result<Value> callInto(const PythonCall& call, const std::string& name, const Value& out) {
  KeywordValues kwargs;
  std::ranges::copy_if(call.kwargs, std::back_inserter(kwargs), [](const auto& entry) { return entry.first != "out"; });
  KERF_TRY(const Value result, callOverload({call.name, call.args, kwargs, call.ops}, name));
  const ValueList to = out.isList() ? out.list() : ValueList{out};
  const ValueList from = result.isList() ? result.list() : ValueList{result};
  if (to.size() != from.size()) return fail(ErrorCode::ShapeMismatch, "{}: out= takes {} tensors", name, from.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!to[i].isTensor() || !from[i].isTensor())
      return fail(ErrorCode::ShapeMismatch, "{}: out= must be a tensor", name);
    if (!checkEqual(to[i].tensor().symSizes(), from[i].tensor().symSizes()))
      return fail(ErrorCode::UnsupportedOp, "{}: out= of another size is not resized", name);
    KERF_CHECK(call.aten("copy_.default", {to[i], from[i]}));
  }
  return out;
}

/// The ATen overload and the arguments as it takes them.
Result<Value> callOverload(const PythonCall& call, const std::string& name) {
  KeywordValues kwargs;
  bool inplace = false;
  for (const auto& [key, value] : call.kwargs) {
    if (key == "out" && !value.isNone()) return callInto(call, name, value);
    if (key == "inplace")
      inplace = value.as<bool>() && *value.as<bool>();
    else
      kwargs.emplace_back(key, value);
  }
  std::vector<const OpInfo*> overloads = overloadsOf(inplace ? name + "_" : name);
  if (inplace && overloads.empty()) overloads = overloadsOf(name);
  std::vector<ValueList> forms{call.args};
  for (std::size_t first : {std::size_t{1}, std::size_t{0}})
    if (auto list = packed(call.args, first)) forms.push_back(std::move(*list));
  if (call.args.size() > 1 && call.args.back().as<bool>())  // activations take `inplace` by position too
    forms.emplace_back(call.args.begin(), call.args.end() - 1);
  for (const ValueList& form : forms)
    for (const OpInfo* op : overloads)
      if (binds(*op, form, kwargs)) return call.ops.call(op->schema.qualifiedName(), form, kwargs);
  if (overloads.empty()) return fail(ErrorCode::UnsupportedOp, "no op is called '{}'", name);
  auto bound = bindArguments(*overloads.front(), call.args, kwargs);
  if (!bound) return fail(std::move(bound).error());
  return fail(ErrorCode::UnsupportedOp, "no overload of '{}' takes these arguments", name);
}

/// Activations of torch.nn.functional and the position of their `inplace`, where ATen's op may have another parameter.
struct InplacePosition {
  std::string_view name;
  std::size_t position;
};
constexpr InplacePosition inplacePositions[] = {
    {"elu", 2},         {"celu", 2},     {"leaky_relu", 2}, {"selu", 1}, {"relu", 1}, {"relu6", 1}, {"hardswish", 1},
    {"hardsigmoid", 1}, {"hardtanh", 3}, {"threshold", 3},  {"silu", 1}, {"mish", 1}, {"rrelu", 4},
};

/// What torch.nn.functional alone takes in its own way: losses by the name of the reduction, `inplace` by position.
/// None: the call is as any other.
std::optional<Result<Value>> callFunctional(const PythonCall& call) {
  if (const PythonRow loss = functionalLossRow(call.name); loss.run != nullptr) return loss.run(call);
  const auto found = std::ranges::find(inplacePositions, call.name, &InplacePosition::name);
  if (found == std::end(inplacePositions) || call.args.size() <= found->position) return {};
  ValueList args(call.args.begin(), call.args.begin() + std::ptrdiff_t(found->position));
  KeywordValues kwargs = call.kwargs;
  kwargs.emplace_back("inplace", call.args[found->position]);
  return callOverload({call.name, args, kwargs, call.ops}, std::string(call.name));
}

const PythonRow* findRow(std::string_view name) {
  for (const PythonRows rows : {nnFunctionRows(), tensorMethodRows()}) {
    const auto found = std::ranges::find(rows, name, &PythonRow::name);
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

const Value* PythonCall::find(std::size_t i, std::string_view key) const {
  if (i < args.size()) return &args[i];
  for (const auto& [keyword, value] : kwargs)
    if (keyword == key) return &value;
  return nullptr;
}
Value PythonCall::get(std::size_t i, std::string_view key, Value fallback) const {
  const Value* value = find(i, key);
  return value ? *value : fallback;
}
Result<Tensor> PythonCall::tensor(std::size_t i, std::string_view key) const {
  const Value* value = find(i, key);
  if (value && value->isTensor()) return value->tensor();
  return fail(ErrorCode::ShapeMismatch, "{}: argument '{}' must be a tensor", name, key);
}
std::int64_t PythonCall::integer(std::size_t i, std::string_view key, std::int64_t fallback) const {
  return symInteger(i, key, fallback);
}
SymInt PythonCall::symInteger(std::size_t i, std::string_view key, SymInt fallback) const {
  const Value* value = find(i, key);
  return value ? value->asSymInt().value_or(fallback) : fallback;
}
double PythonCall::number(std::size_t i, std::string_view key, double fallback) const {
  const Value* value = find(i, key);
  if (value == nullptr) return fallback;
  if (const auto* real = value->as<double>()) return *real;
  if (const auto* whole = value->as<std::int64_t>()) return double(*whole);
  if (const auto* symbolic = value->as<SymNumber>(); symbolic && ShapeEnv::current() != nullptr)
    return ShapeEnv::current()->specialiseReal(symbolic->value);
  return fallback;
}
bool PythonCall::flag(std::size_t i, std::string_view key, bool fallback) const {
  const Value* value = find(i, key);
  const auto* given = value ? value->as<bool>() : nullptr;
  return given ? *given : fallback;
}
Result<Value> PythonCall::aten(std::string_view op, const ValueList& operands, const KeywordValues& keywords) const {
  return ops.call(fmt::format("torch.ops.aten.{}", op), operands, keywords);
}
Result<Tensor> PythonCall::atenTensor(std::string_view op, const ValueList& operands,
                                      const KeywordValues& keywords) const {
  KERF_TRY(const Value value, aten(op, operands, keywords));
  if (value.isTensor()) return value.tensor();
  if (value.isList() && !value.list().empty() && value.list()[0].isTensor()) return value.list()[0].tensor();
  return fail(ErrorCode::Internal, "aten.{} gave no tensor", op);
}

bool runsAsPython(std::string_view target) {
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
  if (target.starts_with("operator.")) {
    const std::string_view name = target.substr(9);
    const PythonRows rows = pythonOperatorRows();
    const auto row = std::ranges::find(rows, name, &PythonRow::name);
    if (row == rows.end()) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", target);
    return row->run({name, args, kwargs, ops});
  }
  if (target.starts_with("builtins.")) target.remove_prefix(9);
  const std::string name = withoutUnderscores(atenName(target));
  const PythonCall call{name, args, kwargs, ops};
  if (target.starts_with("torch.nn.functional."))
    if (auto done = callFunctional(call)) return std::move(*done);
  if (const PythonRow* row = findRow(name)) return row->run(call);
  if (name.find('.') != std::string::npos) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", target);
  auto result = callOverload(call, name);
  if (!result && result.error().code == ErrorCode::UnsupportedOp)
    result.error().while_(fmt::format("calling {}", target));
  return result;
}

}  // namespace

Result<Value> callPythonLevel(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                              const OpCaller& ops) {
  return withoutThrowing([&] { return callAtPythonLevel(target, args, kwargs, ops); });
}

}  // namespace kerf::inline ops
