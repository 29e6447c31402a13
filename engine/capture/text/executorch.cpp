#include "engine/capture/text/executorch.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view edgeMark = "executorch_exir_dialects_edge__ops_";
constexpr std::string_view allocMark = "executorch_exir_memory_alloc";
constexpr std::string_view viewMark = "executorch_exir_memory_view";
constexpr std::string_view opsMark = "torch.ops.";

/// "aten_add_Tensor" as "torch.ops.aten.add.Tensor": names and overloads both have underscores, so the op table decides.
std::string edgeTarget(std::string_view rest) {
  for (const std::string_view space : {"quantized_decomposed_", "dim_order_ops_"})
    if (rest.starts_with(space)) {
      const std::size_t last = rest.rfind('_');
      return fmt::format("{}{}.{}.{}", opsMark, space.substr(0, space.size() - 1),
                         rest.substr(space.size(), last - std::min(last, space.size())), rest.substr(last + 1));
    }
  const std::size_t space = rest.find('_');
  if (space == std::string_view::npos) return {};
  const std::string_view name = rest.substr(space + 1);
  std::string first;
  for (std::size_t at = name.rfind('_'); at != std::string_view::npos && at > 0; at = name.rfind('_', at - 1)) {
    std::string target =
        fmt::format("{}{}.{}.{}", opsMark, rest.substr(0, space), name.substr(0, at), name.substr(at + 1));
    if (findOp(OpTarget(target)) != nullptr) return target;
    if (first.empty()) first = std::move(target);
  }
  return first;
}

/// The op that computes what an out overload writes: "aten.sum.dim_IntList" of "aten.sum.IntList_out".
std::string functionalTarget(const Node& node) {
  const std::string_view target = std::string_view(node.target()).substr(opsMark.size());
  const std::size_t overloadAt = target.rfind('.');
  const std::string_view op = target.substr(0, overloadAt), overload = target.substr(overloadAt + 1);
  std::vector<std::string> names;
  if (overload.ends_with("_out")) names.emplace_back(overload.substr(0, overload.size() - 4));
  for (const char* usual : {"Tensor", "default", "Scalar"}) names.emplace_back(usual);
  std::vector<std::string> targets;
  for (const std::string& name : names) targets.push_back(fmt::format("{}{}.{}", opsMark, op, name));
  for (const OpInfo& info : allOps())
    if (info.schema.qualifiedName().starts_with(std::string(op) + "."))
      targets.push_back(std::string(opsMark) + info.schema.qualifiedName());
  KeywordArguments kwargs = node.kwargs();
  std::erase_if(kwargs, [](const auto& entry) { return entry.first == "out"; });
  for (const std::string& candidate : targets) {
    const OpInfo* info = findOp(OpTarget(candidate));
    if (info == nullptr) continue;
    const auto& arguments = info->schema.arguments;
    const auto places = std::size_t(std::ranges::count(arguments, false, &SchemaArgument::keywordOnly));
    const bool fits = node.args().size() <= places && std::ranges::all_of(kwargs, [&](const auto& entry) {
                        return std::ranges::find(arguments, entry.first, &SchemaArgument::name) != arguments.end();
                      });
    if (fits) return candidate;
  }
  return {};
}

bool isOutOverload(const Node& node) {
  if (node.op() != Opcode::CallFunction || !node.target().starts_with(opsMark) || findOp(node) != nullptr) return false;
  const std::string_view target = node.target();
  return (target.ends_with(".out") || target.ends_with("_out")) &&
         std::ranges::any_of(node.kwargs(), [](const auto& entry) { return entry.first == "out"; });
}

/// Splits the call in two: what computes, and the copy into `out`, which keeps the node's name.
bool splitOutOverload(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string target = functionalTarget(node);
  const auto out = std::ranges::find(node.kwargs(), std::string("out"), &std::pair<std::string, Argument>::first);
  if (target.empty() || out->second.as<NodeId>() == nullptr) return false;
  const Argument memory = out->second;
  KeywordArguments kwargs = node.kwargs();
  std::erase_if(kwargs, [](const auto& entry) { return entry.first == "out"; });
  const ArgumentList args = node.args();
  const NodeMeta meta = node.meta();
  const std::string name = node.name() + "_value";
  graph.insertBefore(id);
  const NodeId value = graph.createNamed(Opcode::CallFunction, target, args, kwargs, name);
  graph.insertAtEnd();
  graph.setMeta(value, meta);
  graph.setTarget(id, "torch.ops.aten.copy_.default");
  graph.setArgs(id, {memory, Argument(value)});
  graph.setKwargs(id, {});
  return true;
}

