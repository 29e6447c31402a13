// Reader of str(graph): one node per line.
#include <unordered_map>

#include "engine/ir/graph_text_value.h"
#include "engine/ir/parser.h"
#include "engine/ir/partial_reading.h"
#include "engine/ir/python_expression.h"
#include "engine/ir/shortened_line.h"
#include "engine/ir/shown_function.h"
#include "engine/ir/symbol_text.h"

namespace kerf::inline ir {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class GraphTextReader {
 public:
  GraphTextReader(std::string_view text, int firstLine, PartialReading* partial)
      : m_text(text), m_partial(partial), m_firstLine(firstLine), m_line(firstLine - 1) {}

  Result<Graph> read() {
    KERF_CHECK(checkPythonText(m_text, m_firstLine));
    bool started = false;
    for (std::size_t at = 0; at < m_text.size() && !m_finished;) {
      const std::size_t end = std::min(m_text.find('\n', at), m_text.size());
      const std::string_view line = trim(m_text.substr(at, end - at));
      ++m_line;
      at = end + 1;
      if (line.empty()) continue;
      const bool isHeader = !started && (m_partial == nullptr || line.starts_with("graph("));
      if (m_partial != nullptr && isEllipsis(line)) continue;
      const auto read = isHeader ? header(line) : statementAsTold(line);
      if (!read && (m_partial == nullptr || read.error().code == ErrorCode::TooLarge)) return fail(Error(read.error()));
      if (!read) m_partial->skipped.push_back({m_line, read.error().message});
      started = true;
    }
    if (!started) return pythonError(m_firstLine, "there is no graph in the text");
    if (!m_finished && m_partial != nullptr) returnUnused(m_graph, m_line, *m_partial);
    return std::move(m_graph);
  }

 private:
  /// "graph():", or "graph(x, y : torch.Tensor):" of old versions, which list placeholders only there.
  Result<void> header(std::string_view line) {
    if (!line.starts_with("graph(") || !line.ends_with(":") || line.find(')') == std::string_view::npos)
      return pythonError(m_line, "expected 'graph():'");
    std::string_view parameters = line.substr(6, line.rfind(')') - 6);
    while (!parameters.empty()) {
      const std::size_t comma = std::min(parameters.find(", "), parameters.size());
      std::string_view item = trim(parameters.substr(0, comma));
      parameters.remove_prefix(std::min(comma + 2, parameters.size()));
      if (item.starts_with('%')) item.remove_prefix(1);
      const std::size_t colon = item.find(':');
      const std::string_view name = trim(item.substr(0, colon));
      const std::string_view type = colon == std::string_view::npos ? "" : trim(item.substr(colon + 1));
      KERF_CHECK(addNode(Opcode::Placeholder, name, name, type, {}, {}));
    }
    return {};
  }

  /// A line that ends with "..." is read as far as it is told, where the reading is partial.
  Result<void> statementAsTold(std::string_view line) {
    const auto told = m_partial != nullptr ? completedGraphLine(line) : std::nullopt;
    if (!told) return statement(line);
    KERF_CHECK(statement(*told));
    m_partial->shortened.push_back(m_line);
    return {};
  }

  Result<void> statement(std::string_view line) {
    if (line == "return" || line.starts_with("return ")) return returns(line.substr(6));
    if (!line.starts_with('%'))
      return pythonError(m_line, fmt::format("expected a node, found '{}'", line.substr(0, 40)));
    const std::size_t colon = line.find(" : ");
    std::size_t users = line.find("[num_users=");
    for (const std::string_view older : {"[#users=", "[uses="})
      if (users == std::string_view::npos) users = line.find(older);
    const std::size_t equals = line.find("] = ", users);
    if (colon == std::string_view::npos || users == std::string_view::npos || equals == std::string_view::npos ||
        colon + 3 > users)
      return pythonError(m_line, "a node needs the form '%name : [num_users=N] = opcode[target=…]'");
    return definition(line.substr(1, colon - 1), trim(line.substr(colon + 3, users - colon - 3)),
                      line.substr(equals + 4));
  }

  Result<void> definition(std::string_view name, std::string_view type, std::string_view rest) {
    const std::size_t bracket = rest.find("[target=");
    const auto op = opcodeFromName(rest.substr(0, bracket));
    if (bracket == std::string_view::npos || !op || *op == Opcode::Output)
      return pythonError(m_line,
                         fmt::format("'{}' is not an opcode", rest.substr(0, std::min<std::size_t>(bracket, 40))));
    rest.remove_prefix(bracket + 8);
    const std::string_view opener = *op == Opcode::Placeholder ? "](default=" : "](args = ";
    const std::size_t end = rest.find(opener);
    if (end != std::string_view::npos) return withArguments(*op, name, type, rest.substr(0, end), rest.substr(end + 2));
    if (!rest.ends_with(']')) return pythonError(m_line, "']' is missing after the target");
    if (*op != Opcode::Placeholder && *op != Opcode::GetAttr) return pythonError(m_line, "the call has no arguments");
    return addNode(*op, name, rest.substr(0, rest.size() - 1), type, {}, {});
  }

