#include "engine/capture/repro/writer.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "engine/capture/audit/audit_module_lines.h"
#include "engine/capture/audit/auditor.h"
#include "engine/capture/common/symbol_range.h"
#include "engine/capture/common/tensor_literal.h"
#include "engine/capture/inputs/annotation_inputs.h"
#include "engine/capture/repro/free_names.h"
#include "engine/capture/repro/graph_level.h"
#include "engine/capture/repro/init_parser.h"
#include "engine/capture/repro/load_args_writer.h"
#include "engine/capture/repro/main_lines.h"
#include "engine/capture/repro/usual_header.h"
#include "engine/ir/printer.h"
#include "engine/ir/python_expression.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline capture {
namespace {

void appendLines(std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) text += line + "\n";
}

bool isDottedName(std::string_view path) {
  for (;;) {
    const std::size_t dot = path.find('.');
    if (!isPythonIdentifier(path.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    path.remove_prefix(dot + 1);
  }
}

std::string attributeLine(const std::string& name, const TensorAttribute& attribute) {
  const std::string value = attribute.text.empty() ? tensorLiteral(attribute.tensor) : attribute.text;
  if (!attribute.isParameter) return fmt::format("        self.register_buffer({}, {})\n", pythonString(name), value);
  const std::string parameter = attribute.text.empty() ? "torch.nn.Parameter(" + value + ")" : value;
  if (!isDottedName(name))
    return fmt::format("        self.register_parameter({}, {})\n", pythonString(name), parameter);
  return fmt::format("        self.{} = {}\n", name, parameter);
}

/// Names of the classes that the nested graphs of a module are written as.
class NestedClasses {
 public:
  /// `header` may define some of them already; `model` is the name of the class around them.
  NestedClasses(const std::vector<std::string>& header, const std::string& model) {
    m_taken.insert(model);
    for (const std::string& line : header)
      if (line.starts_with("class ")) m_inHeader.insert(line.substr(6, line.find_first_of("(:", 6) - 6));
  }

  /// What `self.path = …` says for a submodule.
  std::string value(const std::string& path, const Submodule& submodule) {
    if (!submodule.graph) return opaqueValue(submodule.repr.empty() ? path + "()" : submodule.repr);
    const std::string known = submodule.repr.substr(0, submodule.repr.find('('));
    if (m_inHeader.contains(known)) return submodule.repr;
    return name(*submodule.graph, known.empty() ? path : known) + "()";
  }

  bool isInHeader(const Submodule& submodule) const {
    return m_inHeader.contains(submodule.repr.substr(0, submodule.repr.find('(')));
  }
  bool firstTime(const GraphModule& module) { return m_written.insert(&module).second; }

 private:
  /// Some reprs are no Python ("<lambda>()"), others call what is no module of torch: they stand in a comment, which the
  /// reader knows.
  static std::string opaqueValue(const std::string& repr) {
    return isAllowedModuleRepr(repr) ? repr : std::string(noPythonValue) + pythonString(repr);
  }

  std::string name(const GraphModule& module, std::string_view wish) {
    const auto known = m_names.find(&module);
    if (known != m_names.end()) return known->second;
    std::string base;
    for (const char c : wish) base += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    if (!isPythonIdentifier(base) || isReservedGlobal(base)) base = "graph_" + base;
    std::string name = base;
    for (int number = 1; m_inHeader.contains(name) || !m_taken.insert(name).second; ++number)
      name = fmt::format("{}_{}", base, number);
    return m_names[&module] = name;
  }

  std::set<std::string> m_inHeader, m_taken;
  std::map<const GraphModule*, std::string> m_names;
  std::set<const GraphModule*> m_written;
};

/// `class Name(torch.nn.Module):` with __init__ and forward, as NNModuleToString prints it.
std::string classText(const GraphModule& module, const std::string& className, NestedClasses& classes,
                      const ExportOptions& options) {
  std::string text = fmt::format(
      "class {}(torch.nn.Module):\n    def __init__(self) -> None:\n        super().__init__()\n", className);
  for (const auto& [name, submodule] : module.submodules)
    text += fmt::format("        {} = {}\n",
                        isDottedName(name) ? "self." + name : "self.__dict__[" + pythonString(name) + "]",
                        classes.value(name, submodule));
  for (const auto& [name, attribute] : module.attributes) text += attributeLine(name, attribute);
  text += "\n\n\n";
  const auto hasStack = [&](NodeId id) { return !module.graph.node(id).meta().stackTrace.empty(); };
  PythonCodeOptions printed;
  printed.includeStackTraces = options.stackTraces && std::ranges::any_of(module.graph.order(), hasStack);
  std::string forward = printPythonCode(module, printed);
  while (forward.ends_with('\n')) forward.pop_back();
  forward.erase(0, std::min(forward.find_first_not_of('\n'), forward.size()));
  return text + forward + "\n";
}

/// Classes of nested graphs that the header does not define already, innermost first.
void appendNestedClasses(std::string& text, const GraphModule& module, NestedClasses& classes,
                         const ExportOptions& options) {
  for (const auto& [path, submodule] : module.submodules) {
    if (!submodule.graph || classes.isInHeader(submodule) || !classes.firstTime(*submodule.graph)) continue;
    appendNestedClasses(text, *submodule.graph, classes, options);
    std::string name = classes.value(path, submodule);
    name.resize(std::min(name.find('('), name.size()));
    text += classText(*submodule.graph, name, classes, options) + "\n";
  }
}

/// The symbols that load_args mentions, with their values; a size tells the value of the symbol that it is.
std::vector<SymExpr> usedSymbols(const CapturedGraph& graph) {
  std::set<std::string> names;
  for (const GraphInput& input : graph.inputs) {
    for (const auto* texts : {&input.sizeTexts, &input.strideTexts})
      for (const std::string& text : *texts) collectSymbols(text, names);
    collectSymbols(input.offsetText, names);
    if (input.kind == GraphInput::Kind::SymInt && !input.hasExprKeyword) collectSymbols(input.sym.text, names);
  }
  for (const StorageRef& storage : graph.storages) collectSymbols(storage.bytesText, names);
  std::vector<SymExpr> used;
  if (names.empty()) return used;
  for (const SymExpr& symbol : graph.symbols())
    if (names.contains(symbol.text)) used.push_back(symbol);
  return used;
}

/// "s0 = 8", with its range in a comment where more is known than that it is at least 2.
std::string symbolLine(const SymExpr& symbol, const GraphModule& module) {
  const std::string line = fmt::format("{} = {}", symbol.text, symbol.hint.value_or(8));
  const auto range = std::ranges::find(module.symbolRanges, symbol.text, &SymbolRange::name);
  if (range == module.symbolRanges.end() || (range->lower == 2 && !range->upper)) return line;
  return line + "  # " + rangeText(*range);
}

/// FX prints math.floor as "math_floor", a name that its own code generator defines: a file must do so itself.
std::string mathLines(const Graph& graph, const std::vector<std::string>& known) {
  std::set<std::string> lines;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() != Opcode::CallFunction || !node.target().starts_with("math.")) continue;
    const std::string name = node.target().substr(5);
    std::string line = fmt::format("math_{0} = math.{0}", name);
    if (isPythonIdentifier(name) && std::ranges::find(known, line) == known.end()) lines.insert(std::move(line));
  }
  return lines.empty() ? std::string() : fmt::format("import math\n{}\n", fmt::join(lines, "\n"));
}

