// Builders of pattern expressions, and their text.
#include "engine/patterns/pattern_expr.h"

#include <unordered_map>

#include "engine/ir/graph.h"
#include "engine/ir/printer.h"

namespace kerf::inline patterns {

namespace {

Pattern made(PatternExpr expression) { return std::make_shared<const PatternExpr>(std::move(expression)); }

/// Writes each call once, operands first.
class PatternWriter {
 public:
  std::string text(const PatternExpr& pattern) {
    const std::string result = written(pattern);
    return m_lines + "return " + result;
  }
  std::size_t calls() const { return m_numbers.size(); }

 private:
  std::string list(const std::vector<Pattern>& items) {
    std::vector<std::string> texts;
    for (const Pattern& item : items) texts.push_back(item ? written(*item) : "None");
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::string call(const PatternExpr& pattern) {
    if (const auto known = m_numbers.find(&pattern); known != m_numbers.end()) return fmt::format("%{}", known->second);
    std::string operands = list(pattern.operands);
    for (const auto& [name, value] : pattern.kwargs) operands += fmt::format(", {}={}", name, written(*value));
    std::vector<std::string_view> names;
    for (const OpId op : pattern.ops) names.push_back(opName(op));
    const std::size_t number = m_numbers.size();
    m_numbers.emplace(&pattern, number);
    m_lines += fmt::format("%{} = {}({}) users={}\n", number, fmt::join(names, "|"), operands,
                           pattern.users ? std::to_string(*pattern.users) : "any");
    return fmt::format("%{}", number);
  }

  std::string written(const PatternExpr& pattern) {
    switch (pattern.kind) {
      case PatternKind::Call:
        return call(pattern);
      case PatternKind::Keyword:
        return pattern.exclusive ? pattern.name + "!" : pattern.name;
      case PatternKind::Positional:
        return "Arg()";
      case PatternKind::Ignored:
        return "_";
      case PatternKind::Literal:
        return printArgument(Graph(), pattern.literal, ArgumentStyle::GraphText);
      case PatternKind::List:
        return "[" + list(pattern.operands) + "]";
      case PatternKind::ListOf:
        return fmt::format("ListOf({}{})", list(pattern.operands), pattern.partial ? ", …" : "");
      case PatternKind::MultiOutput:
        return "(" + list(pattern.operands) + ")";
      case PatternKind::Repeated:
        return "RepeatedExpr(" + list(pattern.operands) + ")";
    }
    return {};
  }

  std::unordered_map<const PatternExpr*, std::size_t> m_numbers;
  std::string m_lines;
};

}  // namespace

Pattern callFunction(OpId op, std::vector<Pattern> operands, NamedPatterns kwargs, UserCount users) {
  return callFunction(std::vector<OpId>{op}, std::move(operands), std::move(kwargs), users);
}

Pattern callFunction(std::vector<OpId> ops, std::vector<Pattern> operands, NamedPatterns kwargs, UserCount users) {
  return made({.kind = PatternKind::Call,
               .ops = std::move(ops),
               .operands = std::move(operands),
               .kwargs = std::move(kwargs),
               .users = users});
}

Pattern keywordArg(std::string name, bool exclusive) {
  return made({.kind = PatternKind::Keyword, .name = std::move(name), .exclusive = exclusive});
}

Pattern arg() { return made({.kind = PatternKind::Positional}); }

Pattern ignored() { return made({.kind = PatternKind::Ignored}); }

Pattern literal(Argument value) { return made({.kind = PatternKind::Literal, .literal = std::move(value)}); }

Pattern listPattern(std::vector<Pattern> items) {
  return made({.kind = PatternKind::List, .operands = std::move(items)});
}

Pattern listOf(Pattern item, bool partial) {
  return made({.kind = PatternKind::ListOf, .operands = {std::move(item)}, .partial = partial});
}

Pattern multiOutput(std::vector<Pattern> results) {
  return made({.kind = PatternKind::MultiOutput, .operands = std::move(results)});
}

Pattern repeatedExpr(Pattern inner) { return made({.kind = PatternKind::Repeated, .operands = {std::move(inner)}}); }

const PatternExpr& anchorOf(const PatternExpr& pattern) {
  const bool wraps = pattern.kind == PatternKind::MultiOutput || pattern.kind == PatternKind::Repeated;
  return wraps && !pattern.operands.empty() && pattern.operands[0] ? anchorOf(*pattern.operands[0]) : pattern;
}

std::string patternText(const PatternExpr& pattern) { return PatternWriter().text(pattern); }

std::size_t callCount(const PatternExpr& pattern) {
  PatternWriter writer;
  writer.text(pattern);
  return writer.calls();
}

}  // namespace kerf::inline patterns
