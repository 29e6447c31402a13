// The forms as functions, and the inputs that they are traced with.
#include "engine/patterns/layer_patterns.h"

#include <cmath>
#include <utility>

#include "engine/patterns/example_meta.h"

namespace kerf::inline patterns {

namespace {

using Arguments = PatternArguments;
using Results = std::vector<Proxy>;

/// One layer: how it is written, which op it is, and its arguments.
struct LayerForm {
  std::string_view name, description;
  Results (*search)(const Arguments&);
  Results (*replace)(const Arguments&);
  bool hasWeight = false, hasBias = false;
  bool trains = true;  ///< the op has a backward op, too
  ScalarWorkaround scalars = {};
};

Argument lastSize(const Arguments& a) { return Argument::list({a.size("x", -1)}); }

Results softmax(const Arguments& a) { return {a.tensor("x").method("softmax", {a.integer("dim")})}; }
Results logSoftmax(const Arguments& a) { return {a.tensor("x").method("log_softmax", {a.integer("dim")})}; }

Results gelu(const Arguments& a) { return {a.tracer().call("torch.nn.functional.gelu", {a["x"]})}; }
Results geluByTanh(const Arguments& a) {
  return {a.tracer().call("torch.nn.functional.gelu", {a["x"]}, {{"approximate", std::string("tanh")}})};
}
/// GPT-2's "gelu_new".
Results geluWithPower(const Arguments& a) {
  const Proxy x = a.tensor("x");
  const Proxy inner = (x + x.method("pow", {3.0}) * 0.044715) * std::sqrt(2.0 / M_PI);
  return {(x * 0.5) * (inner.method("tanh") + 1.0)};
}

Results layerNorm(const Arguments& a) {
  return {a.tracer().call("torch.nn.functional.layer_norm",
                          {a["x"], lastSize(a), a["weight"], a["bias"], a.number("eps")})};
}

Proxy scaledToUnit(const Arguments& a, const Proxy& squares) {
  const Proxy mean = squares.method("mean", {Argument::list({-1}), true});
  return a.tensor("x") * (mean + a.number("eps")).method("rsqrt");
}
/// Llama's: weight · (x · rsqrt(mean(x²) + eps)).
Results rmsNorm(const Arguments& a) { return {a.tensor("weight") * scaledToUnit(a, a.tensor("x").method("pow", {2}))}; }
Results rmsNormWeightLast(const Arguments& a) {
  return {scaledToUnit(a, a.tensor("x").method("pow", {2})) * a.tensor("weight")};
}
Results rmsNormBySquare(const Arguments& a) {
  return {scaledToUnit(a, a.tensor("x") * a.tensor("x")) * a.tensor("weight")};
}
Results fusedRmsNorm(const Arguments& a) {
  const Proxy both = a.tracer().aten("_fused_rms_norm.default", {a["x"], lastSize(a), a["weight"], a.number("eps")});
  return {both[0]};
}

/// Values that no trace has by itself.
constexpr double exampleDim = -2, exampleEps = 0.001234;

const ScalarWorkaround dimension{{"dim", exampleDim}}, epsilon{{"eps", exampleEps}};

const LayerForm forms[] = {
    {.name = "softmax",
     .description = "softmax(x, dim) as amax, sub, exp, sum, div",
     .search = softmax,
     .replace = softmax,
     .scalars = dimension},
    {.name = "log_softmax",
     .description = "log_softmax(x, dim) as amax, sub, exp, sum, log, sub",
     .search = logSoftmax,
     .replace = logSoftmax,
     .scalars = dimension},
    {.name = "gelu", .description = "gelu(x) by erf", .search = gelu, .replace = gelu},
    {.name = "gelu_tanh",
     .description = "gelu(x, approximate='tanh') by products",
     .search = geluByTanh,
     .replace = geluByTanh},
    {.name = "gelu_new",
     .description = "gelu(x, approximate='tanh') by pow (GPT-2)",
     .search = geluWithPower,
     .replace = geluByTanh},
    {.name = "layer_norm",
     .description = "layer_norm(x, weight, bias) over the last dimension",
     .search = layerNorm,
     .replace = layerNorm,
     .hasWeight = true,
     .hasBias = true,
     .scalars = epsilon},
    {.name = "layer_norm_plain",
     .description = "layer_norm(x) over the last dimension",
     .search = layerNorm,
     .replace = layerNorm,
     .scalars = epsilon},
    {.name = "rms_norm",
     .description = "weight · x · rsqrt(mean(pow(x, 2)) + eps) (Llama)",
     .search = rmsNorm,
     .replace = fusedRmsNorm,
     .hasWeight = true,
     .trains = false,
     .scalars = epsilon},
    {.name = "rms_norm_weight_last",
     .description = "x · rsqrt(mean(pow(x, 2)) + eps) · weight",
     .search = rmsNormWeightLast,
     .replace = fusedRmsNorm,
     .hasWeight = true,
     .trains = false,
     .scalars = epsilon},
    {.name = "rms_norm_square",
     .description = "x · rsqrt(mean(x · x) + eps) · weight",
     .search = rmsNormBySquare,
     .replace = fusedRmsNorm,
     .hasWeight = true,
     .trains = false,
     .scalars = epsilon},
};

PatternInputs exampleInputs(const LayerForm& form, DType dtype) {
  const auto tensor = [dtype](const Sizes& sizes) {
    TensorMeta example = exampleMeta(dtype, sizes);
    example.requiresGrad = true;
    return example;
  };
  PatternInputs inputs{{"x", tensor({6, 4, 8}), {}}};
  if (form.hasWeight) inputs.push_back({"weight", tensor({8}), {}});
  if (form.hasBias) inputs.push_back({"bias", tensor({8}), {}});
  return inputs;
}

ReplacementRule ruleOf(const LayerForm& form, DType dtype, PatternTrace trace) {
  return {.name = fmt::format("{}{}_{}", form.name, dtype == DType::Float16 ? "_half" : "",
                              trace == PatternTrace::FwdOnly ? "inference" : "training"),
          .description = std::string(form.description),
          .search = form.search,
          .replace = form.replace,
          .exampleInputs = exampleInputs(form, dtype),
          .trace = trace,
          .scalarWorkaround = form.scalars,
          .skipDuplicates = true,
          .keepsOps = true};
}

}  // namespace

std::vector<ReplacementRule> layerRules() {
  std::vector<ReplacementRule> rules;
  for (const DType dtype : {DType::Float32, DType::Float16})
    for (const LayerForm& form : forms)
      for (const PatternTrace trace : {PatternTrace::JointFwdBwd, PatternTrace::FwdOnly})
        if (form.trains || trace == PatternTrace::FwdOnly) rules.push_back(ruleOf(form, dtype, trace));
  return rules;
}

}  // namespace kerf::inline patterns
