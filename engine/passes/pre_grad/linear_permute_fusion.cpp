#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>
#include <array>

#include "engine/passes/pre_grad/torch_call.h"
#include "engine/passes/pre_grad/transposed_result.h"

namespace kerf::inline passes {

namespace {

constexpr std::string_view linear = "torch.nn.functional.linear";

Proxy productOf(Tracer& tracer, std::span<const Proxy> inputs) {
  return tracer.call(linear, ArgumentList(inputs.begin(), inputs.end()));
}

Proxy withoutBias(Tracer&, std::span<const Proxy> inputs) {
  const auto matmul = fx::wrap("torch.matmul"), transpose = fx::wrap("torch.transpose");
  return matmul(inputs[1], transpose(inputs[0], -2, -1));
}

Proxy withBias(Tracer& tracer, std::span<const Proxy> inputs) {
  const auto add = fx::wrap("operator.add"), unsqueeze = fx::wrap("torch.unsqueeze");
  return add(withoutBias(tracer, inputs), unsqueeze(inputs[2], -1));
}

Result<void> runLinearPermuteFusion(GraphModule& module, const PassContext&) {
  const auto isLinear = [&](NodeId id) { return torchCall(module.graph.node(id), linear).has_value(); };
  if (std::ranges::none_of(module.graph.order(), isLinear)) return {};
  const std::array patterns = {ProductPattern{{"x", "w"}, productOf, withoutBias},
                               ProductPattern{{"x", "w", "b"}, productOf, withBias}};
  return transposeAtOnce(module, patterns);
}

}  // namespace

Pass linearPermuteFusionPass() {
  return {.name = "linear_permute_fusion",
          .stage = PassStage::PreGrad,
          .description = "Computes the transposed result of a linear layer at once.",
          .run = runLinearPermuteFusion};
}

}  // namespace kerf::inline passes
