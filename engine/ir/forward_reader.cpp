#include "engine/ir/forward_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/ir/annotation_type.h"
#include "engine/ir/symbol_text.h"

namespace kerf::inline ir {
namespace {

constexpr std::string_view noStackTrace = "No stacktrace found for following nodes";
/// What FX's comment lines above nodes contain; other comments are the user's and carry nothing.
constexpr std::array<std::string_view, 5> summaryMarks = {"File: ", noStackTrace,
                                                          "Annotation: ", "ac_graph_id: ", "recompute: "};
constexpr std::array<std::string_view, 18> compoundWords = {"if",     "for",   "while", "with",   "try",    "def",
                                                            "class",  "raise", "del",   "global", "import", "from",
                                                            "assert", "async", "await", "match",  "yield",  "nonlocal"};

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// "…File: /a/b.py:12 in f, code: …" → file and line.
void readSource(NodeMeta& meta) {
  const std::size_t file = meta.stackTrace.find("File: ");
  if (file == std::string::npos) return;
  const std::string_view rest = std::string_view(meta.stackTrace).substr(file + 6);
  const std::size_t in = rest.find(" in ");
  const std::size_t colon = rest.substr(0, in).rfind(':');
  if (in == std::string_view::npos || colon == std::string_view::npos) return;
  const std::string_view number = rest.substr(colon + 1, in - colon - 1);
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), meta.sourceLine);
  if (parsed.ptr == number.data() + number.size()) meta.sourceFile = rest.substr(0, colon);
}

void applyAnnotation(NodeMeta& meta, const PythonExpression& expression, std::string_view text) {
  if (expression.kind != PythonKind::String) {
    meta.typeText = text;
    return;
  }
  if (expression.text.starts_with(unreadTypeMark)) {
    meta.typeText = expression.text.substr(unreadTypeMark.size());
    return;
  }
  ParsedAnnotation parsed = parseAnnotation(expression.text);
  meta.value = std::move(parsed.value);
  if (!parsed.complete) meta.annotation = expression.text;
}

bool isFree(const PythonExpression& value, const std::vector<PythonExpression>& targets) {
  return value.isNone() && std::ranges::all_of(targets, [](const auto& t) { return t.kind == PythonKind::Name; });
}

bool callsName(const PythonExpression& e, std::string_view name) {
  return e.kind == PythonKind::Call && e.items.front().isName(name);
}

}  // namespace

ForwardReader::ForwardReader(std::string_view text, int line, GraphModule& module, PartialReading* partial)
    : m_text(text), m_lexer(text, line), m_module(module), m_lowering(module.graph), m_partial(partial) {
  if (partial != nullptr) m_lowering.inventInputs(partial);
}

std::string_view ForwardReader::textBetween(std::size_t begin, std::size_t end) const {
  return trim(m_text.substr(begin, end - begin));
}

Result<void> ForwardReader::read() {
  m_column = std::size_t(m_lexer.peek().column);
  m_line = m_lexer.peek().line;
  KERF_CHECK(signature());
  KERF_CHECK(body());
  if (!m_returned && m_partial != nullptr) KERF_CHECK(returnWhatIsUnused());
  if (!m_returned) return pythonError(m_endLine, "the forward method has no return statement");
  return {};
}

Result<void> ForwardReader::signature() {
  m_lexer.take();
  if (m_lexer.peek().kind != PythonTokenKind::Name) return fail(m_lexer.errorHere("a method name"));
  m_lexer.take();
  const int firstLine = m_lexer.peek().line;
  if (!m_lexer.accept("(")) return fail(m_lexer.errorHere("'('"));
  while (!m_lexer.peek().is(")")) {
    KERF_CHECK(parameter());
    if (!m_lexer.accept(",")) break;
  }
  m_module.codegen.expanded = m_lexer.peek().line > firstLine;
  if (!m_lexer.accept(")")) return fail(m_lexer.errorHere("')'"));
  for (const PythonToken& comment : m_lexer.takeComments()) describe(comment.line, trim(comment.text));
  if (m_lexer.accept("->")) KERF_CHECK(PythonParser(m_lexer).expression());
  if (!m_lexer.accept(":")) return fail(m_lexer.errorHere("':'"));
  return {};
}

Result<void> ForwardReader::parameter() {
  if (m_partial != nullptr && m_lexer.accept("...")) return {};
  std::string stars;
  if (m_lexer.peek().is("*") || m_lexer.peek().is("**")) stars = m_lexer.take().text;
  if (m_lexer.peek().kind != PythonTokenKind::Name || !isPythonIdentifier(m_lexer.peek().text))
    return fail(m_lexer.errorHere("a parameter"));
  const PythonToken name = m_lexer.take();
  Parameter parameter{stars + std::string(name.text), std::string(name.text), {}, {}};
  m_meta = {};
  if (m_lexer.accept(":")) KERF_CHECK(annotation());
  parameter.meta = std::exchange(m_meta, {});
  parameter.meta.sourceLine = name.line;  // until describe() has used it
  if (m_lexer.accept("=")) {
    KERF_TRY(auto expression, PythonParser(m_lexer).expression());
    KERF_TRY(auto value, pythonToArgument(expression));
    parameter.defaultValue.push_back(std::move(value));
  }
  if (name.text != "self") m_parameters.push_back(std::move(parameter));
  return {};
}

