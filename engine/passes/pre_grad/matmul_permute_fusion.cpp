#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>
#include <array>

#include "engine/passes/pre_grad/torch_call.h"
#include "engine/passes/pre_grad/transposed_result.h"

namespace kerf::inline passes {

namespace {

template <const char* Product>
Proxy productOf(Tracer& tracer, std::span<const Proxy> inputs) {
  return tracer.call(Product, {inputs[0], inputs[1]});
}

template <const char* Product>
Proxy reversed(Tracer&, std::span<const Proxy> inputs) {
  const auto product = fx::wrap(Product), transpose = fx::wrap("torch.transpose");
  const Proxy b = transpose(inputs[1], -2, -1);
  return product(b, transpose(inputs[0], -2, -1));
}

constexpr char matmul[] = "torch.matmul";
constexpr char bmm[] = "torch.bmm";

bool isProduct(const Node& node) { return torchCall(node, matmul) || torchCall(node, bmm); }

Result<void> runMatmulPermuteFusion(GraphModule& module, const PassContext&) {
  if (std::ranges::none_of(module.graph.order(), [&](NodeId id) { return isProduct(module.graph.node(id)); }))
    return {};
  const std::array patterns = {ProductPattern{{"a", "b"}, productOf<matmul>, reversed<matmul>},
                               ProductPattern{{"a", "b"}, productOf<bmm>, reversed<bmm>}};
  return transposeAtOnce(module, patterns);
}

}  // namespace

Pass matmulPermuteFusionPass() {
  return {.name = "matmul_permute_fusion",
          .stage = PassStage::PreGrad,
          .description = "Multiplies the transposed factors in reverse where the product is transposed.",
          .run = runMatmulPermuteFusion};
}

}  // namespace kerf::inline passes
