// The pieces that split, chunk and unbind of a torch function give, as getitem takes them.
#pragma once

#include <optional>
#include <vector>

#include "engine/passes/pre_grad/torch_call.h"

namespace kerf::inline passes {

/// getitem(call, index), with `call` one of the functions that give several tensors.
struct TorchPiece {
  NodeId call;
  std::int64_t index = 0;  ///< from the front
};

/// None where `node` is no getitem with a number of a call of one of `names`, or how many pieces there are is not
/// known.
std::optional<TorchPiece> pieceOf(const Graph& graph, NodeId node, std::initializer_list<std::string_view> names);
/// The call whose pieces these are, all of them and in order; none for anything else.
std::optional<NodeId> callOfAll(const Graph& graph, const std::vector<NodeId>& nodes,
                                std::initializer_list<std::string_view> names);
/// Parameter `at` of a call as a dimension of a tensor of `rank`, from the front.
std::optional<std::int64_t> dimOf(const TorchCall& call, std::size_t at, std::size_t rank);

}  // namespace kerf::inline passes
