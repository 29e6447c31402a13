#include "engine/ops/core/foreign_call.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

std::optional<std::string> foreignCall(const Node& node) {
  if (node.op() != Opcode::CallFunction || !node.target().starts_with("torch.ops.")) return std::nullopt;
  if (node.target().starts_with("torch.ops.higher_order.")) return std::nullopt;
  const OpInfo* op = findOp(node);
  if (op == nullptr) return std::nullopt;
  const auto& arguments = op->schema.arguments;
  const auto places = std::size_t(std::ranges::count(arguments, false, &SchemaArgument::keywordOnly));
  if (node.args().size() > places)
    return fmt::format("takes at most {} positional arguments, got {}", places, node.args().size());
  for (const auto& [name, value] : node.kwargs())
    if (std::ranges::find(arguments, name, &SchemaArgument::name) == arguments.end())
      return fmt::format("has no argument '{}'", name);
  return std::nullopt;
}

Result<void> checkSchemas(const GraphModule& module) {
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    auto why = foreignCall(node);
    if (!why) continue;
    const std::string_view op = std::string_view(node.target()).substr(std::string_view("torch.ops.").size());
    Error error{ErrorCode::ShapeMismatch, fmt::format("{}: {}", op, *why)};
    error.atNode(node.name());
    return fail(std::move(error));
  }
  return {};
}

Result<void> checkKernels(const GraphModule& module) {
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (node.op() != Opcode::CallFunction || !node.target().starts_with("torch.ops.")) continue;
    if (node.target().starts_with("torch.ops.higher_order.")) continue;
    const OpInfo* op = findOp(node);
    if (op != nullptr && op->kernel) continue;
    Error error{ErrorCode::UnsupportedOp, fmt::format("no kernel for {}", node.target())};
    error.atNode(node.name());
    return fail(std::move(error));
  }
  return {};
}

}  // namespace kerf::inline ops
