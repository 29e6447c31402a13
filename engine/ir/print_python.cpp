// The Python code of a graph, as torch.fx's CodeGen writes it.
#include <algorithm>

#include "engine/ir/annotation_type.h"
#include "engine/ir/printer.h"
#include "engine/ir/python_operators.h"
#include "engine/ir/python_signature.h"
#include "engine/ir/sympy_text.h"

namespace kerf::inline ir {
namespace {

constexpr std::string_view noStackTrace = "No stacktrace found for following nodes";

class BodyPrinter {
 public:
  BodyPrinter(const GraphModule& module, const PythonCodeOptions& options)
      : m_module(module), m_graph(module.graph), m_options(options) {}

  std::vector<std::string> lines() {
    findLastUses();
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      if (m_options.includeStackTraces) stackTrace(node);
      if (node.op() == Opcode::Placeholder)
        rename(node);
      else if (node.op() == Opcode::Output)
        output(node);
      else
        m_lines.push_back(statement(node) + frees(node));
    }
    if (m_lines.empty()) m_lines.emplace_back("pass");
    return std::move(m_lines);
  }

 private:
  std::string text(const Argument& argument) const { return printArgument(m_graph, argument, ArgumentStyle::Python); }

  void findLastUses() {
    std::size_t slots = 0;
    for (const NodeId id : m_graph.order()) slots = std::max<std::size_t>(slots, id.index + std::size_t{1});
    std::vector<bool> seen(slots, false);
    m_lastUses.resize(slots);
    const auto order = m_graph.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      for (const NodeId input : m_graph.node(*id).inputs()) {
        if (input.index >= slots || seen[input.index]) continue;
        seen[input.index] = true;
        m_lastUses[id->index].push_back(input);
      }
    }
  }

  void stackTrace(const Node& node) {
    if (node.op() == Opcode::Placeholder || node.op() == Opcode::Output) return;
    const std::string& trace = node.meta().stackTrace;
    std::string summary = "# " + (trace.empty() ? std::string(noStackTrace) : trace.substr(0, trace.find('\n')));
    if (summary == m_lastSummary) return;
    if (!m_lines.empty()) m_lines.emplace_back();
    m_lines.push_back(summary);
    m_lastSummary = std::move(summary);
  }

  /// `l_x_ = L_x_` where the parameter's name is not the node's.
  void rename(const Node& node) {
    std::string raw = node.target();
    std::erase(raw, '*');
    if (raw != node.name()) m_lines.push_back(node.name() + " = " + raw);
  }

  std::string frees(const Node& node) const {
    std::string out;
    for (const NodeId id : m_lastUses[node.id().index]) out += m_graph.node(id).name() + " = ";
    if (node.users().empty()) out += node.name() + " = ";
    return out.empty() ? out : ";  " + out + "None";
  }

  std::string arguments(const Node& node, std::size_t first) const {
    std::string out;
    const auto add = [&](const std::string& item) { out += (out.empty() ? "" : ", ") + item; };
    for (std::size_t i = first; i < node.args().size(); ++i) add(text(node.args()[i]));
    for (const auto& [key, value] : node.kwargs())
      add(isPythonIdentifier(key) ? key + " = " + text(value) : "**{" + pythonString(key) + ": " + text(value) + "}");
    return out;
  }

  static bool isNode(const Node& node, std::size_t index) {
    return index < node.args().size() && node.args()[index].as<NodeId>() != nullptr;
  }

  /// Whether the operator's expression, read again, cannot be a literal, a symbol or an operator of another shape.
  static bool readsAsOperator(const Node& node, const PythonOperator& op) {
    if (!node.kwargs().empty()) return false;
    if (operatorOfSymbol(op.symbol, node.args().size(), op.inplace) != &op) return false;  // "/" is truediv, not div
    const bool either = op.operands == 2 && !op.inplace && op.symbol != "[]";
    return isNode(node, 0) || (either && isNode(node, 1));
  }

  /// Whether Max(…) of these arguments, read again, could be one symbolic number instead of a call.
  static bool mentionsSymbol(const Node& node) {
    const auto isSymbol = [](const Argument& argument) { return argument.as<SymExpr>() != nullptr; };
    const auto isValue = [](const Argument& argument) { return argument.as<NodeId>() != nullptr; };
    return std::ranges::any_of(node.args(), isSymbol) && std::ranges::none_of(node.args(), isValue);
  }

  /// An operand, in parentheses where the operator would take it apart.
  std::string operand(const Argument& argument, const PythonOperator& op, bool isLeft) const {
    std::string out = text(argument);
    const auto* symbol = argument.as<SymExpr>();
    const bool isSum = symbol != nullptr && !isPythonIdentifier(symbol->text) && op.symbol != "[]";
    const bool isSigned = isLeft && op.symbol == "**" && out.starts_with('-');
    return isSum || isSigned ? "(" + out + ")" : out;
  }

