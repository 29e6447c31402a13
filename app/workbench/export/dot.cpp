#include "app/workbench/export/render.h"

#include "app/workbench/graphs/graph_doc.h"
#include "engine/ops/core/op_registry.h"
#include "engine/process/program.h"

namespace kerf::workbench {

namespace {

constexpr std::string_view colourByOpcode[] = {
    "#cfe8cf",  // placeholder
    "#dbe4f0",  // call_function
    "#e3dcf0",  // call_method
    "#f0e3dc",  // call_module
    "#f3eecb",  // get_attr
    "#d9d9d9",  // output
};

struct TraitColour {
  OpTrait trait;
  std::string_view colour;
};
constexpr TraitColour colourByTrait[] = {
    {OpTrait::Matmul, "#f6c9a8"}, {OpTrait::Convolution, "#f6c9a8"}, {OpTrait::Reduction, "#f2c6d5"},
    {OpTrait::View, "#eef2f7"},   {OpTrait::Pointwise, "#bcd7f5"},
};
constexpr std::string_view unknownOpColour = "#f4b0b0";

std::string_view colourOf(const Node& node) {
  if (node.op() != Opcode::CallFunction) return colourByOpcode[std::size_t(node.op())];
  const auto* op = findOp(node);
  if (op == nullptr) return unknownOpColour;
  for (const auto& row : colourByTrait) {
    if (has(op->traits, row.trait)) return row.colour;
  }
  return colourByOpcode[std::size_t(node.op())];
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n' || c == '\r')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string shortTarget(const Node& node) {
  std::string_view target = node.target();
  for (const std::string_view prefix : {"torch.ops.", "operator."}) {
    if (target.starts_with(prefix)) target.remove_prefix(prefix.size());
  }
  return std::string(target);
}

std::string labelOf(const Node& node) {
  std::string label = escaped(node.name());
  if (node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule)
    label += "\\n" + escaped(shortTarget(node));
  const auto shape = shapeText(node.meta().value);
  return shape.empty() ? label : label + "\\n" + escaped(shape);
}

}  // namespace

std::string dotText(const Graph& graph, const std::string& title) {
  std::string out = fmt::format(
      "digraph \"{}\" {{\n  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", fontname=\"DejaVu Sans\", "
      "fontsize=10];\n  edge [color=\"#707070\", arrowsize=0.6];\n",
      escaped(title));
  for (const auto id : graph.order()) {
    const auto& node = graph.node(id);
    out += fmt::format("  n{} [label=\"{}\", fillcolor=\"{}\"];\n", id.index, labelOf(node), colourOf(node));
  }
  for (const auto id : graph.order()) {
    for (const auto input : graph.node(id).inputs()) out += fmt::format("  n{} -> n{};\n", input.index, id.index);
  }
  return out + "}\n";
}

Result<std::string> renderDot(const std::string& dot, const std::string& format, std::chrono::milliseconds timeout,
                              std::stop_token stop) {
  if (findProgram("dot").empty()) {
    return fail(ErrorCode::Environment, Hint{Advice::ChooseFormat, "dot"},
                "drawing {} needs Graphviz's `dot`, which is not installed (Debian package graphviz)", format);
  }
  KERF_TRY(auto drawn, runProgram({"dot", "-T" + format}, dot, timeout, stop));
  if (drawn.status == 0) return std::move(drawn.output);
  return fail(ErrorCode::Environment, "`dot` failed with exit status {}: {}", drawn.status,
              drawn.errors.substr(0, 300));
}

}  // namespace kerf::workbench