/// "((4,), torch.float32)": a shape and a dtype.
void readAlloc(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const ListArgument* spec = node.args().empty() ? nullptr : node.args().front().asList();
  if (spec == nullptr || spec->items.size() != 2 || spec->items[0].asList() == nullptr) return;
  const Argument sizes = Argument::list(spec->items[0].asList()->items);
  const Argument dtype = spec->items[1];
  graph.setTarget(id, "torch.ops.aten.empty.memory_format");
  graph.setArgs(id, {sizes});
  graph.setKwargs(id, {{"dtype", dtype}});
}

/// The memory format of a 4-d or 5-d order of dimensions; none for one that has no name.
std::optional<MemoryFormat> formatOf(const Argument& order) {
  const ListArgument* list = order.asList();
  if (list == nullptr) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const Argument& item : list->items)
    if (const auto* dim = item.as<std::int64_t>()) dims.push_back(*dim);
  if (dims == std::vector<std::int64_t>{0, 2, 3, 1}) return MemoryFormat::ChannelsLast;
  if (dims == std::vector<std::int64_t>{0, 2, 3, 4, 1}) return MemoryFormat::ChannelsLast3d;
  return std::ranges::is_sorted(dims) ? std::optional(MemoryFormat::Contiguous) : std::nullopt;
}

/// `_to_dim_order_copy(x, dim_order = [0, 1])`: the ATen op with a memory format in the place of the order.
void readDimOrder(Graph& graph, NodeId id) {
  struct Row {
    std::string_view name, target;
  };
  constexpr Row rows[] = {{"_to_dim_order_copy", "aten._to_copy.default"},
                          {"_clone_dim_order", "aten.clone.default"},
                          {"_empty_dim_order", "aten.empty.memory_format"}};
  constexpr std::string_view space = "torch.ops.dim_order_ops.";
  const std::string_view target = graph.node(id).target();
  if (!target.starts_with(space)) return;
  const std::string_view name = target.substr(space.size(), target.rfind('.') - space.size());
  const auto* row = std::ranges::find(rows, name, &Row::name);
  if (row == std::end(rows)) return;
  KeywordArguments kwargs = graph.node(id).kwargs();
  const auto order = std::ranges::find(kwargs, std::string("dim_order"), &std::pair<std::string, Argument>::first);
  if (order != kwargs.end()) {
    const auto format = formatOf(order->second);
    if (!format && !order->second.isNone()) return;
    kwargs.erase(order);
    if (format) kwargs.emplace_back("memory_format", Argument(*format));
  }
  graph.setTarget(id, fmt::format("{}{}", opsMark, row->target));
  graph.setKwargs(id, std::move(kwargs));
}

}  // namespace

void readExecutorchCalls(GraphModule& module, std::vector<std::string>* notes) {
  Graph& graph = module.graph;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  std::size_t outs = 0;
  for (const NodeId id : order) {
    const std::string target = graph.node(id).target();
    if (graph.node(id).op() != Opcode::CallFunction) continue;
    const std::size_t edge = target.find(edgeMark);
    if (edge != std::string::npos) {
      const std::string plain = edgeTarget(std::string_view(target).substr(edge + edgeMark.size()));
      if (!plain.empty()) graph.setTarget(id, plain);
    } else if (target.ends_with(allocMark)) {
      readAlloc(graph, id);
    } else if (target.ends_with(viewMark)) {
      graph.setTarget(id, "torch.ops.aten.view.default");
    }
    readDimOrder(graph, id);
    if (isOutOverload(graph.node(id)) && splitOutOverload(graph, id)) ++outs;
  }
  if (outs > 0 && notes != nullptr)
    notes->push_back(
        fmt::format("{} calls of out overloads are read as calls that compute and copies into `out`", outs));
}

}  // namespace kerf::inline capture
