#include "app/workbench/protocol/node_query.h"

#include <algorithm>
#include <array>

#include "app/workbench/protocol/query_text.h"
#include "engine/support/near_names.h"

namespace kerf::workbench {

namespace {

using Texts = std::vector<std::string>;

Texts oneText(const std::string& text) { return {text}; }

/// "var_mean.correction" and, before its point, "var_mean".
Texts opNames(const NodeDoc& node) { return {node.op, node.op.substr(0, node.op.find('.'))}; }

Texts dtypeNames(const NodeDoc& node) {
  Texts names;
  for (const auto& type : splitAt(node.dtype, "; ")) {
    names.push_back(type);
    names.emplace_back(longDtype(type));
  }
  return names;
}

/// "[16, 32]" → "16x32"; of no dimensions: "scalar".
Texts shapeTexts(const NodeDoc& node) {
  Texts shapes;
  for (const auto& shape : splitAt(node.shape, "; ")) shapes.push_back(crossed(shape));
  return shapes;
}

/// How a text of a query fits one of a node where it has no wildcards.
enum class Fit { Part, Whole };

struct TextField {
  std::string_view name, what;
  Texts (*read)(const NodeDoc&);
  Fit fit;
};
constexpr TextField textFields[] = {
    {"op", "op:relu, op:*norm*", opNames, Fit::Whole},
    {"name", "the node's own name", [](const NodeDoc& node) { return oneText(node.name); }, Fit::Part},
    {"target", "what is called, in full", [](const NodeDoc& node) { return oneText(node.target); }, Fit::Part},
    {"module", "module:layers.3, as its model has it", [](const NodeDoc& node) { return oneText(node.modulePath); },
     Fit::Part},
    {"stack", "stack:model.py, its stack trace or file",
     [](const NodeDoc& node) { return Texts{node.stackTrace, node.file}; }, Fit::Part},
    {"from", "the nodes that it was made from", [](const NodeDoc& node) { return node.fromNodes; }, Fit::Part},
    {"shape", "shape:16x32, shape:*x512, shape:scalar", shapeTexts, Fit::Whole},
    {"dtype", "dtype:bf16, dtype:bfloat16", dtypeNames, Fit::Whole},
    {"device", "device:cuda", [](const NodeDoc& node) { return oneText(node.device); }, Fit::Part},
    {"kind", "kind:matmul, kind:view", [](const NodeDoc& node) { return oneText(nodeKindName(node.kind)); },
     Fit::Whole},
    {"opcode", "opcode:placeholder", [](const NodeDoc& node) { return oneText(node.opcode); }, Fit::Whole},
    {"value", "its type as it is written", [](const NodeDoc& node) { return oneText(node.value); }, Fit::Part},
};

constexpr double unknown = -1;

double rankOf(const NodeDoc& node) {
  const auto shapes = shapeTexts(node);
  if (shapes.empty()) return unknown;
  return shapes.front() == "scalar" ? 0 : double(std::ranges::count(shapes.front(), 'x') + 1);
}

struct Figure {
  std::string_view name, what;
  double (*read)(const NodeDoc&);  ///< below 0: not known
  double thousand;                 ///< "k" behind a number
};
constexpr Figure figures[] = {
    {"users", "nodes that use it", [](const NodeDoc& node) { return double(node.users.size()); }, 1000},
    {"inputs", "nodes that it uses", [](const NodeDoc& node) { return double(node.inputs.size()); }, 1000},
    {"bytes", "size of its value; bytes>1M", [](const NodeDoc& node) { return double(bytesOf(node)); }, 1024},
    {"elements", "elements of its value", [](const NodeDoc& node) { return double(elementsOf(node)); }, 1000},
    {"rank", "dimensions of its value", rankOf, 1},
    {"line", "line of its source", [](const NodeDoc& node) { return double(node.line); }, 1000},
};

struct State {
  std::string_view name, what;
  bool (*holds)(const NodeDoc&, const NodeFacts&);
  bool fact;  ///< more than the graph must be known
};
constexpr State states[] = {
    {"diverged", "its value left the reference", [](const NodeDoc&, const NodeFacts& facts) { return facts.diverged; },
     true},
    {"firstbad", "the first that did", [](const NodeDoc&, const NodeFacts& facts) { return facts.firstBad; }, true},
    {"added", "new in this graph", [](const NodeDoc&, const NodeFacts& facts) { return facts.added; }, true},
    {"rewritten", "stands for others", [](const NodeDoc&, const NodeFacts& facts) { return facts.rewritten; }, true},
    {"pinned", "kept when minifying", [](const NodeDoc&, const NodeFacts& facts) { return facts.pinned; }, true},
    {"noted", "has a bookmark or note", [](const NodeDoc&, const NodeFacts& facts) { return facts.noted; }, true},
    {"backward", "computes gradients", [](const NodeDoc& node, const NodeFacts&) { return node.backward; }, false},
    {"unused", "nothing uses it",
     [](const NodeDoc& node, const NodeFacts&) { return node.users.empty() && node.kind != NodeKind::Output; }, false},
    {"unknown", "an op that Kerf does not know",
     [](const NodeDoc& node, const NodeFacts&) {
       return node.opcode == "call_function" && node.schema.empty() && node.target.starts_with("torch.ops.");
     },
     false},
    {"symbolic", "a size of its value is a symbol",
     [](const NodeDoc& node, const NodeFacts&) { return !node.shape.empty() && elementsOf(node) < 0; }, false},
};

template <class Table>
std::string namesOf(const Table& table) {
  std::string list;
  for (const auto& row : table) list += (list.empty() ? "" : ", ") + std::string(row.name);
  return list;
}

template <class Table>
std::optional<std::size_t> rowOf(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, [](const auto& row) { return row.name; });
  if (found == std::end(table)) return std::nullopt;
  return std::size_t(found - std::begin(table));
}

/// "; did you mean users?" where a known word is near.
std::string nearest(std::string_view word) {
  std::string_view best;
  std::size_t distance = 3;
  const auto look = [&](const auto& table) {
    for (const auto& row : table)
      if (const auto away = editDistance(word, row.name); away < distance) {
        distance = away;
        best = row.name;
      }
  };
  look(textFields);
  look(figures);
  look(states);
  return best.empty() ? std::string() : fmt::format("; did you mean {}?", best);
}

Result<QueryTerm> stateTerm(std::string_view name) {
  const auto row = rowOf(states, name);
  if (!row) return fail(ErrorCode::BadUsage, "no node is:{}{} (is: {})", name, nearest(name), namesOf(states));
  return QueryTerm{.kind = QueryTerm::Kind::State, .row = *row, .texts = {}};
}

Result<QueryTerm> textTerm(const std::string& field, const QueryToken& token) {
  if (field == "is") return stateTerm(lowered(token.value));
  if (const auto figure = rowOf(figures, field))
    return fail(ErrorCode::BadUsage, "{} is a number: write {}>1 or {}=1", field, field, field);
  const auto row = rowOf(textFields, field);
  if (!row)
    return fail(ErrorCode::BadUsage, "there is no field {}{} (fields: {}; write \"{}:{}\" for the words themselves)",
                field, nearest(field), namesOf(textFields), field, token.value);
  QueryTerm term{.kind = QueryTerm::Kind::Text, .row = *row, .texts = {}};
  for (const auto& text : token.quoted ? Texts{token.value} : splitAt(token.value, ","))
    if (!text.empty()) term.texts.push_back(lowered(text));
  if (term.texts.empty()) return fail(ErrorCode::BadUsage, "nothing stands behind {}:", field);
  return term;
}

Result<QueryTerm> figureTerm(const std::string& field, const QueryToken& token) {
  const auto row = rowOf(figures, field);
  if (!row && rowOf(textFields, field))
    return fail(ErrorCode::BadUsage, "{} is a text: write {}:{}", field, field, token.value);
  if (!row)
    return fail(ErrorCode::BadUsage, "there is no number {}{} (numbers: {})", field, nearest(field), namesOf(figures));
  const auto number = parseFigure(token.value, figures[*row].thousand);
  if (!number)
    return fail(ErrorCode::BadUsage, "{}{} needs a number behind it, such as {}{}1", field, token.relation, field,
                token.relation);
  QueryTerm term{.kind = QueryTerm::Kind::Figure, .row = *row, .texts = {}, .number = *number};
  using enum QueryTerm::Compare;
  static constexpr std::pair<std::string_view, QueryTerm::Compare> relations[] = {
      {"<", Less},      {"<=", LessEqual},    {"=", Equal},  {"==", Equal},
      {"!=", NotEqual}, {">=", GreaterEqual}, {">", Greater}};
  for (const auto& [text, compare] : relations)
    if (text == token.relation) term.compare = compare;
  return term;
}

Result<QueryTerm> termOf(const QueryToken& token) {
  if (token.relation == ":") return textTerm(lowered(token.field), token);
  if (!token.relation.empty()) return figureTerm(lowered(token.field), token);
  const auto word = lowered(token.value);
  if (!token.quoted && word == "diverged") return stateTerm(word);
  return QueryTerm{.kind = QueryTerm::Kind::Word, .texts = {word}};
}

bool fits(const std::string& wanted, const std::string& text, Fit fit) {
  const auto given = lowered(text);
  if (wanted.find_first_of("*?") != std::string::npos) return globMatches(wanted, given);
  return fit == Fit::Whole ? given == wanted : given.find(wanted) != std::string::npos;
}

bool fitsOne(const QueryTerm& term, const Texts& texts, Fit fit) {
  return std::ranges::any_of(texts, [&](const std::string& text) {
    return std::ranges::any_of(term.texts, [&](const std::string& wanted) { return fits(wanted, text, fit); });
  });
}

bool compares(const QueryTerm& term, double value) {
  if (value < 0) return false;
  switch (term.compare) {
    case QueryTerm::Compare::Less:
      return value < term.number;
    case QueryTerm::Compare::LessEqual:
      return value <= term.number;
    case QueryTerm::Compare::Equal:
      return value == term.number;
    case QueryTerm::Compare::NotEqual:
      return value != term.number;
    case QueryTerm::Compare::GreaterEqual:
      return value >= term.number;
    case QueryTerm::Compare::Greater:
      return value > term.number;
  }
  return false;
}

bool holds(const QueryTerm& term, const NodeDoc& node, const NodeFacts& facts) {
  switch (term.kind) {
    case QueryTerm::Kind::Word:
      return fitsOne(term, {node.name, node.target, node.value}, Fit::Part);
    case QueryTerm::Kind::Text:
      return fitsOne(term, textFields[term.row].read(node), textFields[term.row].fit);
    case QueryTerm::Kind::Figure:
      return compares(term, figures[term.row].read(node));
    case QueryTerm::Kind::State:
      return states[term.row].holds(node, facts);
  }
  return false;
}

}  // namespace

