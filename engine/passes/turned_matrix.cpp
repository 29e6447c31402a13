#include "engine/passes/turned_matrix.h"

#include "engine/passes/call_arguments.h"

namespace kerf::inline passes {

std::optional<NodeId> turnedMatrix(const Node& node) {
  if (node.isCall("aten.t.default"_op)) return nodeNamed(node, "self");
  if (!node.isCall("aten.permute.default"_op)) return std::nullopt;
  const auto dims = integersNamed(node, "dims");
  return dims && *dims == Sizes{1, 0} ? nodeNamed(node, "self") : std::nullopt;
}

}  // namespace kerf::inline passes