/// The header as it was read, with `s0 = 8` for every symbol that load_args mentions: lines that say another value are
/// changed, missing ones come first.
std::string headerText(const CapturedGraph& graph, const ReproEnvelope& envelope) {
  std::vector<std::string> lines = envelope.headerLines;
  std::string missing;
  for (const SymExpr& symbol : usedSymbols(graph)) {
    const auto known = std::ranges::find(envelope.symbols, symbol.text, &std::pair<std::string, std::int64_t>::first);
    if (known == envelope.symbols.end()) {
      missing += symbolLine(symbol, graph.module) + "\n";
      continue;
    }
    if (symbol.hint && known->second != *symbol.hint)
      std::ranges::replace_if(
          lines, [&](const std::string& line) { return line.starts_with(symbol.text + " = "); },
          symbolLine(symbol, graph.module));
  }
  missing += mathLines(graph.module.graph, lines);
  if (lines.empty()) return missing + usualHeader();
  appendLines(missing, lines);
  return missing;
}

bool hasData(const CapturedGraph& graph) {
  return std::any_of(graph.storages.begin(), graph.storages.end(), [](const StorageRef& s) { return !s.hash.empty(); });
}

void setOption(RunOptions& options, std::vector<std::string>& lines, const std::string& key, const std::string& value) {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const auto& option) { return option.first == key; });
  if (found == options.end()) return options.emplace_back(key, value), void();
  replaceOption(lines, key, found->second, value);
  found->second = value;
}

