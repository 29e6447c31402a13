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

/// Parameters of a fresh module: "weight" and "bias" as they are called with, none where there is none.
struct ModuleParameters {
  Value weight, bias;
};

/// One module and what it is called with.
struct ModuleCall {
  const PythonExpression& repr;
  std::string_view name;
  std::uint64_t seed;
  const ValueList& inputs;
  const OpCaller& ops;
  const KeywordValues& parameters;

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
  /// A module is of its input's dtype, as in an fp64 run.
  Result<void> castLikeInput(Value& parameter) const;
  /// What the module was given, else what `made` draws.
  Result<ModuleParameters> own(Result<ModuleParameters> (*made)(const ModuleCall&)) const;
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

/// Within 1 / sqrt(fan in), torch's default for linear and convolution layers.
Result<ModuleParameters> layerParameters(const ModuleCall& call, const Sizes& sizes) {
  double fanIn = 1;
  for (std::size_t i = 1; i < sizes.size(); ++i) fanIn *= double(sizes[i]);
  const double bound = 1 / std::sqrt(std::max(fanIn, 1.0));
  ModuleParameters made;
  KERF_TRY(made.weight, call.uniform(sizes, bound, 1));
  if (call.flag("bias", true)) {
    KERF_TRY(made.bias, call.uniform({sizes[0]}, bound, 2));
  }
  return made;
}

Result<void> ModuleCall::castLikeInput(Value& parameter) const {
  if (!parameter.isTensor() || inputs.empty() || !inputs[0].isTensor()) return {};
  if (const DType dtype = inputs[0].tensor().dtype(); isFloating(dtype)) {
    KERF_TRY(parameter, parameter.tensor().to(dtype));
  }
  return {};
}

Result<ModuleParameters> ModuleCall::own(Result<ModuleParameters> (*made)(const ModuleCall&)) const {
  if (parameters.empty()) {
    KERF_TRY(ModuleParameters drawn, made(*this));
    KERF_CHECK(castLikeInput(drawn.weight));
    KERF_CHECK(castLikeInput(drawn.bias));
    return drawn;
  }
  ModuleParameters given;
  for (const auto& [name, value] : parameters) (name == "weight" ? given.weight : given.bias) = value;
  return given;
}

Result<ModuleParameters> linearParameters(const ModuleCall& call) {
  return layerParameters(call, {call.integer(1, "out_features", 0), call.integer(0, "in_features", 0)});
}
Result<Value> linearLayer(const ModuleCall& call) {
  KERF_TRY(const ModuleParameters own, call.own(linearParameters));
  return call.function("linear", {own.weight, own.bias});
}

std::size_t convolutionDims(const ModuleCall& call) { return std::size_t(call.name[4] - '0'); }
Result<ModuleParameters> convolutionParameters(const ModuleCall& call) {
  const std::int64_t groups = call.integer(SIZE_MAX, "groups", 1);
  if (groups < 1) return fail(ErrorCode::BadInput, "{}: groups must be positive", call.name);
  Sizes sizes{call.integer(1, "out_channels", 0), call.integer(0, "in_channels", 0) / groups};
  const Value kernel = call.list(2, "kernel_size", convolutionDims(call), 1);
  for (const Value& size : kernel.list()) sizes.push_back(*size.as<std::int64_t>());
  return layerParameters(call, sizes);
}
Result<Value> convolution(const ModuleCall& call) {
  const std::size_t dims = convolutionDims(call);
  KERF_TRY(const ModuleParameters own, call.own(convolutionParameters));
  return call.function(fmt::format("conv{}d", dims),
                       {own.weight, own.bias, call.list(3, "stride", dims, 1), call.list(SIZE_MAX, "padding", dims, 0),
                        call.list(SIZE_MAX, "dilation", dims, 1), Value(call.integer(SIZE_MAX, "groups", 1))});
}

/// Fresh normalisation layers have weight 1 and bias 0.
Result<ModuleParameters> normParameters(const ModuleCall& call, std::string_view affine, const Sizes& sizes) {
  ModuleParameters made;
  if (!call.flag(affine, true)) return made;
  KERF_TRY(const Tensor zeros, Tensor::zeros(DType::Float32, sizes));
  KERF_TRY(const Tensor ones, Tensor::zeros(DType::Float32, sizes));
  for (std::int64_t i = 0; i < ones.numel(); ++i) ones.data<float>()[i] = 1;
  made.weight = ones;
  if (call.flag("bias", true)) made.bias = zeros;
  return made;
}
Result<ModuleParameters> batchNormParameters(const ModuleCall& call) {
  return normParameters(call, "affine", {call.integer(0, "num_features", 0)});
}
Result<Value> batchNorm(const ModuleCall& call) {
  KERF_TRY(const ModuleParameters own, call.own(batchNormParameters));
  return call.function("batch_norm", {Value(), Value(), own.weight, own.bias, Value(true),
                                      Value(call.number(2, "momentum", 0.1)), Value(call.number(1, "eps", 1e-5))});
}
Result<ModuleParameters> layerNormParameters(const ModuleCall& call) {
  const Value shape = call.list(0, "normalized_shape", 1, 1);
  Sizes sizes;
  for (const Value& size : shape.list()) sizes.push_back(*size.as<std::int64_t>());
  return normParameters(call, "elementwise_affine", sizes);
}
Result<Value> layerNorm(const ModuleCall& call) {
  KERF_TRY(const ModuleParameters own, call.own(layerNormParameters));
  return call.function(
      "layer_norm", {call.list(0, "normalized_shape", 1, 1), own.weight, own.bias, Value(call.number(1, "eps", 1e-5))});
}

Result<ModuleParameters> embeddingParameters(const ModuleCall& call) {
  ModuleParameters made;
  KERF_TRY(made.weight, call.uniform({call.integer(0, "num_embeddings", 0), call.integer(1, "embedding_dim", 0)},
                                     std::sqrt(3.0), 1));
  return made;
}
Result<Value> embedding(const ModuleCall& call) {
  KERF_TRY(const ModuleParameters own, call.own(embeddingParameters));
  return call.function("embedding", {own.weight});
}

Result<Value> dropout(const ModuleCall& call) { return call.function("dropout", {Value(call.number(0, "p", 0.5))}); }
Result<Value> identity(const ModuleCall& call) { return call.inputs[0]; }
Result<Value> flatten(const ModuleCall& call) {
  return callPythonLevel(
      "torch.flatten", {call.inputs[0], Value(call.integer(0, "start_dim", 1)), Value(call.integer(1, "end_dim", -1))},
      {}, call.ops);
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
  Result<ModuleParameters> (*parameters)(const ModuleCall&) = nullptr;
  std::string_view function = {};  ///< of torch.nn.functional, where the input is all it takes
};
Result<Value> activation(const ModuleCall& call);

constexpr ModuleRow rows[] = {
    {"Linear", linearLayer, linearParameters},
    {"Conv1d", convolution, convolutionParameters},
    {"Conv2d", convolution, convolutionParameters},
    {"Conv3d", convolution, convolutionParameters},
    {"BatchNorm1d", batchNorm, batchNormParameters},
    {"BatchNorm2d", batchNorm, batchNormParameters},
    {"BatchNorm3d", batchNorm, batchNormParameters},
    {"LayerNorm", layerNorm, layerNormParameters},
    {"Embedding", embedding, embeddingParameters},
    {"Dropout", dropout},
    {"Identity", identity},
    {"Flatten", flatten},
    {"Softmax", softmax},
    {"LogSoftmax", softmax},
    {"AdaptiveAvgPool2d", adaptivePool},
    {"MaxPool2d", maxPool},
    {"GELU", gelu},
    {"ReLU", activation, nullptr, "relu"},
    {"SiLU", activation, nullptr, "silu"},
    {"Sigmoid", activation, nullptr, "sigmoid"},
    {"Tanh", activation, nullptr, "tanh"},
    {"Hardswish", activation, nullptr, "hardswish"},
    {"Hardsigmoid", activation, nullptr, "hardsigmoid"},
    {"Softplus", activation, nullptr, "softplus"},
    {"Mish", activation, nullptr, "mish"},
};

Result<Value> activation(const ModuleCall& call) {
  return call.function(std::ranges::find(rows, call.name, &ModuleRow::name)->function, {});
}

/// A repr as the row that builds it; no row for what is no Python call of a module in the table.
struct ModuleRepr {
  Result<PythonExpression> expression;
  const ModuleRow* row = nullptr;

