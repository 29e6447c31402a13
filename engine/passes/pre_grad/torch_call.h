// TorchCall: a call as Dynamo writes it, whatever its spelling, with the function that it means and one argument for
// each of its parameters.
//
//     x.permute(0, 2, 1)          torch.permute(x, dims=[0, 2, 1])
//       →      torch.permute: input = x, dims = [0, 2, 1]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline passes {

/// One spelling of a function.
struct TorchFunction {
  std::string_view name;  ///< the one name it gets: "torch.permute"
  OpSchema schema;        ///< of this spelling; parameters stand at the same position in all of them
};

struct TorchCall {
  const TorchFunction* function = nullptr;
  std::vector<Argument> arguments;  ///< by position in the schema, defaults filled in

  bool is(std::string_view name) const { return function->name == name; }
  /// By position; None past the last one.
  const Argument& operator[](std::size_t i) const;
  std::optional<NodeId> node(std::size_t i) const;
  std::optional<std::int64_t> integer(std::size_t i) const;
  /// A Python bool; false for anything else.
  bool flag(std::size_t i) const;
  /// A list of nodes, all of them.
  std::optional<std::vector<NodeId>> nodes(std::size_t i) const;
  /// A list of ints, all of them numbers.
  std::optional<std::vector<std::int64_t>> integers(std::size_t i) const;
};

/// None for functions that the table does not have, and for arguments that do not bind.
std::optional<TorchCall> torchCall(const Node& node);
/// The same where it is a call of `name`.
std::optional<TorchCall> torchCall(const Node& node, std::string_view name);
/// Whether a call of the table gives a value and does nothing else, so that it may go when nobody reads it.
bool isPureTorchCall(const Node& node);
/// As few arguments as say the same: by position, those that are the default left out at the end, `inplace` by name.
std::pair<ArgumentList, KeywordArguments> shortest(const TorchCall& call);

}  // namespace kerf::inline passes