/// As the capture says; else by the graph: what Dynamo made has modules and functions that only its own runner takes.
bool runsAfterDynamo(const CapturedGraph& graph, const ReproEnvelope& envelope) {
  const bool isSaid = !envelope.mainLines.empty() || !envelope.runOptions.empty() || envelope.runner != "after_aot";
  return isSaid ? envelope.runner == "after_dynamo" : isDynamoGraph(graph);
}

bool makesModule(const std::vector<std::string>& lines) {
  return std::ranges::any_of(lines, [](const std::string& line) { return line.starts_with("mod = "); });
}

/// Between the model class and load_args.
std::vector<std::string> betweenLines(const CapturedGraph& graph, const ReproEnvelope& envelope) {
  std::vector<std::string> lines = envelope.betweenLines;
  const bool isNew = envelope.mainLines.empty() && runsAfterDynamo(graph, envelope);
  if (isNew && !makesModule(lines))
    for (std::string& line : defaultDynamoModuleLines(graph.module.className)) lines.push_back(std::move(line));
  return lines.empty() ? std::vector<std::string>{""} : lines;
}

std::string mainText(const ReproEnvelope& envelope, const CapturedGraph& graph, const ExportOptions& options) {
  RunOptions runOptions = envelope.runOptions;
  std::vector<std::string> lines = envelope.mainLines;
  setOption(runOptions, lines, "command", pythonString(options.command));
  if (options.accuracy) setOption(runOptions, lines, "accuracy", *options.accuracy);
  if (hasData(graph)) setOption(runOptions, lines, "save_dir", "'.'");
  // As PyTorch does, so that the sizes are symbolic again when it traces the graph.
  if (lines.empty() && !usedSymbols(graph).empty()) setOption(runOptions, lines, "tracing_mode", "'symbolic'");
  if (lines.empty())
    lines = runsAfterDynamo(graph, envelope) ? defaultDynamoMainLines(runOptions)
                                             : defaultMainLines(graph.module.className, runOptions);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

std::string reproText(const Capture& capture, std::size_t index, const ExportOptions& options) {
  if (index >= capture.graphs.size()) return {};
  CapturedGraph graph = withInputs(capture.graphs[index]);
  if (!isPythonIdentifier(graph.module.className)) graph.module.className = "Repro";  // "<lambda>" of a log
  const ReproEnvelope& envelope = graph.envelope ? *graph.envelope : capture.envelope;
  std::string text;
  NestedClasses classes(envelope.headerLines, graph.module.className);
  appendNestedClasses(text, graph.module, classes, options);
  text += classText(graph.module, graph.module.className, classes, options);
  appendLines(text, betweenLines(graph, envelope));
  text += loadArgsText(graph);
  const std::string header = headerText(graph, envelope);
  return importsFor(text, header) + header + text + mainText(envelope, graph, options);
}

Capture makeCapture(CapturedGraph graph, const Capture& like) {
  Capture capture;
  capture.kind = like.kind;
  capture.path = like.path;
  capture.torchVersion = like.torchVersion;
  capture.allowedCalls = like.allowedCalls;
  capture.envelope = graph.envelope ? *graph.envelope : like.envelope;
  capture.graphs.push_back(std::move(graph));
  return capture;
}

}  // namespace kerf::inline capture