/// Attaches a descriptor comment to the parameter on its line.
void ForwardReader::describe(int line, std::string_view text) {
  for (Parameter& parameter : m_parameters)
    if (parameter.meta.sourceLine == line) parameter.meta.description = text;
}

/// After the ':'; fills m_meta.
Result<void> ForwardReader::annotation() {
  const std::size_t begin = m_lexer.offset();
  KERF_TRY(const auto expression, PythonParser(m_lexer).expression());
  applyAnnotation(m_meta, expression, textBetween(begin, m_lexer.lastEnd()));
  return {};
}

Result<void> ForwardReader::body() {
  for (Parameter& parameter : m_parameters) parameter.meta.sourceLine = 0;
  for (;;) {
    const PythonToken& next = m_lexer.peek();
    m_endOffset = m_lexer.offset();
    m_endLine = next.line;
    const bool isDone = m_returned && m_partial != nullptr;  // what follows is not looked at
    if (next.kind == PythonTokenKind::Error && m_partial == nullptr) return fail(m_lexer.errorHere(""));
    if (next.kind == PythonTokenKind::End || (next.kind == PythonTokenKind::Error && isDone)) return {};
    if (next.kind == PythonTokenKind::Newline || next.is(";")) {
      m_lexer.take();
      continue;
    }
    if (next.kind == PythonTokenKind::Comment) {
      comment(m_lexer.take().text);
      continue;
    }
    if (isDone && std::size_t(next.column) > m_column && next.kind == PythonTokenKind::Name)
      m_partial->behindReturn.push_back(next.line);
    if (std::size_t(next.column) <= m_column || isDone) return {};
    KERF_CHECK(m_partial == nullptr ? statement() : statementOrSkip());
  }
}

void ForwardReader::comment(std::string_view text) {
  text = trim(text);
  const bool isSummary = std::ranges::any_of(
      summaryMarks, [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; });
  if (!isSummary) return;
  m_meta = {};
  if (text != noStackTrace) m_meta.stackTrace = text;
  readSource(m_meta);
}

Result<void> ForwardReader::statement() {
  const PythonToken first = m_lexer.peek();
  // every statement starts from the metadata of the comment above, without the last one's annotation
  m_meta.value = {};
  m_meta.annotation.clear();
  m_meta.typeText.clear();
  if (m_returned) return pythonError(first.line, "there are statements after 'return'");
  if (first.isName("return")) return returnStatement();
  if (first.isName("pass")) {
    m_lexer.take();
    return {};
  }
  if (first.kind == PythonTokenKind::Name && std::ranges::find(compoundWords, first.text) != compoundWords.end())
    return pythonError(first.line, fmt::format("'{}' statements are not supported in a forward method", first.text));
  KERF_CHECK(simpleStatement());
  const PythonToken& next = m_lexer.peek();
  const bool ends = next.kind == PythonTokenKind::Newline || next.kind == PythonTokenKind::End ||
                    next.kind == PythonTokenKind::Comment || next.is(";");
  if (!ends) return fail(m_lexer.errorHere("the end of the statement"));
  if (next.kind == PythonTokenKind::Comment) m_lexer.take();
  return {};
}

Result<void> ForwardReader::simpleStatement() {
  PythonParser parser(m_lexer);
  KERF_TRY(auto target, parser.expressionList());
  if (m_lexer.accept(":")) {
    KERF_CHECK(annotation());
    if (m_lexer.peek().is(",")) KERF_CHECK(annotatedNames(target));
    if (!m_lexer.peek().is("=")) return annotationOnly(target);
  }
  const PythonToken op = m_lexer.peek();
  const bool isAugmented = op.kind == PythonTokenKind::Operator && op.text.size() > 1 && op.text.ends_with('=') &&
                           op.text != "==" && op.text != "<=" && op.text != ">=" && op.text != "!=" && op.text != ":=";
  if (isAugmented || (op.is("=") && target.kind == PythonKind::Index)) return inplaceStatement(target, op.text);
  if (!op.is("=")) {
    if (target.kind == PythonKind::String || callsName(target, "args_list.clear")) return {};
    KERF_CHECK(createPlaceholders());
    applyMeta();
    KERF_CHECK(m_lowering.lower(target));
    return {};
  }
  std::vector<PythonExpression> targets;
  targets.push_back(std::move(target));
  while (m_lexer.accept("=")) {
    m_valueBegin = m_lexer.offset();
    KERF_TRY(auto next, parser.expressionList());
    targets.push_back(std::move(next));
  }
  PythonExpression value = std::move(targets.back());
  targets.pop_back();
  return assignment(std::move(targets), std::move(value));
}

Result<void> ForwardReader::annotationOnly(const PythonExpression& target) {
  if (target.kind != PythonKind::Name) return pythonError(target.line, "only a name can be annotated");
  NodeMeta meta = m_meta;
  meta.stackTrace.clear();
  if (m_lexer.peek().kind == PythonTokenKind::Comment) meta.description = trim(m_lexer.peek().text);
  m_declared[target.text] = std::move(meta);
  return {};
}