  explicit ModuleRepr(std::string_view repr) : expression(parsePythonExpression(repr)) {
    if (!expression || expression->kind != PythonKind::Call || expression->items[0].kind != PythonKind::Name) return;
    const auto* found = std::ranges::find(rows, name(), &ModuleRow::name);
    row = found == std::end(rows) ? nullptr : found;
  }
  std::string_view name() const {
    const std::string_view full = expression->items[0].text;
    return full.substr(full.rfind('.') + 1);
  }
};

}  // namespace

Result<Value> callNnModule(std::string_view path, std::string_view repr, const ValueList& inputs, const OpCaller& ops,
                           const KeywordValues& parameters) {
  const ModuleRepr known(repr);
  if (known.row == nullptr)
    return fail(ErrorCode::UnsupportedOp, "submodule '{}' ({}) has no graph to run", path, repr);
  if (inputs.empty()) return fail(ErrorCode::ShapeMismatch, "submodule '{}' is called without input", path);
  return known.row->run({*known.expression, known.name(), hashText(path).low, inputs, ops, parameters});
}

std::vector<std::pair<std::string, Tensor>> nnModuleParameters(std::string_view path, std::string_view repr) {
  const ModuleRepr known(repr);
  std::vector<std::pair<std::string, Tensor>> named;
  if (known.row == nullptr || known.row->parameters == nullptr) return named;
  const auto made =
      known.row->parameters({*known.expression, known.name(), hashText(path).low, {}, referenceOps(), {}});
  if (!made) return named;  // calling it says why
  if (made->weight.isTensor()) named.emplace_back("weight", made->weight.tensor());
  if (made->bias.isTensor()) named.emplace_back("bias", made->bias.tensor());
  return named;
}

void addNnModuleParameters(GraphModule& module) {
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (node.op() != Opcode::CallModule) continue;
    const Submodule* found = module.submodule(node.target());
    if (found == nullptr || found->graph) continue;
    for (auto& [name, tensor] : nnModuleParameters(node.target(), found->repr)) {
      const std::string path = fmt::format("{}.{}", node.target(), name);
      if (module.attribute(path) == nullptr) module.attributes.add(path, TensorAttribute{std::move(tensor), true, {}});
    }
  }
}

}  // namespace kerf::inline ops
