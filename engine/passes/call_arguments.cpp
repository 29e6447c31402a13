#include "engine/passes/call_arguments.h"

#include <algorithm>

#include "engine/ops/core/memory_use.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

template <class T>
std::optional<std::vector<T>> itemsOf(const Argument* argument) {
  const ListArgument* list = argument ? argument->asList() : nullptr;
  if (!list) return std::nullopt;
  std::vector<T> items;
  for (const Argument& item : list->items) {
    const T* value = item.as<T>();
    if (!value) return std::nullopt;
    items.push_back(*value);
  }
  return items;
}

bool isSymbolic(const Dim& size) { return size.text.find_first_not_of("0123456789") != std::string::npos; }

}  // namespace

const Argument* argumentNamed(const Node& node, std::string_view name) {
  const OpInfo* op = opOf(node);
  if (!op) return nullptr;
  const auto& arguments = op->schema.arguments;
  const auto found = std::ranges::find(arguments, name, &SchemaArgument::name);
  if (found == arguments.end()) return nullptr;
  const Argument* given = boundArgument(node, *op, std::size_t(found - arguments.begin()));
  if (given) return given;
  return found->defaultValue ? &*found->defaultValue : nullptr;
}

std::optional<NodeId> nodeNamed(const Node& node, std::string_view name) {
  const Argument* argument = argumentNamed(node, name);
  const NodeId* id = argument ? argument->as<NodeId>() : nullptr;
  return id ? std::optional(*id) : std::nullopt;
}

std::optional<std::int64_t> integerNamed(const Node& node, std::string_view name) {
  const Argument* argument = argumentNamed(node, name);
  const auto* value = argument ? argument->as<std::int64_t>() : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> numberOf(const Argument& argument) {
  if (const auto* integer = argument.as<std::int64_t>()) return double(*integer);
  if (const auto* real = argument.as<double>()) return *real;
  if (const auto* flag = argument.as<bool>()) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<double> numberNamed(const Node& node, std::string_view name) {
  const Argument* argument = argumentNamed(node, name);
  return argument ? numberOf(*argument) : std::nullopt;
}

std::optional<Sizes> integersNamed(const Node& node, std::string_view name) {
  const auto items = itemsOf<std::int64_t>(argumentNamed(node, name));
  return items ? std::optional(Sizes(items->begin(), items->end())) : std::nullopt;
}

std::optional<std::vector<NodeId>> nodesNamed(const Node& node, std::string_view name) {
  return itemsOf<NodeId>(argumentNamed(node, name));
}

const TensorMeta* tensorOf(const Graph& graph, NodeId node) { return graph.node(node).meta().value.tensor(); }

std::optional<Sizes> fixedSizes(const TensorMeta& meta) {
  if (std::ranges::any_of(meta.sizes, isSymbolic)) return std::nullopt;
  return meta.concreteSizes();
}

bool sameLayout(const TensorMeta& a, const TensorMeta& b) {
  const auto same = [](const std::optional<Sizes>& x, const std::optional<Sizes>& y) { return x && x == y; };
  if (a.sizes != b.sizes && !same(a.concreteSizes(), b.concreteSizes())) return false;
  return (a.sizes == b.sizes && a.strides == b.strides) || same(a.concreteStrides(), b.concreteStrides());
}

bool isFixedRowMajor(const TensorMeta& meta) {
  const auto sizes = fixedSizes(meta);
  return sizes && meta.concreteStrides() == contiguousStrides(*sizes);
}

std::optional<std::int64_t> wrappedDim(std::int64_t dim, std::size_t rank) {
  const auto count = std::int64_t(rank);
  if (dim < -count || dim >= count) return std::nullopt;
  return dim < 0 ? dim + count : dim;
}

bool isListed(std::string_view type, std::string_view list) {
  if (list == "all") return true;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == type) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace kerf::inline passes