Result<void> ForwardReader::assignment(std::vector<PythonExpression> targets, PythonExpression value) {
  if (isFree(value, targets)) {
    for (const PythonExpression& target : targets) m_freed.insert(target.text);
    return {};
  }
  KERF_TRY(const bool done, bindingPrologue(targets.front(), value));
  if (done) return {};
  if (targets.size() == 1 && isRename(targets.front(), value)) return {};
  KERF_CHECK(createPlaceholders());
  applyMeta();
  if (targets.front().kind == PythonKind::Tuple || targets.front().kind == PythonKind::List)
    return unpack(targets.front(), value);
  KERF_CHECK(assignName(targets.front(), value));
  for (std::size_t i = 1; i < targets.size(); ++i) KERF_CHECK(assignName(targets[i], targets.front()));
  return {};
}

Result<void> ForwardReader::assignName(const PythonExpression& target, const PythonExpression& value) {
  if (target.kind != PythonKind::Name || target.text.find('.') != std::string::npos)
    return pythonError(target.line, fmt::format("cannot assign to '{}' here", describePython(target)));
  KERF_TRY(auto result, m_lowering.lower(value, target.text));
  return m_lowering.bind(target.text, std::move(result), target.line);
}

/// `a, b = value`: one getitem each.
Result<void> ForwardReader::unpack(const PythonExpression& target, const PythonExpression& value) {
  KERF_TRY(auto source, m_lowering.lower(value));
  for (std::size_t i = 0; i < target.items.size(); ++i) {
    const PythonExpression& item = target.items[i];
    if (item.kind != PythonKind::Name || item.text.find('.') != std::string::npos)
      return pythonError(item.line, "only names can be assigned together");
    const NodeId node = m_lowering.addNode(Opcode::CallFunction, "operator.getitem",
                                           {source, Argument(std::int64_t(i))}, {}, item.text);
    KERF_CHECK(m_lowering.bind(item.text, node, item.line));
  }
  return {};
}

/// `a += b;  n = a` and `a[i] = b;  n = a` are one node each, called n.
Result<void> ForwardReader::inplaceStatement(const PythonExpression& target, std::string_view op) {
  m_lexer.take();
  PythonParser parser(m_lexer);
  KERF_TRY(const auto value, parser.expressionList());
  KERF_CHECK(createPlaceholders());
  const PythonExpression& changed = op == "=" ? target.items[0] : target;
  std::string name;
  if (m_lexer.accept(";") && m_lexer.peek().kind == PythonTokenKind::Name) {
    KERF_TRY(auto next, parser.expressionList());
    if (m_lexer.accept(":")) KERF_CHECK(annotation());
    if (next.kind != PythonKind::Name || !m_lexer.accept("=")) return fail(m_lexer.errorHere("'='"));
    KERF_TRY(auto source, parser.expressionList());
    if (!source.isName(changed.text) || changed.kind != PythonKind::Name) {
      applyMeta();
      KERF_CHECK(m_lowering.inplace(target, op, value, {}));
      std::vector<PythonExpression> targets;
      targets.push_back(std::move(next));
      return assignment(std::move(targets), std::move(source));
    }
    name = next.text;
  }
  applyMeta();
  KERF_TRY(const NodeId node, m_lowering.inplace(target, op, value, name));
  if (!name.empty()) return m_lowering.bind(name, node, target.line);
  if (op != "=" && target.kind == PythonKind::Name) return m_lowering.bind(target.text, node, target.line);
  return {};
}

Result<void> ForwardReader::returnStatement() {
  m_lexer.take();
  KERF_CHECK(createPlaceholders());
  PythonExpression value{PythonKind::Constant, m_lexer.peek().line, 0, "None", {}, {}};
  if (m_lexer.peek().kind != PythonTokenKind::Newline && m_lexer.peek().kind != PythonTokenKind::End) {
    KERF_TRY(value, PythonParser(m_lexer).expressionList());
  }
  for (const PythonToken& comment : m_lexer.takeComments())
    m_module.codegen.outputDescriptions.emplace_back(trim(comment.text));
  const bool unflattens = callsName(value, "pytree.tree_unflatten") && value.positionalCount() == 2;
  m_module.codegen.unflattensOutput = unflattens;
  if (unflattens) {
    PythonExpression inner = std::move(value.items[1]);
    value = std::move(inner);
  }
  const std::size_t leaves = m_module.codegen.leafNames.size();
  if (callsName(value, "self._out_shuffle_graph") && value.positionalCount() >= leaves) {
    value.kind = PythonKind::List;
    value.items.erase(value.items.begin(), value.items.begin() + 1 + std::ptrdiff_t(leaves));
  }
  m_meta = {};
  applyMeta();
  KERF_TRY(auto result, m_lowering.lower(value));
  m_module.graph.output(std::move(result));
  m_returned = true;
  return {};
}

}  // namespace kerf::inline ir