  Result<void> withArguments(Opcode op, std::string_view name, std::string_view type, std::string_view target,
                             std::string_view text) {
    const GraphTextValue::NodeLookup lookup = [this](std::string_view node) { return find(node); };
    GraphTextValue reader(text, m_line, lookup);
    if (op == Opcode::Placeholder) {
      KERF_CHECK(reader.expect("default="));
      KERF_TRY(auto value, reader.value());
      KERF_CHECK(reader.expect(")"));
      return addNode(op, name, target, type, {std::move(value)}, {});
    }
    KERF_CHECK(reader.expect("args = "));
    KERF_TRY(auto args, reader.value());
    KERF_CHECK(reader.expect(", kwargs = "));
    KERF_TRY(auto kwargs, reader.value());
    KERF_CHECK(reader.expect(")"));
    if (args.asList() == nullptr || kwargs.asDict() == nullptr || !reader.atEnd())
      return pythonError(m_line, "args must be a tuple and kwargs a dict");
    const bool isShown = op == Opcode::CallFunction && target.starts_with('<');  // before torch 1.9
    return addNode(op, name, isShown ? targetOfShown(target) : std::string(target), type, args.asList()->items,
                   kwargs.asDict()->items);
  }

  Result<void> addNode(Opcode op, std::string_view name, std::string_view target, std::string_view type,
                       ArgumentList args, KeywordArguments kwargs) {
    if (!isPythonIdentifier(name))
      return pythonError(m_line, fmt::format("'{}' is not a legal name", name.substr(0, 40)));
    const NodeId id = m_graph.createNamed(op, target, std::move(args), std::move(kwargs), name);
    m_defined[std::string(name)] = id;
    NodeMeta meta;
    meta.sourceLine = m_line;
    const std::size_t quote = type.find('"');  // `%x : Tensor "f32[2, 3]" [num_users=1]`
    if (quote != std::string_view::npos) {
      const std::string_view annotation = type.substr(quote + 1, type.find('"', quote + 1) - quote - 1);
      meta.value = parseAnnotation(annotation).value;
      type = trim(type.substr(0, quote));
    }
    if (const auto expression = parsePythonExpression(type, m_line);
        expression && expression->kind != PythonKind::Tuple && type.find('#') == std::string_view::npos)
      meta.typeText = type;
    m_graph.setMeta(id, std::move(meta));
    return {};
  }

  /// The returned value is written as Python's repr(), nodes without '%'.
  Result<void> returns(std::string_view text) {
    m_finished = true;
    if (trim(text).empty()) return addOutput({});
    std::string plain(text);
    std::erase(plain, '%');  // old versions put it there too
    KERF_TRY(const auto expression, parsePythonExpression(plain, m_line));
    KERF_TRY(auto value, pythonToArgument(expression, [this](std::string_view name, int) { return find(name); }));
    return addOutput(std::move(value));
  }

  Result<void> addOutput(Argument value) {
    NodeMeta meta;
    meta.sourceLine = m_line;
    m_graph.setMeta(m_graph.output(std::move(value)), std::move(meta));
    return {};
  }

  Result<Argument> find(std::string_view name) {
    const auto found = m_defined.find(std::string(name));
    if (found != m_defined.end()) return Argument(found->second);
    if (m_partial != nullptr && isPythonIdentifier(name)) {
      KERF_TRY(const NodeId made, inventPlaceholder(m_graph, name, *m_partial, m_line));
      m_defined[std::string(name)] = made;
      return Argument(made);
    }
    const std::string definition = fmt::format("%{} : ", name);
    if (m_text.find(definition) != std::string_view::npos)
      return pythonError(m_line, fmt::format("'{}' is used before it is defined", name));
    return undefinedPythonName(name, m_line);
  }

  std::string_view m_text;
  PartialReading* m_partial;
  Graph m_graph;
  std::unordered_map<std::string, NodeId> m_defined;
  int m_firstLine;
  int m_line;
  bool m_finished = false;
};

}  // namespace

Result<Graph> parseGraphText(std::string_view text, int firstLine, PartialReading* partial) {
  return GraphTextReader(text, firstLine, partial).read();
}

}  // namespace kerf::inline ir
