// torch.nn modules that a graph knows only by their repr ("Linear(in_features=8, out_features=4, bias=True)"), as after
// a Dynamo repro: built as PyTorch builds them, in training mode, with weights drawn from the module's path.
#include <algorithm>
#include <cmath>

#include "engine/ir/python_expression.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/python/nn_modules.h"
#include "engine/ops/python/python_level.h"
#include "engine/support/hash.h"

namespace kerf::inline ops {
namespace {

/// One module and what it is called with.
struct ModuleCall {
  const PythonExpression& repr;
  std::string_view name;
  std::uint64_t seed;
  const ValueList& inputs;
  const OpCaller& ops;

  const PythonExpression* find(std::size_t i, std::string_view key) const {
    if (i < repr.positionalCount()) return &repr.positional(i);
    return repr.keyword(key);
  }
  double number(std::size_t i, std::string_view key, double fallback) const;
  std::int64_t integer(std::size_t i, std::string_view key, std::int64_t fallback) const {
    return std::int64_t(number(i, key, double(fallback)));
  }
  bool flag(std::string_view key, bool fallback) const {
    const PythonExpression* found = repr.keyword(key);
    return found == nullptr ? fallback : found->text == "True";
  }
  /// "(3, 3)" or 3 as `count` numbers.
  Value list(std::size_t i, std::string_view key, std::size_t count, std::int64_t fallback) const;
  /// Uniform in [-bound, bound), the same for the same module and `which`.
  Result<Tensor> uniform(const Sizes& sizes, double bound, std::uint64_t which) const;
  Result<Value> function(std::string_view name, ValueList args, const KeywordValues& kwargs = {}) const {
    args.insert(args.begin(), inputs[0]);
    return callPythonLevel(fmt::format("torch.nn.functional.{}", name), args, kwargs, ops);
  }
};

/// An integer or float literal, maybe negative.
std::optional<double> literal(const PythonExpression& expression) {
  if (expression.kind == PythonKind::Unary && expression.text == "-") {
    const auto inner = literal(expression.items[0]);
    return inner ? std::optional(-*inner) : std::nullopt;
  }
  if (expression.kind != PythonKind::Integer && expression.kind != PythonKind::Float) return {};
  const double value = std::strtod(expression.text.c_str(), nullptr);
  return std::abs(value) < 1e9 ? std::optional(value) : std::nullopt;
}

double ModuleCall::number(std::size_t i, std::string_view key, double fallback) const {
  const PythonExpression* found = find(i, key);
  return found ? literal(*found).value_or(fallback) : fallback;
}

Value ModuleCall::list(std::size_t i, std::string_view key, std::size_t count, std::int64_t fallback) const {
  const PythonExpression* found = find(i, key);
  Sizes values;
  if (found != nullptr && (found->kind == PythonKind::Tuple || found->kind == PythonKind::List))
    for (const PythonExpression& item : found->items) values.push_back(std::int64_t(literal(item).value_or(0)));
  if (values.empty()) values.assign(count, integer(i, key, fallback));
  return intList(values);
}

Result<Tensor> ModuleCall::uniform(const Sizes& sizes, double bound, std::uint64_t which) const {
  KERF_TRY(Tensor tensor, Tensor::zeros(DType::Float32, sizes));
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::uint64_t bits = seed + which * 0x51ed270b9d1c6f3du + std::uint64_t(i + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    const double unit = double((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
    tensor.data<float>()[i] = float((2 * unit - 1) * bound);
  }
  return tensor;
}

/// Weight and bias within 1 / sqrt(fan in), torch's default for linear and convolution layers.
Result<ValueList> layerWeights(const ModuleCall& call, const Sizes& sizes) {
  double fanIn = 1;
  for (std::size_t i = 1; i < sizes.size(); ++i) fanIn *= double(sizes[i]);
  const double bound = 1 / std::sqrt(std::max(fanIn, 1.0));
  KERF_TRY(const Tensor weight, call.uniform(sizes, bound, 1));
  if (!call.flag("bias", true)) return ValueList{Value(weight), Value()};
  KERF_TRY(const Tensor bias, call.uniform({sizes[0]}, bound, 2));
  return ValueList{Value(weight), Value(bias)};
}

Result<Value> linear(const ModuleCall& call) {
  KERF_TRY(const ValueList weights,
           layerWeights(call, {call.integer(1, "out_features", 0), call.integer(0, "in_features", 0)}));
  return call.function("linear", weights);
}

Result<Value> convolution(const ModuleCall& call) {
  const auto dims = std::size_t(call.name[4] - '0');
  const std::int64_t groups = call.integer(SIZE_MAX, "groups", 1);
  if (groups < 1) return fail(ErrorCode::BadInput, "{}: groups must be positive", call.name);
  Sizes sizes{call.integer(1, "out_channels", 0), call.integer(0, "in_channels", 0) / groups};
  const Value kernel = call.list(2, "kernel_size", dims, 1);
  for (const Value& size : kernel.list()) sizes.push_back(*size.as<std::int64_t>());
  KERF_TRY(ValueList args, layerWeights(call, sizes));
  args.push_back(call.list(3, "stride", dims, 1));
  args.push_back(call.list(SIZE_MAX, "padding", dims, 0));
  args.push_back(call.list(SIZE_MAX, "dilation", dims, 1));
  args.emplace_back(groups);
  return call.function(fmt::format("conv{}d", dims), std::move(args));
}

/// Fresh layers have weight 1 and bias 0.
Result<Value> batchNorm(const ModuleCall& call) {
  return call.function("batch_norm", {Value(), Value(), Value(), Value(), Value(true),
                                      Value(call.number(2, "momentum", 0.1)), Value(call.number(1, "eps", 1e-5))});
}
Result<Value> layerNorm(const ModuleCall& call) {
  return call.function("layer_norm",
                       {call.list(0, "normalized_shape", 1, 1), Value(), Value(), Value(call.number(1, "eps", 1e-5))});
}

Result<Value> embedding(const ModuleCall& call) {
  KERF_TRY(
      const Tensor weight,
      call.uniform({call.integer(0, "num_embeddings", 0), call.integer(1, "embedding_dim", 0)}, std::sqrt(3.0), 1));
  return call.function("embedding", {Value(weight)});
}

Result<Value> dropout(const ModuleCall& call) { return call.function("dropout", {Value(call.number(0, "p", 0.5))}); }
Result<Value> identity(const ModuleCall& call) { return call.inputs[0]; }
Result<Value> flatten(const ModuleCall& call) {
  return call.function("flatten", {Value(call.integer(0, "start_dim", 1)), Value(call.integer(1, "end_dim", -1))});
}
Result<Value> softmax(const ModuleCall& call) {
  return call.function(call.name == "Softmax" ? "softmax" : "log_softmax", {Value(call.integer(0, "dim", -1))});
}
Result<Value> adaptivePool(const ModuleCall& call) {
  return call.function("adaptive_avg_pool2d", {call.list(0, "output_size", 2, 1)});
}
Result<Value> maxPool(const ModuleCall& call) {
  const Value kernel = call.list(0, "kernel_size", 2, 1);
  return call.function("max_pool2d", {kernel, call.list(1, "stride", 2, *kernel.list()[0].as<std::int64_t>()),
                                      call.list(2, "padding", 2, 0)});
}
Result<Value> gelu(const ModuleCall& call) {
  const PythonExpression* form = call.find(0, "approximate");
  return call.function("gelu", {}, {{"approximate", Value(form ? form->text : std::string("none"))}});
}

struct ModuleRow {
  std::string_view name;
  Result<Value> (*run)(const ModuleCall&);
  std::string_view function = {};  ///< of torch.nn.functional, where the input is all it takes
};
Result<Value> activation(const ModuleCall& call);

constexpr ModuleRow rows[] = {
    {"Linear", linear},
    {"Conv1d", convolution},
    {"Conv2d", convolution},
    {"Conv3d", convolution},
    {"BatchNorm1d", batchNorm},
    {"BatchNorm2d", batchNorm},
    {"BatchNorm3d", batchNorm},
    {"LayerNorm", layerNorm},
    {"Embedding", embedding},
    {"Dropout", dropout},
    {"Identity", identity},
    {"Flatten", flatten},
    {"Softmax", softmax},
    {"LogSoftmax", softmax},
    {"AdaptiveAvgPool2d", adaptivePool},
    {"MaxPool2d", maxPool},
    {"GELU", gelu},
    {"ReLU", activation, "relu"},
    {"SiLU", activation, "silu"},
    {"Sigmoid", activation, "sigmoid"},
    {"Tanh", activation, "tanh"},
    {"Hardswish", activation, "hardswish"},
    {"Hardsigmoid", activation, "hardsigmoid"},
    {"Softplus", activation, "softplus"},
    {"Mish", activation, "mish"},
};

Result<Value> activation(const ModuleCall& call) {
  return call.function(std::ranges::find(rows, call.name, &ModuleRow::name)->function, {});
}

}  // namespace

Result<Value> callNnModule(std::string_view path, std::string_view repr, const ValueList& inputs, const OpCaller& ops) {
  const auto expression = parsePythonExpression(repr);
  const bool isCall =
      expression && expression->kind == PythonKind::Call && expression->items[0].kind == PythonKind::Name;
  if (!isCall) return fail(ErrorCode::UnsupportedOp, "submodule '{}' ({}) has no graph to run", path, repr);
  const std::string& full = expression->items[0].text;
  const std::string name = full.substr(full.rfind('.') + 1);
  const auto row = std::ranges::find(rows, name, &ModuleRow::name);
  if (row == std::end(rows))
    return fail(ErrorCode::UnsupportedOp, "submodule '{}' ({}) has no graph to run", path, repr);
  if (inputs.empty()) return fail(ErrorCode::ShapeMismatch, "submodule '{}' is called without input", path);
  return row->run({*expression, name, hashText(path).low, inputs, ops});
}

}  // namespace kerf::inline ops
