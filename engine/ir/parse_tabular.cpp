// Reader of graph.print_tabular(): one node per row.
#include <algorithm>
#include <unordered_map>

#include "engine/ir/parser.h"
#include "engine/ir/partial_reading.h"
#include "engine/ir/python_expression.h"
#include "engine/ir/shortened_line.h"
#include "engine/ir/shown_function.h"

namespace kerf::inline ir {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r|");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r|") - first + 1);
}

std::string_view takeWord(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" \t|"), text.size());
  const std::string_view word = text.substr(0, end);
  text = trim(text.substr(end));
  return word;
}

class TabularReader {
 public:
  TabularReader(std::string_view text, int firstLine, std::vector<std::string>* guessed, PartialReading* partial)
      : m_text(text), m_firstLine(firstLine), m_line(firstLine - 1), m_guessed(guessed), m_partial(partial) {}

  Result<Graph> read() {
    KERF_CHECK(checkPythonText(m_text, m_firstLine));
    for (std::size_t at = 0; at < m_text.size();) {
      const std::size_t end = std::min(m_text.find('\n', at), m_text.size());
      const std::string_view line = trim(m_text.substr(at, end - at));
      ++m_line;
      at = end + 1;
      const bool isRule = line.find_first_not_of("-=+| ") == std::string_view::npos;
      if (isRule || line.starts_with("opcode ") || line.starts_with("opcode|")) continue;
      if (m_partial != nullptr && isEllipsis(line)) {
        m_partial->shortened.push_back(m_line);
        continue;
      }
      const auto read = rowAsTold(line);
      if (!read && (m_partial == nullptr || read.error().code == ErrorCode::TooLarge)) return fail(Error(read.error()));
      if (!read) m_partial->skipped.push_back({m_line, read.error().message});
    }
    if (m_graph.size() == 0) return pythonError(m_firstLine, "the table has no rows");
    if (!m_finished && m_partial != nullptr) returnUnused(m_graph, m_line, *m_partial);
    return std::move(m_graph);
  }

 private:
  /// A row that ends with "..." is read as far as it is told, where the reading is partial.
  Result<void> rowAsTold(std::string_view line) {
    const auto told = m_partial != nullptr ? completedRow(line) : std::nullopt;
    if (!told) return row(line);
    KERF_CHECK(row(*told));
    m_partial->shortened.push_back(m_line);
    return {};
  }

  Result<void> row(std::string_view line) {
    if (m_finished) return pythonError(m_line, "there are rows after the output");
    const std::string_view word = takeWord(line);
    const auto op = opcodeFromName(word);
    if (!op) return pythonError(m_line, fmt::format("'{}' is not an opcode", word.substr(0, 40)));
    const std::string_view name = takeWord(line);
    if (!isPythonIdentifier(name))
      return pythonError(m_line, fmt::format("'{}' is not a legal name", name.substr(0, 40)));
    const std::size_t arguments = argumentsBegin(line);
    if (arguments == std::string_view::npos)
      return pythonError(m_line, fmt::format("the row of '{}' has no arguments", name));
    const std::string_view shown = trim(line.substr(0, arguments));
    ArgumentList args;
    KeywordArguments kwargs;
    KERF_CHECK(readArguments(line.substr(arguments), args, kwargs));
    return add(*op, name, shown, std::move(args), std::move(kwargs));
  }

  /// Offset of the tuple of arguments: behind the target, which may be "<built-in method add of type object at 0x1>".
  static std::size_t argumentsBegin(std::string_view line) {
    std::size_t at = 0;
    int angles = 0;
    for (; at < line.size(); ++at) {
      if (line[at] == '<') ++angles;
      if (line[at] == '>') --angles;
      const bool afterSpace = at == 0 || line[at - 1] == ' ' || line[at - 1] == '|';
      if (line[at] == '(' && angles <= 0 && afterSpace) return at;
    }
    return std::string_view::npos;
  }

  Result<void> readArguments(std::string_view text, ArgumentList& args, KeywordArguments& kwargs) {
    PythonLexer lexer(text, m_line);
    PythonParser parser(lexer);
    KERF_TRY(const auto tuple, parser.expression());
    lexer.accept("|");
    KERF_TRY(const auto dict, parser.expression());
    const auto names = [this](std::string_view name, int line) -> Result<Argument> {
      const auto found = m_defined.find(std::string(name));
      if (found != m_defined.end()) return Argument(found->second);
      if (name.find('.') != std::string_view::npos) return Argument(PythonName{std::string(name)});
      if (m_partial != nullptr && isPythonIdentifier(name)) {
        KERF_TRY(const NodeId made, inventPlaceholder(m_graph, name, *m_partial, line));
        m_defined[std::string(name)] = made;
        return Argument(made);
      }
      return undefinedPythonName(name, line);
    };
    KERF_TRY(const Argument positional, pythonToArgument(tuple, names));
    KERF_TRY(const Argument keywords, pythonToArgument(dict, names));
    if (positional.asList() == nullptr || !positional.asList()->isTuple || keywords.asDict() == nullptr)
      return pythonError(m_line, "args must be a tuple and kwargs a dict");
    args = positional.asList()->items;
    kwargs = keywords.asDict()->items;
    return {};
  }

  Result<void> add(Opcode op, std::string_view name, std::string_view shown, ArgumentList args,
                   KeywordArguments kwargs) {
    NodeMeta meta;
    meta.sourceLine = m_line;
    if (op == Opcode::Output) {
      m_finished = true;
      m_graph.setMeta(m_graph.output(args.empty() ? Argument() : std::move(args.front())), std::move(meta));
      return {};
    }
    const std::string target = op == Opcode::CallFunction ? targetOfShown(shown, m_guessed) : std::string(shown);
    if (target.empty()) return pythonError(m_line, fmt::format("the row of '{}' has no target", name));
    const NodeId id = m_graph.createNamed(op, target, std::move(args), std::move(kwargs), name);
    m_graph.setMeta(id, std::move(meta));
    m_defined[std::string(name)] = id;
    return {};
  }

  std::string_view m_text;
  int m_firstLine;
  int m_line;
  std::vector<std::string>* m_guessed;
  PartialReading* m_partial;
  Graph m_graph;
  std::unordered_map<std::string, NodeId> m_defined;
  bool m_finished = false;
};

}  // namespace

Result<Graph> parseTabular(std::string_view text, int firstLine, std::vector<std::string>* guessed,
                           PartialReading* partial) {
  return TabularReader(text, firstLine, guessed, partial).read();
}

}  // namespace kerf::inline ir
