#include "engine/capture/repro/graph_level.h"

#include <algorithm>
#include <array>

namespace kerf::inline capture {
namespace {

constexpr std::array<std::string_view, 5> dynamoStages = {"dynamo_output_graph", "before_pre_grad_graph",
                                                          "after_pre_grad_graph", "compiled_autograd_graph",
                                                          "optimize_ddp_split"};
/// What graphs of AOTAutograd call beside ops: arithmetic on sizes, and checks of them.
constexpr std::array<std::string_view, 5> loweredFunctions = {"torch.ops.", "torch.sym_", "torch._check", "torch._sym_",
                                                              "torch.fx."};

bool startsWithAny(std::string_view text, std::span<const std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return text.starts_with(start); });
}

bool isDynamoCall(const Node& node) {
  if (node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule) return true;
  return node.op() == Opcode::CallFunction && node.target().starts_with("torch.") &&
         !startsWithAny(node.target(), loweredFunctions);
}

}  // namespace

bool isDynamoGraph(const CapturedGraph& graph) {
  if (startsWithAny(graph.origin.stage, dynamoStages)) return true;
  if (graph.program) return false;  // torch.export's graphs are ATen's, with autocast and grad mode as functions
  const auto order = graph.module.graph.order();
  return std::ranges::any_of(order, [&](NodeId id) { return isDynamoCall(graph.module.graph.node(id)); });
}

}  // namespace kerf::inline capture
