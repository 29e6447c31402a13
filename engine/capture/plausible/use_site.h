// UseSite: one argument of one call that holds the value in question, with what the call says beside it. Private to
// engine/capture.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline capture {

/// "embedding" of "torch.ops.aten.embedding.default", "torch.nn.functional.embedding" and "embedding_"; "sqrt" of
/// "_foreach_sqrt_"; "erfinv" of "special_erfinv".
std::string_view baseOpName(const Node& node);
std::string_view baseOpName(std::string_view target);

/// Names of the positional arguments that a call of this name takes, as ATen's schema names them; empty if nobody
/// knows.
std::vector<std::string_view> argumentNames(const Node& node);

struct UseSite {
  const Graph& graph;
  const Node& node;
  std::string_view op;        ///< base name
  std::string_view argument;  ///< "self", "indices", …; empty: unknown
  NodeId value;
  std::vector<std::string_view> names = {};  ///< of the positional arguments
  std::ptrdiff_t item = -1;                  ///< place in the argument's list; -1: it is no list

  /// The argument of that name; null when the call leaves it out. "self" and "input" are one.
  const Argument* find(std::string_view name) const;
  /// A number, also where it is a node that only holds one (full, scalar_tensor).
  std::optional<double> number(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  bool flag(std::string_view name) const;
  const TensorMeta* meta(std::string_view name) const;
  std::optional<Sizes> sizes(std::string_view name) const;
  /// Size along `dim`, negative from the end; none where it is unknown. A tensor without dimensions counts as [1].
  std::optional<std::int64_t> size(std::string_view name, std::int64_t dim) const;
  std::optional<std::int64_t> numel(std::string_view name) const;
};

/// Concrete sizes and element count of an argument that is a node; none where they are unknown.
std::optional<Sizes> sizesOf(const Graph& graph, const Argument& argument);
std::optional<std::int64_t> numelOf(const Graph& graph, const Argument& argument);
/// A Python number, or a node that only holds one.
std::optional<double> numberOf(const Graph& graph, const Argument& argument);

}  // namespace kerf::inline capture
