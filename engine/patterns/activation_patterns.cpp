// Two activations, each right behind the product or behind a view of it.
#include "engine/patterns/activation_patterns.h"

#include "engine/patterns/example_meta.h"

namespace kerf::inline patterns {

namespace {

/// Rows of the example: batches · length, by sizes that no trace has by itself.
constexpr std::int64_t batches = 3, length = 7, width = 11;

Proxy laidOut(const PatternArguments& a, const Proxy& product, bool viewed) {
  if (!viewed) return product;
  return a.tracer().aten("view.default",
                         {product, Argument::list({a.integer("batches"), a.integer("length"), a.integer("width")})});
}

PatternFunction written(bool isGelu, bool viewed) {
  return [isGelu, viewed](const PatternArguments& a) {
    const Proxy product = a.tracer().aten("addmm.default", {a["bias"], a["x"], a["weight"]});
    const Proxy read = laidOut(a, product, viewed);
    return std::vector{a.tracer().call(isGelu ? "torch.nn.functional.gelu" : "torch.relu", {read})};
  };
}

PatternFunction fused(bool isGelu, bool viewed) {
  return [isGelu, viewed](const PatternArguments& a) {
    const Proxy product =
        a.tracer().aten("_addmm_activation.default", {a["bias"], a["x"], a["weight"]}, {{"use_gelu", isGelu}});
    return std::vector{laidOut(a, product, viewed)};
  };
}

std::string refusedOnCuda(const MatchContext& context) {
  const TensorMeta* meta = context.module.graph.node(context.anchor).meta().value.tensor();
  return meta != nullptr && meta->device.type == "cuda" ? "on CUDA the fused call has gelu by tanh, this is by erf"
                                                        : "";
}

}  // namespace

std::vector<ReplacementRule> activationRules() {
  std::vector<ReplacementRule> rules;
  for (const bool isGelu : {false, true})
    for (const bool viewed : {false, true}) {
      ReplacementRule rule{.name = fmt::format("addmm_{}{}", isGelu ? "gelu" : "relu", viewed ? "_viewed" : ""),
                           .description = fmt::format("{}({}(bias, x, weight){})", isGelu ? "gelu" : "relu",
                                                      viewed ? "view(addmm" : "addmm", viewed ? ")" : ""),
                           .search = written(isGelu, viewed),
                           .replace = fused(isGelu, viewed),
                           .exampleInputs = {{"bias", exampleMeta(DType::Float32, {width}), {}},
                                             {"x", exampleMeta(DType::Float32, {batches * length, 5}), {}},
                                             {"weight", exampleMeta(DType::Float32, {5, width}), {}}},
                           .keepsOps = true};
      if (isGelu) rule.extraCheck = refusedOnCuda;
      if (viewed) rule.scalarWorkaround = {{"batches", batches}, {"length", length}, {"width", width}};
      rules.push_back(std::move(rule));
    }
  return rules;
}

}  // namespace kerf::inline patterns
