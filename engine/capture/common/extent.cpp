#include "engine/capture/common/extent.h"

#include <algorithm>

#include "engine/capture/common/source_text.h"
#include "engine/ir/annotation_type.h"
#include "engine/ir/printer.h"
#include "engine/ir/python_expression.h"

namespace kerf::inline capture {
namespace {

constexpr std::int64_t integerBytes = 22;
constexpr std::int64_t literalBytes = 64;    ///< at most, of a number, dtype, device or complex number
constexpr std::int64_t inputBytes = 256;     ///< at most, of what load_args says of an input besides its texts
constexpr std::int64_t defaultBytes = 4096;  ///< at most, of the text around a graph that came without one
constexpr std::int64_t defaultLines = 60;
constexpr int linesPerInput = 2;
constexpr int aroundCall = 3;  ///< brackets and expressions around an argument: the call, **{…}, getattr(…)

std::int64_t bytesOf(std::string_view text) { return std::int64_t(text.size()); }

int bracketDepth(std::string_view text) {
  int open = 0, deepest = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') deepest = std::max(deepest, ++open);
    if (c == ')' || c == ']' || c == '}') --open;
  }
  return deepest;
}

/// Height of the expression's tree; short texts cannot be high.
int expressionHeight(std::string_view text) {
  constexpr std::size_t shortText = 60;
  if (text.size() <= shortText) return int(text.size());
  const auto expression = parsePythonExpression(text);
  return expression ? expression->height : 0;
}

/// Measures one statement; stops early where it is beyond the limits.
class Statement {
 public:
  Statement(const Graph& graph, const ImportLimits& limits) : m_graph(graph), m_limits(limits) {}

  void arguments(const Node& node) {
    for (const Argument& argument : node.args()) visit(argument, aroundCall);
    for (const auto& [key, value] : node.kwargs()) {
      add(key);
      visit(value, aroundCall);
    }
  }

  /// What a node calls or takes; only paths from self are taken apart.
  void target(const Node& node) {
    if (node.op() == Opcode::CallModule || node.op() == Opcode::GetAttr) return path(node.target());
    add(node.target());
  }

  /// "self.a", or getattr(getattr(self, "0"), "1") for names that are no identifiers.
  void path(std::string_view target) {
    constexpr std::int64_t getattrBytes = 14;
    int odd = 0;
    for (std::size_t at = 0; at <= target.size(); ++odd) {
      const std::size_t dot = std::min(target.find('.', at), target.size());
      if (isPythonIdentifier(target.substr(at, dot - at))) --odd;
      at = dot + 1;
    }
    m_bytes += escapedBytes(target) + odd * getattrBytes;
    nest(odd + 1, odd + 1);
  }

  void raw(std::string_view text, int around) {
    m_bytes += bytesOf(text);
    nest(around + bracketDepth(text), around + expressionHeight(text));
  }

  void add(std::string_view text) { m_bytes += escapedBytes(text) + 6; }

  /// A type as it is, or in quotes behind a mark where it is not understood.
  void annotation(std::string_view text) {
    raw(text, aroundCall);
    add(text);
    m_bytes += bytesOf(unreadTypeMark);
  }

  std::int64_t bytes() const { return m_bytes; }
  bool isTooDeep() const { return m_brackets > m_limits.nesting || m_height > PythonLimits{}.nesting; }
  bool isTooLong() const { return m_bytes > m_limits.lineBytes; }

 private:
  static std::int64_t escapedBytes(std::string_view text) { return bytesOf(pythonString(text)); }

  void nest(int brackets, int height) {
    m_brackets = std::max(m_brackets, brackets);
    m_height = std::max(m_height, height);
  }

  void items(const ArgumentList& items, int depth) {
    m_bytes += literalBytes / 8;
    for (const Argument& item : items) visit(item, depth + 1);
  }

  void visit(const Argument& argument, int depth) {
    nest(depth + 1, depth + 1);
    if (isTooDeep() || isTooLong()) return;
    if (const auto* list = argument.asList()) return items(list->items, depth);
    if (const auto* slice = argument.asSlice()) return items(slice->items, depth);
    if (const auto* text = argument.as<std::string>()) return add(*text);
    if (const auto* id = argument.as<NodeId>()) return void(m_bytes += bytesOf(m_graph.node(*id).name()) + 2);
    if (const auto* symbol = argument.as<SymExpr>()) return raw(symbol->text, depth + 1);
    if (const auto* name = argument.as<PythonName>()) return raw(name->text, depth);
    m_bytes += argument.as<std::int64_t>() != nullptr || argument.as<bool>() != nullptr ? integerBytes : literalBytes;
    const auto* dict = argument.asDict();
    if (dict == nullptr) return;
    for (const auto& [key, value] : dict->items) {
      add(key);
      visit(value, depth + 1);
    }
  }

  const Graph& m_graph;
  const ImportLimits& m_limits;
  std::int64_t m_bytes = 0;
  int m_brackets = 0, m_height = 0;
};

class Extent {
 public:
  explicit Extent(const ImportLimits& limits) : m_limits(limits) {}

  /// Nested classes of a repro are lines of its header, kept as they were read.
  Result<void> around(const ReproEnvelope& envelope) {
    m_hasHeader = !envelope.headerLines.empty();
    if (envelope.headerLines.empty() && envelope.mainLines.empty()) return grow(defaultBytes, defaultLines);
    for (const auto* lines : {&envelope.headerLines, &envelope.betweenLines, &envelope.mainLines})
      for (const std::string& line : *lines) KERF_CHECK(grow(bytesOf(line) + 1, 1));
    return {};
  }

