#include "engine/capture/plausible/nested_operands.h"

#include <algorithm>

#include "engine/capture/plausible/use_site.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view prefix = "torch.ops.higher_order.";
constexpr int none = -1;

/// Where the graphs and their operands stand among the arguments. Operand lists follow each other as the graph's
/// inputs, `first` inputs after those that the op makes itself.
struct OperandRow {
  std::string_view op;
  int graphs[2];    ///< positions; none: not there
  int lists[3];     ///< positions of operand lists
  int from = none;  ///< or: every argument from here on
  std::size_t first = 0;
};

constexpr OperandRow rows[] = {
    {"cond", {1, 2}, {3, none, none}},
    {"while_loop", {0, 1}, {2, 3, none}},
    {"scan", {0, none}, {1, 2, 3}},
    {"associative_scan", {0, none}, {1, 1, 2}},
    {"map", {0, none}, {1, 2, none}},
    {"map_impl", {0, none}, {1, 2, none}},
    {"invoke_subgraph", {0, none}, {none, none, none}, 2},
    {"wrap", {0, none}, {none, none, none}, 1},
    {"wrap_activation_checkpoint", {0, none}, {none, none, none}, 1},
    {"tag_activation_checkpoint", {0, none}, {none, none, none}, 1},
    {"wrap_with_set_grad_enabled", {1, none}, {none, none, none}, 2},
    {"wrap_with_autocast", {4, none}, {none, none, none}, 5},
    {"wrap_inductor_compile_options", {0, none}, {none, none, none}, 1},
    {"inductor_compiled_code", {0, none}, {1, none, none}},
    {"run_const_graph", {0, none}, {1, none, none}},
    {"strict_mode", {0, none}, {1, none, none}},
    {"hints_wrapper", {0, none}, {1, none, none}},
    {"invoke_quant", {0, none}, {none, none, none}, 1},
    {"invoke_quant_packed", {0, none}, {none, none, none}, 1},
    {"dynamo_bypassing_wrapper", {1, none}, {none, none, none}, 2},
    {"regional_inductor", {0, none}, {none, none, none}, 1},
    {"local_map_hop", {0, none}, {none, none, none}, 1},
    {"autograd_function_apply", {0, none}, {none, none, none}, 2, 1},
    {"flex_attention", {3, none}, {7, none, none}, none, 5},
};

std::string_view higherOrderName(const Node& node) {
  std::string_view target = node.target();
  if (!target.starts_with(prefix)) return {};
  target.remove_prefix(prefix.size());
  return target.substr(0, target.find('.'));
}

/// The path of the nested graph that an argument names.
std::string pathOf(const Graph& graph, const Argument& argument) {
  if (const auto* reference = argument.as<SubgraphRef>()) return reference->path;
  const auto* id = argument.as<NodeId>();
  if (id != nullptr && graph.node(*id).op() == Opcode::GetAttr) return graph.node(*id).target();
  return {};
}

/// The op's operands in order, as the nested graphs take them.
std::vector<const Argument*> operandsOf(const Node& node, const OperandRow& row) {
  std::vector<const Argument*> operands;
  for (const int place : row.lists) {
    if (place == none || std::size_t(place) >= node.args().size()) continue;
    const Argument& argument = node.args()[std::size_t(place)];
    if (const ListArgument* list = argument.asList())
      for (const Argument& item : list->items) operands.push_back(&item);
    else
      operands.push_back(&argument);
  }
  if (row.from != none)
    for (std::size_t i = std::size_t(row.from); i < node.args().size(); ++i) operands.push_back(&node.args()[i]);
  return operands;
}

}  // namespace

bool isHigherOrder(const Node& node) { return node.op() == Opcode::CallFunction && node.target().starts_with(prefix); }

std::vector<NestedOperand> nestedOperands(const GraphModule& owner, const Node& node, NodeId value) {
  const auto* row = std::ranges::find(rows, higherOrderName(node), &OperandRow::op);
  std::vector<NestedOperand> found;
  if (row == std::end(rows)) return found;
  const std::vector<const Argument*> operands = operandsOf(node, *row);
  // autograd_function_apply has a ctx in front only where it does not say what is saved.
  const bool saysSaved =
      std::ranges::any_of(node.kwargs(), [](const auto& entry) { return entry.first == "saved_for_backward_idx"; });
  const std::size_t first = saysSaved ? 0 : row->first;
  for (const int place : row->graphs) {
    if (place == none || std::size_t(place) >= node.args().size()) continue;
    const std::string path = pathOf(owner.graph, node.args()[std::size_t(place)]);
    const Submodule* nested = path.empty() ? nullptr : owner.submodule(path);
    if (nested == nullptr || !nested->graph) continue;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (*operands[i] == Argument(value)) found.push_back({nested->graph.get(), first + i, path});
  }
  return found;
}

std::string_view operandsOfCalledOp(const Node& node) {
  if (!higherOrderName(node).starts_with("auto_functionalized") || node.args().empty()) return {};
  const auto* name = node.args()[0].as<PythonName>();
  return name ? baseOpName(name->text) : std::string_view();
}

}  // namespace kerf::inline capture