Result<NodeQuery> NodeQuery::parse(std::string_view text) {
  KERF_TRY(const auto tokens, queryTokens(text));
  NodeQuery query;
  for (const auto& token : tokens) {
    KERF_TRY(auto term, termOf(token));
    term.negated = token.negated;
    query.m_terms.push_back(std::move(term));
  }
  return query;
}

bool NodeQuery::matches(const NodeDoc& node, const NodeFacts& facts) const {
  return std::ranges::all_of(m_terms, [&](const QueryTerm& term) { return holds(term, node, facts) != term.negated; });
}

std::set<std::string> NodeQuery::factsAskedFor() const {
  std::set<std::string> names;
  for (const auto& term : m_terms)
    if (term.kind == QueryTerm::Kind::State && states[term.row].fact) names.emplace(states[term.row].name);
  return names;
}

std::vector<QueryWord> queryWords() {
  static const auto spelled = [] {
    std::vector<std::pair<std::string, std::string_view>> words;
    for (const auto& field : textFields) words.emplace_back(std::string(field.name) + ":", field.what);
    for (const auto& figure : figures) words.emplace_back(std::string(figure.name) + ">", figure.what);
    for (const auto& state : states) words.emplace_back("is:" + std::string(state.name), state.what);
    words.emplace_back("not:", "turns what follows round");
    return words;
  }();
  std::vector<QueryWord> words;
  for (const auto& [word, what] : spelled) words.push_back({word, what});
  return words;
}

std::int64_t elementsOf(const NodeDoc& node) {
  const auto shapes = splitAt(node.shape, "; ");
  if (shapes.empty()) return -1;
  std::int64_t sum = 0;
  for (const auto& shape : shapes) {
    const auto elements = product(shape);
    if (!elements) return -1;
    sum += *elements;
  }
  return sum;
}

std::int64_t bytesOf(const NodeDoc& node) {
  const auto shapes = splitAt(node.shape, "; "), types = splitAt(node.dtype, "; ");
  if (shapes.empty() || shapes.size() != types.size()) return -1;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto elements = product(shapes[i]);
    const int size = dtypeBytes(types[i]);
    if (!elements || size == 0) return -1;
    sum += *elements * size;
  }
  return sum;
}

}  // namespace kerf::workbench