  std::string methodName(const Node& node) const {
    const std::string self = node.args().empty() ? "None" : text(node.args()[0]);
    if (isPythonIdentifier(node.target())) return self + "." + node.target();
    return "getattr(" + self + ", " + pythonString(node.target()) + ")";
  }

  std::string statement(const Node& node) const {
    const std::string target = node.name() + annotationSuffix(node, m_options);
    switch (node.op()) {
      case Opcode::CallFunction:
        return function(node, target);
      case Opcode::CallMethod:
        return target + " = " + methodName(node) + "(" + arguments(node, 1) + ")";
      case Opcode::CallModule:
        return target + " = " + attributePath("self", node.target()) + "(" + arguments(node, 0) + ")";
      default:
        return target + " = " + attributePath("self", node.target());
    }
  }

  std::string function(const Node& node, const std::string& target) const {
    if (const auto* op = operatorOfTarget(node.target(), node.args().size()); op && readsAsOperator(node, *op)) {
      std::vector<std::string> operands;
      for (const Argument& argument : node.args()) operands.push_back(operand(argument, *op, operands.empty()));
      const std::string expression = formatOperator(*op, operands);
      return op->inplace ? expression + ";  " + target + " = " + operands[0] : target + " = " + expression;
    }
    const bool isSymbol = isSympyFunction(node.target()) && node.kwargs().empty() && mentionsSymbol(node);
    const std::string name = isSymbol ? "globals()[" + pythonString(node.target()) + "]" : calledName(node.target());
    const auto* attribute = node.args().size() == 2 ? node.args()[1].as<std::string>() : nullptr;
    if (name == "getattr" && attribute != nullptr && node.kwargs().empty() && isNode(node, 0) &&
        isPythonIdentifier(*attribute))
      return target + " = " + attributePath(text(node.args()[0]), *attribute);
    return target + " = " + name + "(" + arguments(node, 0) + ")";
  }

  void output(const Node& node) {
    const Argument value = node.args().empty() ? Argument() : node.args()[0];
    for (std::string& line : returnLines(m_module.codegen, m_graph, value)) m_lines.push_back(std::move(line));
  }

  const GraphModule& m_module;
  const Graph& m_graph;
  const PythonCodeOptions& m_options;
  std::vector<std::string> m_lines;
  std::vector<std::vector<NodeId>> m_lastUses;
  std::string m_lastSummary;
};

void appendIndented(std::string& out, const std::vector<std::string>& lines, int indent) {
  for (const std::string& line : lines)
    out += (line.empty() ? "" : std::string(std::size_t(indent), ' ') + line) + "\n";
}

void appendClass(std::string& out, const GraphModule& module, const std::string& name,
                 const PythonCodeOptions& options) {
  out += std::string(std::size_t(options.indent - 4), ' ') + "class " + name + "(torch.nn.Module):\n";
  out += printPythonCode(module, options);
  PythonCodeOptions inner = options;
  inner.indent += 4;
  for (const auto& [path, submodule] : module.submodules) {
    if (!submodule.graph) continue;
    out += "\n";
    appendClass(out, *submodule.graph, path, inner);
  }
}

}  // namespace

std::string attributePath(std::string base, std::string_view path) {
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    const std::string element(path.substr(at, dot - at));
    std::string quoted = pythonString(element);
    if (quoted == "'" + element + "'" && element.find('"') == std::string::npos) quoted = '"' + element + '"';
    base = isPythonIdentifier(element) ? base + "." + element : "getattr(" + base + ", " + quoted + ")";
    at = dot + 1;
  }
  return base;
}

std::string annotationSuffix(const Node& node, const PythonCodeOptions& options) {
  const NodeMeta& meta = node.meta();
  const std::string annotation =
      options.annotateValues ? printAnnotation(meta, options.includeStride, options.includeDevice) : std::string();
  if (!annotation.empty()) {
    const std::string quoted = pythonString(annotation);  // what was not understood of it may be any text
    const bool isPlain = quoted == "'" + annotation + "'" && annotation.find('"') == std::string::npos;
    return ": " + (isPlain ? "\"" + annotation + "\"" : quoted);
  }
  if (meta.typeText.empty()) return {};
  const std::string type = annotationTypeText(meta.typeText);  // never the text itself, which Python would run
  return " : " + (type.empty() ? pythonString(std::string(unreadTypeMark) + meta.typeText) : type);
}

std::string printPythonCode(const GraphModule& module, const PythonCodeOptions& options) {
  std::string out;
  appendIndented(out, signatureLines(module, options), options.indent);
  appendIndented(out, BodyPrinter(module, options).lines(), options.indent + 4);
  return out;
}

std::string printReadable(const GraphModule& module, const PythonCodeOptions& options) {
  std::string out;
  appendClass(out, module, module.className, options);
  return out;
}

}  // namespace kerf::inline ir
