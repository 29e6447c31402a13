#include "engine/passes/pre_grad/pieces.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"

namespace kerf::inline passes {

std::optional<TorchPiece> pieceOf(const Graph& graph, NodeId id, std::initializer_list<std::string_view> names) {
  const Node& node = graph.node(id);
  if (!node.isCall("operator.getitem"_op) || node.args().size() != 2) return std::nullopt;
  const NodeId* from = node.args()[0].as<NodeId>();
  const auto* index = node.args()[1].as<std::int64_t>();
  if (!from || !index) return std::nullopt;
  const auto call = torchCall(graph.node(*from));
  const auto* pieces = graph.node(*from).meta().value.list();
  if (!call || !pieces || std::ranges::find(names, call->function->name) == names.end()) return std::nullopt;
  const auto count = std::int64_t(pieces->size());
  if (*index < -count || *index >= count) return std::nullopt;
  return TorchPiece{*from, *index < 0 ? *index + count : *index};
}

std::optional<NodeId> callOfAll(const Graph& graph, const std::vector<NodeId>& nodes,
                                std::initializer_list<std::string_view> names) {
  std::optional<NodeId> call;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto piece = pieceOf(graph, nodes[i], names);
    if (!piece || piece->index != std::int64_t(i) || (call && *call != piece->call)) return std::nullopt;
    call = piece->call;
  }
  return call && graph.node(*call).meta().value.list()->size() == nodes.size() ? call : std::nullopt;
}

std::optional<std::int64_t> dimOf(const TorchCall& call, std::size_t at, std::size_t rank) {
  const auto dim = call.integer(at);
  return dim ? wrappedDim(*dim, rank) : std::nullopt;
}

}  // namespace kerf::inline passes
