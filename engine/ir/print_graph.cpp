// str(graph) and graph.print_tabular().
#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "engine/ir/annotation_type.h"
#include "engine/ir/printer.h"

namespace kerf::inline ir {
namespace {

/// Only types that are understood: what else stands there may be anything.
std::string typePrefix(const Node& node) {
  const std::string type = annotationTypeText(node.meta().typeText);
  return type.empty() ? type : type + " ";
}

std::string callArguments(const Graph& graph, const Node& node) {
  const auto text = [&](const Argument& argument) { return printArgument(graph, argument, ArgumentStyle::GraphText); };
  DictArgument kwargs;
  kwargs.items = node.kwargs();
  return "(args = " + text(Argument::tuple(node.args())) + ", kwargs = " + text(kwargs) + ")";
}

std::string nodeText(const Graph& graph, const Node& node) {
  if (node.op() == Opcode::Output)
    return "return " + (node.args().empty() ? "None" : printArgument(graph, node.args()[0], ArgumentStyle::Python));
  std::string out = fmt::format("%{} : {}[num_users={}] = {}[target={}]", node.name(), typePrefix(node),
                                node.users().size(), opcodeName(node.op()), node.target());
  if (node.op() == Opcode::Placeholder && !node.args().empty()) {
    const auto* text = node.args()[0].as<std::string>();
    const bool plain = text != nullptr || node.args()[0].as<Device>() != nullptr;
    out +=
        "(default=" + printArgument(graph, node.args()[0], plain ? ArgumentStyle::GraphText : ArgumentStyle::Python) +
        ")";
  } else if (node.op() != Opcode::Placeholder && node.op() != Opcode::GetAttr) {
    out += callArguments(graph, node);
  }
  return out;
}

/// str(target) as tabulate shows it: ops by their own name, Python's functions as "<built-in function …>".
std::string tabularTarget(const Node& node) {
  const std::string& target = node.target();
  if (node.op() != Opcode::CallFunction) return target;
  if (target.starts_with("torch.ops.higher_order.")) return target.substr(23);
  if (target.starts_with("torch.ops.")) return target.substr(10);
  const std::string name = target.substr(target.rfind('.') + 1);
  const bool builtIn =
      target.starts_with("operator.") || target.starts_with("builtins.") || target.starts_with("math.");
  return builtIn ? "<built-in function " + name + ">" : "<function " + name + ">";
}

using Row = std::array<std::string, 5>;

Row tabularRow(const Graph& graph, const Node& node) {
  DictArgument kwargs;
  kwargs.items = node.kwargs();
  const auto text = [&](const Argument& argument) { return printArgument(graph, argument, ArgumentStyle::Python); };
  return {std::string(opcodeName(node.op())), node.name(), tabularTarget(node), text(Argument::tuple(node.args())),
          text(kwargs)};
}

std::size_t displayWidth(std::string_view text) {
  return std::size_t(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string tableLine(const Row& row, const std::array<std::size_t, 5>& widths) {
  std::string out;
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (c > 0) out += "  ";
    out += row[c] + std::string(widths[c] - std::min(widths[c], displayWidth(row[c])), ' ');
  }
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

}  // namespace

std::string printGraphText(const Graph& graph) {
  std::string out = "graph():";
  for (const NodeId id : graph.order()) out += "\n    " + nodeText(graph, graph.node(id));
  return out;
}

std::string printTabular(const Graph& graph) {
  const Row header = {"opcode", "name", "target", "args", "kwargs"};
  std::array<std::size_t, 5> widths{};
  for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = header[c].size() + 2;
  std::vector<Row> rows;
  for (const NodeId id : graph.order()) rows.push_back(tabularRow(graph, graph.node(id)));
  for (const Row& row : rows)
    for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], displayWidth(row[c]));
  // One call of 30,000 values must not make all rows as wide as it is.
  constexpr std::size_t mostBlanks = 64 << 20, wide = 200;
  for (std::size_t& width : widths)
    if (width > wide && width * rows.size() > mostBlanks) width = wide;
  Row rule;
  for (std::size_t c = 0; c < widths.size(); ++c) rule[c] = std::string(widths[c], '-');
  std::string out = tableLine(header, widths) + "\n" + tableLine(rule, widths);
  for (const Row& row : rows) out += "\n" + tableLine(row, widths);
  return out;
}

std::string printNode(const Graph& graph, NodeId id) {
  if (!id.valid()) return {};
  const auto& node = graph.node(id);
  std::string text = node.op() == Opcode::Output ? "return" : node.name();
  const auto annotation = printAnnotation(node.meta(), false, false);
  if (!annotation.empty()) text += ": " + annotation;
  if (node.op() == Opcode::Placeholder) return text + " = placeholder";
  text += node.op() == Opcode::Output ? " " : " = " + node.target() + "(";
  std::vector<std::string> arguments;
  for (const auto& argument : node.args()) arguments.push_back(printArgument(graph, argument, ArgumentStyle::Python));
  for (const auto& [name, value] : node.kwargs())
    arguments.push_back(name + "=" + printArgument(graph, value, ArgumentStyle::Python));
  return text + fmt::format("{}{}", fmt::join(arguments, ", "), node.op() == Opcode::Output ? "" : ")");
}

}  // namespace kerf::inline ir
