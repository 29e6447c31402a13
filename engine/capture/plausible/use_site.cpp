#include "engine/capture/plausible/use_site.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture {
namespace {

/// Functions of torch.nn.functional whose arguments stand in another order than ATen's.
struct PythonOrder {
  std::string_view name;
  std::vector<std::string_view> names;
};

const std::vector<PythonOrder>& pythonOrders() {
  static const std::vector<PythonOrder> orders{
      {"embedding", {"indices", "weight"}},
      {"embedding_bag", {"indices", "weight", "offsets"}},
      {"batch_norm", {"self", "running_mean", "running_var", "weight", "bias"}},
      {"instance_norm", {"self", "running_mean", "running_var", "weight", "bias"}},
      {"one_hot", {"self", "num_classes"}},
      {"cross_entropy", {"self", "target", "weight"}},
      {"grid_sample", {"self", "grid"}},
      {"gaussian_nll_loss", {"self", "target", "var"}},
      {"setitem", {"self", "index", "value"}},
  };
  return orders;
}

/// Rows of the op table by the op's name without overload.
const OpInfo* firstOfName(std::string_view name) {
  static const auto rows = [] {
    std::unordered_map<std::string_view, const OpInfo*> byName;
    for (const OpInfo& info : allOps()) {
      const std::string_view full = info.schema.name;
      if (full.starts_with("aten::")) byName.emplace(full.substr(6), &info);
    }
    return byName;
  }();
  const auto found = rows.find(name);
  return found == rows.end() ? nullptr : found->second;
}

std::string_view withoutOverload(std::string_view target) {
  if (target.starts_with("torch.ops.")) return target.substr(0, target.rfind('.'));
  return target;
}

bool isPythonFunction(const Node& node) {
  return node.op() == Opcode::CallFunction && !node.target().starts_with("torch.ops.");
}

bool sameName(std::string_view a, std::string_view b) {
  const auto isSelf = [](std::string_view name) { return name == "self" || name == "input" || name == "a"; };
  const auto isOther = [](std::string_view name) { return name == "other" || name == "b" || name == "scalar"; };
  return a == b || (isSelf(a) && isSelf(b)) || (isOther(a) && isOther(b));
}

/// Nodes that hold one number: full([], 2.0), scalar_tensor(2.0).
constexpr std::pair<std::string_view, std::size_t> fills[] = {{"full", 1}, {"scalar_tensor", 0}, {"full_like", 1}};

}  // namespace

std::string_view baseOpName(std::string_view target) {
  std::string_view name = withoutOverload(target);
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name = name.substr(dot + 1);
  if (name.starts_with("_foreach_")) name.remove_prefix(9);
  if (name.starts_with("special_")) name.remove_prefix(8);
  const bool isInplace = name.size() > 1 && name.ends_with('_') && !name.ends_with("__");
  if (isInplace) name.remove_suffix(1);
  return name;
}

std::string_view baseOpName(const Node& node) { return baseOpName(node.target()); }

std::vector<std::string_view> argumentNames(const Node& node) {
  const std::string_view name = baseOpName(node);
  if (isPythonFunction(node))
    for (const PythonOrder& order : pythonOrders())
      if (order.name == name) return order.names;
  const OpInfo* info = findOp(node);
  if (info == nullptr) info = firstOfName(name);
  std::vector<std::string_view> names;
  if (info == nullptr) return names;
  for (const SchemaArgument& argument : info->schema.arguments) names.push_back(argument.name);
  return names;
}

const Argument* UseSite::find(std::string_view name) const {
  for (const auto& [key, value] : node.kwargs())
    if (sameName(key, name)) return &value;
  for (std::size_t i = 0; i < std::min(names.size(), node.args().size()); ++i)
    if (sameName(names[i], name)) return &node.args()[i];
  return nullptr;
}

std::optional<double> numberOf(const Graph& graph, const Argument& argument) {
  if (const auto* integer = argument.as<std::int64_t>()) return double(*integer);
  if (const auto* real = argument.as<double>()) return *real;
  const auto* id = argument.as<NodeId>();
  if (id == nullptr) return {};
  const Node& node = graph.node(*id);
  for (const auto& [fill, place] : fills)
    if (baseOpName(node) == fill && node.args().size() > place && !node.args()[place].as<NodeId>())
      return numberOf(graph, node.args()[place]);
  return {};
}

std::optional<double> UseSite::number(std::string_view name) const {
  const Argument* argument = find(name);
  return argument ? numberOf(graph, *argument) : std::nullopt;
}

std::optional<std::int64_t> UseSite::integer(std::string_view name) const {
  const Argument* argument = find(name);
  if (argument == nullptr) return {};
  if (const auto* value = argument->as<std::int64_t>()) return *value;
  if (const auto* symbol = argument->as<SymExpr>()) return symbol->hint;
  const auto* id = argument->as<NodeId>();
  const SymMeta* meta = id ? graph.node(*id).meta().value.sym() : nullptr;
  return meta ? meta->expr.hint : std::nullopt;
}

bool UseSite::flag(std::string_view name) const {
  const Argument* argument = find(name);
  const bool* value = argument ? argument->as<bool>() : nullptr;
  return value != nullptr && *value;
}

const TensorMeta* UseSite::meta(std::string_view name) const {
  const Argument* argument = find(name);
  const auto* id = argument ? argument->as<NodeId>() : nullptr;
  return id ? graph.node(*id).meta().value.tensor() : nullptr;
}

std::optional<Sizes> sizesOf(const Graph& graph, const Argument& argument) {
  const auto* id = argument.as<NodeId>();
  const TensorMeta* meta = id ? graph.node(*id).meta().value.tensor() : nullptr;
  return meta ? meta->concreteSizes() : std::nullopt;
}

std::optional<std::int64_t> numelOf(const Graph& graph, const Argument& argument) {
  const auto sizes = sizesOf(graph, argument);
  if (!sizes) return {};
  const auto count = checkedNumel(*sizes);
  return count ? std::optional(*count) : std::nullopt;
}

std::optional<Sizes> UseSite::sizes(std::string_view name) const {
  const Argument* argument = find(name);
  return argument ? sizesOf(graph, *argument) : std::nullopt;
}

std::optional<std::int64_t> UseSite::size(std::string_view name, std::int64_t dim) const {
  const auto all = sizes(name);
  if (!all) return {};
  const auto rank = std::int64_t(all->size());
  if (rank == 0) return 1;
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank) return {};
  return (*all)[std::size_t(dim)];
}

std::optional<std::int64_t> UseSite::numel(std::string_view name) const {
  const Argument* argument = find(name);
  return argument ? numelOf(graph, *argument) : std::nullopt;
}

}  // namespace kerf::inline capture
