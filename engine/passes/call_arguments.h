// What a call is given: arguments by their schema name, whether they stand at their position or as keywords, and what
// is known of tensors.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline passes {

/// The argument of that name in the op's schema, else the schema's default; null for ops without a row, and where there
/// is neither.
const Argument* argumentNamed(const Node& node, std::string_view name);
/// The same where it is a node.
std::optional<NodeId> nodeNamed(const Node& node, std::string_view name);
/// The same where it is an int; bools and symbolic ones are none.
std::optional<std::int64_t> integerNamed(const Node& node, std::string_view name);
/// A Python number: int, float or bool.
std::optional<double> numberOf(const Argument& argument);
/// The same of a named argument.
std::optional<double> numberNamed(const Node& node, std::string_view name);
/// A list of ints, all of them numbers.
std::optional<Sizes> integersNamed(const Node& node, std::string_view name);
/// A list of nodes, all of them.
std::optional<std::vector<NodeId>> nodesNamed(const Node& node, std::string_view name);

/// Null where the node gives no tensor, or nothing is known of it.
const TensorMeta* tensorOf(const Graph& graph, NodeId node);
/// Sizes of a tensor that are the same in every run; none where one is symbolic.
std::optional<Sizes> fixedSizes(const TensorMeta& meta);
/// Whether sizes and strides are the same: as expressions, or by their hints. What has no hint is like nothing else.
bool sameLayout(const TensorMeta& a, const TensorMeta& b);
/// Whether sizes and strides are numbers, the strides row-major.
bool isFixedRowMajor(const TensorMeta& meta);
/// A dimension in [-rank, rank) as one in [0, rank).
std::optional<std::int64_t> wrappedDim(std::int64_t dim, std::size_t rank);
/// Whether `type` ("cuda") is in the list ("cuda,xpu"), or the list is "all".
bool isListed(std::string_view type, std::string_view list);

}  // namespace kerf::inline passes