  Result<void> inputs(const CapturedGraph& graph) {
    for (const GraphInput& input : graph.inputs) {
      Statement statement(graph.module.graph, m_limits);
      for (const auto* texts : {&input.sizeTexts, &input.strideTexts})
        for (const std::string& text : *texts) statement.raw(text, aroundCall);
      for (const auto& [key, value] : input.extra) statement.raw(value, aroundCall);
      for (const std::string& text : {input.offsetText, input.text, input.sym.text}) statement.raw(text, 1);
      for (const std::string& text : {input.name, input.comment.empty() ? input.name : input.comment, input.sym.text})
        statement.add(text);
      KERF_CHECK(check(statement, input.name, input.line));
      KERF_CHECK(grow(inputBytes + statement.bytes(), linesPerInput));
      for (const std::string& line : input.block) KERF_CHECK(grow(bytesOf(line) + 1, 1));
    }
    for (const StorageRef& storage : graph.storages) {
      KERF_CHECK(grow(inputBytes + bytesOf(storage.bytesText), 1));
      if (storage.bytes > m_limits.tensorBytes)
        return tooLarge(
            fmt::format("a storage of {} bytes is beyond the limit of {}", storage.bytes, m_limits.tensorBytes),
            storage.line);
    }
    return {};
  }

  Result<void> module(const GraphModule& module, int depth) {
    const CodeGen& codegen = module.codegen;
    Statement signature(module.graph, m_limits);
    signature.raw(codegen.flattenArguments, aroundCall);
    for (const auto* names : {&codegen.parameters, &codegen.leafNames, &codegen.outputDescriptions})
      for (const std::string& name : *names) signature.add(name);
    KERF_CHECK(nodes(module, signature));
    KERF_CHECK(check(signature, "forward", 0));
    KERF_CHECK(grow(2 * signature.bytes() + literalBytes * 8, 30));
    KERF_CHECK(attributes(module));
    for (const auto& [path, submodule] : module.submodules)
      if (submodule.graph && !m_hasHeader && depth < 100) KERF_CHECK(this->module(*submodule.graph, depth + 1));
    return {};
  }

 private:
  static std::unexpected<Error> tooLarge(std::string message, int line) {
    return fail(Error{ErrorCode::TooLarge, std::move(message), {}, line, {}, {}});
  }

  Result<void> grow(std::int64_t bytes, std::int64_t lines) {
    m_bytes += bytes;
    m_lines += lines;
    if (m_bytes > m_limits.fileBytes)
      return tooLarge(fmt::format("the graph, written out, is beyond the limit of {} bytes", m_limits.fileBytes), 0);
    if (m_lines > linesPerNode * m_limits.nodes)
      return tooLarge(fmt::format("the graph, written out, has more than {} lines", linesPerNode * m_limits.nodes), 0);
    return {};
  }

  Result<void> check(const Statement& statement, std::string_view name, int line) const {
    if (statement.isTooDeep())
      return tooLarge(fmt::format("the values of '{}' nest too deep to be written", name.substr(0, 60)), line);
    if (statement.isTooLong())
      return tooLarge(fmt::format("'{}', written out, has more than {} bytes", name.substr(0, 60), m_limits.lineBytes),
                      line);
    return {};
  }

  /// One statement each; placeholders are parts of the signature, and may be renamed in a line of their own.
  Result<void> nodes(const GraphModule& module, Statement& signature) {
    for (const NodeId id : module.graph.order()) {
      const Node& node = module.graph.node(id);
      Statement statement(module.graph, m_limits);
      statement.target(node);
      statement.arguments(node);
      statement.annotation(node.meta().typeText);
      statement.add(node.name());
      KERF_CHECK(check(statement, node.name(), node.meta().sourceLine));
      // every name is freed once, in some line
      KERF_CHECK(grow(statement.bytes() + 2 * bytesOf(node.name()) + integerBytes, 1));
      if (node.op() != Opcode::Placeholder) continue;
      signature.annotation(node.meta().typeText);
      signature.arguments(node);
      signature.add(node.target());
      KERF_CHECK(grow(0, module.codegen.expanded ? 1 : 0));
    }
    return {};
  }

  Result<void> attributes(const GraphModule& module) {
    const auto line = [&](std::string_view path, std::string_view value) -> Result<void> {
      Statement statement(module.graph, m_limits);
      statement.raw(value, 2);
      statement.add(path);
      const auto breaks = std::ranges::count(value, '\n');
      KERF_CHECK(check(statement, path, 0));
      return grow(2 * statement.bytes() + literalBytes, 1 + breaks);
    };
    for (const auto& [path, attribute] : module.attributes) KERF_CHECK(line(path, attribute.text));
    for (const auto& [path, submodule] : module.submodules)
      KERF_CHECK(line(path, submodule.graph ? path : submodule.repr));
    return {};
  }

  const ImportLimits& m_limits;
  std::int64_t m_bytes = 0, m_lines = 0;
  bool m_hasHeader = false;
};

}  // namespace

Result<void> checkExtent(const CapturedGraph& graph, const ImportLimits& limits, const ReproEnvelope& envelope) {
  Extent extent(limits);
  KERF_CHECK(extent.around(envelope));
  KERF_CHECK(extent.inputs(graph));
  return extent.module(graph.module, 0);
}

}  // namespace kerf::inline capture
