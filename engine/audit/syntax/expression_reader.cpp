#include "engine/audit/syntax/expression_reader.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kerf::inline audit {
namespace {

struct Precedence {
  std::string_view sign;
  int level;
};

constexpr std::array<Precedence, 22> pythonSigns = {{{"or", 1}, {"and", 2}, {"in", 4}, {"is", 4}, {"<", 4}, {"<=", 4},
                                                     {">", 4},  {">=", 4},  {"==", 4}, {"!=", 4}, {"|", 5}, {"^", 6},
                                                     {"&", 7},  {"<<", 8},  {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10},
                                                     {"/", 10}, {"//", 10}, {"%", 10}, {"@", 10}}};
constexpr std::array<Precedence, 18> cppSigns = {{{"||", 1},
                                                  {"&&", 2},
                                                  {"|", 3},
                                                  {"^", 4},
                                                  {"&", 5},
                                                  {"==", 6},
                                                  {"!=", 6},
                                                  {"<", 7},
                                                  {"<=", 7},
                                                  {">", 7},
                                                  {">=", 7},
                                                  {"<<", 8},
                                                  {">>", 8},
                                                  {"+", 9},
                                                  {"-", 9},
                                                  {"*", 10},
                                                  {"/", 10},
                                                  {"%", 10}}};

template <std::size_t Count>
int levelOf(const std::array<Precedence, Count>& table, std::string_view sign) {
  const auto found = std::ranges::find(table, sign, &Precedence::sign);
  return found == table.end() ? 0 : found->level;
}

/// Words after which a `<` in C++ compares: variables of kernels have short names with digits.
bool isVariable(std::string_view word) {
  return word.starts_with("tmp") || word.starts_with("ks") || word.starts_with("in_") || word.starts_with("out_") ||
         (word.size() >= 2 && (word[0] == 'x' || word[0] == 'r') && word[1] >= '0' && word[1] <= '9');
}

}  // namespace

SyntaxNode ExpressionReader::expression() {
  if (++m_depth > m_limits.nesting) failed("it is nested too deeply");
  SyntaxNode value = m_problem.empty() ? binary(1) : make(SyntaxKind::Unknown);
  if (m_problem.empty() && m_isPython && isWord("if")) {
    SyntaxNode choice = make(SyntaxKind::Choice);
    advance();
    SyntaxNode condition = binary(1);
    if (isWord("else")) {
      advance();
      choice.items = {std::move(condition), std::move(value), expression()};
      value = std::move(choice);
    }
  } else if (!m_isPython && take("?")) {
    SyntaxNode choice = make(SyntaxKind::Choice);
    choice.items.push_back(std::move(value));
    choice.items.push_back(expression());
    expect(":");
    choice.items.push_back(expression());
    value = std::move(choice);
  }
  --m_depth;
  return value;
}

SyntaxNode ExpressionReader::expressionList() {
  SyntaxNode first = expression();
  if (!isSign(",")) return first;
  SyntaxNode tuple = make(SyntaxKind::Tuple);
  tuple.items.push_back(std::move(first));
  while (take(",") && m_problem.empty()) {
    if (isSign("=") || isSign(")") || isSign("]") || isSign(":") || isAt(SyntaxWord::Line) || isAt(SyntaxWord::End))
      break;
    tuple.items.push_back(expression());
  }
  return tuple;
}

void ExpressionReader::deepen(SyntaxNode& node) {
  for (const SyntaxNode& each : node.items) node.depth = std::max(node.depth, each.depth + 1);
  if (node.depth > m_limits.depth) failed("it is too long an expression");
}

SyntaxNode ExpressionReader::binary(int least) {
  SyntaxNode left = unary();
  while (m_problem.empty()) {
    const bool couldBe = isAt(SyntaxWord::Sign) || (m_isPython && isAt(SyntaxWord::Name));
    std::string sign(couldBe ? token().text : std::string_view());
    if (!m_isPython && sign == ">" && isSign(">", 1)) sign = ">>";
    const int level = m_isPython ? levelOf(pythonSigns, sign) : levelOf(cppSigns, sign);
    if (level < least || level == 0) break;
    SyntaxNode node = make(SyntaxKind::Binary, sign);
    advance();
    if (sign == "is" && isWord("not")) advance();
    node.items.push_back(std::move(left));
    node.items.push_back(binary(level + 1));
    deepen(node);
    left = std::move(node);
  }
  return left;
}

SyntaxNode ExpressionReader::unary() {
  constexpr std::array<std::string_view, 5> signs = {"-", "+", "~", "!", "&"};
  const bool isSigned = isAt(SyntaxWord::Sign) && std::ranges::find(signs, token().text) != signs.end();
  const bool isDereference = !m_isPython && (isSign("*") || isSign("++") || isSign("--"));
  if (isSigned || isDereference || (m_isPython && (isWord("not") || isSign("*") || isSign("**")))) {
    SyntaxNode node = make(SyntaxKind::Unary, std::string(token().text));
    advance();
    if (++m_depth > m_limits.nesting) failed("it is nested too deeply");
    if (m_problem.empty()) node.items.push_back(unary());
    --m_depth;
    if (node.items.empty()) node.kind = SyntaxKind::Unknown;
    deepen(node);
    return node;
  }
  return postfix();
}

SyntaxNode ExpressionReader::postfix() {
  SyntaxNode value = primary();
  while (m_problem.empty()) {
    deepen(value);
    if (isSign("(")) {
      SyntaxNode call = make(SyntaxKind::Call);
      call.items.push_back(std::move(value));
      arguments(call);
      value = std::move(call);
    } else if (!m_isPython && isSign("{") && value.is(SyntaxKind::Name) && value.text.ends_with('>')) {
      SyntaxNode call = make(SyntaxKind::Call);  // IndexValue<float>{0, x}
      SyntaxNode values = bracketed("}");
      call.items.push_back(std::move(value));
      for (SyntaxNode& each : values.items) call.items.push_back(std::move(each));
      call.keywords.resize(call.items.size() - 1);
      value = std::move(call);
    } else if (isSign("[")) {
      SyntaxNode item = make(SyntaxKind::Item);
      advance();
      item.items.push_back(std::move(value));
      while (!isSign("]") && m_problem.empty() && !isAt(SyntaxWord::End)) {
        item.items.push_back(sliced());
        if (!take(",")) break;
      }
      expect("]");
      value = std::move(item);
    } else if (isSign(".") || (!m_isPython && isSign("->"))) {
      advance();
      if (!m_isPython && isWord("template")) advance();
      SyntaxNode member = make(SyntaxKind::Member, std::string(token().text));
      if (!isAt(SyntaxWord::Name)) failed("expected a name after '.'");
      advance();
      if (const std::size_t end = m_isPython ? 0 : templateEnd()) member.text += templateText(end);
      member.items.push_back(std::move(value));
      value = std::move(member);
    } else if (!m_isPython && (isSign("++") || isSign("--"))) {
      SyntaxNode step = make(SyntaxKind::Unary, std::string(token().text));
      advance();
      step.items.push_back(std::move(value));
      value = std::move(step);
    } else {
      break;
    }
  }
  return value;
}

SyntaxNode ExpressionReader::primary() {
  if (isAt(SyntaxWord::Name)) return name();
  if (isAt(SyntaxWord::Number)) {
    SyntaxNode number = make(SyntaxKind::Number, std::string(token().text));
    advance();
    return number;
  }
  if (isAt(SyntaxWord::Text)) {
    SyntaxNode text = make(SyntaxKind::Text);
    for (; isAt(SyntaxWord::Text); advance()) text.text += token().text;
    return text;
  }
  if (isSign("(")) return bracketed(")");
  if (isSign("[")) return m_isPython ? bracketed("]") : lambda();
  if (isSign("{")) return m_isPython ? dictionary() : bracketed("}");
  failed("a value was expected");
  return make(SyntaxKind::Unknown);
}

SyntaxNode ExpressionReader::name() {
  SyntaxNode node = make(SyntaxKind::Name, std::string(token().text));
  advance();
  if (m_isPython) {
    if (node.text == "lambda") {
      node.kind = SyntaxKind::Lambda;
      while (!isSign(":") && !isAt(SyntaxWord::End) && !isAt(SyntaxWord::Line)) advance();
      expect(":");
      node.items.push_back(expression());
    }
    return node;
  }
  while (true) {
    if (const std::size_t end = templateEnd()) node.text += templateText(end);
    if (!isSign("::")) break;
    node.text += "::";
    advance();
    if (isWord("template")) advance();
    node.text += token().text;
    advance();
  }
  if (node.text == "decltype" && isSign("(")) {
    (void)bracketed(")");
    node.text = "decltype()";
    while (take("::")) {
      node.text += "::" + std::string(token().text);
      advance();
      if (const std::size_t end = templateEnd()) node.text += templateText(end);
    }
  }
  return node;
}

/// The token after the `>` that closes the `<` here, or 0 if that `<` compares.
std::size_t ExpressionReader::templateEnd() const {
  if (!isSign("<") || (m_at > 0 && isVariable(m_tokens[m_at - 1].text))) return 0;
  int depth = 0;
  const std::size_t most = std::min(m_at + 400, m_tokens.size());
  for (std::size_t at = m_at; at < most; ++at) {
    const std::string_view text = m_tokens[at].text;
    if (m_tokens[at].word != SyntaxWord::Sign) continue;
    if (text == "<") ++depth;
    if (text == ">" && --depth == 0) return at + 1;
    if (text == "&&" || text == "||" || text == ";" || text == "{" || text == "=") return 0;
  }
  return 0;
}

std::string ExpressionReader::templateText(std::size_t end) {
  std::string text;
  for (; m_at < end; ++m_at) text += m_tokens[m_at].text;
  return text;
}

SyntaxNode ExpressionReader::bracketed(std::string_view close) {
  SyntaxNode tuple = make(SyntaxKind::Tuple);
  if (++m_depth > m_limits.nesting) failed("it is nested too deeply");
  advance();
  bool hasComma = false;
  while (!isSign(close) && m_problem.empty() && !isAt(SyntaxWord::End)) {
    tuple.items.push_back(expression());
    if (m_isPython && isWord("for")) {  // a comprehension
      for (int depth = 0; !isAt(SyntaxWord::End) && (depth > 0 || !isSign(close)); advance())
        depth += (isSign("(") || isSign("[")) ? 1 : (isSign(")") || isSign("]")) ? -1 : 0;
      tuple.kind = SyntaxKind::Slice;
    }
    if (!take(",")) break;
    hasComma = true;
  }
  expect(close);
  --m_depth;
  if (close == ")" && !hasComma && tuple.items.size() == 1 && tuple.kind == SyntaxKind::Tuple) {
    SyntaxNode inner = std::move(tuple.items[0]);
    return inner;
  }
  return tuple;
}

/// Keys become texts of `keywords`, as those of a call.
SyntaxNode ExpressionReader::dictionary() {
  SyntaxNode call = make(SyntaxKind::Call);
  call.items.push_back(make(SyntaxKind::Name, "dict"));
  if (++m_depth > m_limits.nesting) failed("it is nested too deeply");
  advance();
  while (!isSign("}") && m_problem.empty() && !isAt(SyntaxWord::End)) {
    SyntaxNode key = expression();
    if (take(":")) {
      call.keywords.push_back(key.text);
      call.items.push_back(expression());
    } else {
      call.keywords.emplace_back();
      call.items.push_back(std::move(key));
    }
    if (!take(",")) break;
  }
  expect("}");
  --m_depth;
  return call;
}

SyntaxNode ExpressionReader::sliced() {
  SyntaxNode slice = make(SyntaxKind::Slice);
  bool isSlice = false;
  while (m_problem.empty() && !isSign("]") && !isSign(",")) {
    if (take(":"))
      isSlice = true;
    else
      slice.items.push_back(expression());
  }
  if (isSlice || slice.items.size() != 1) return slice;
  SyntaxNode inner = std::move(slice.items[0]);
  return inner;
}

void ExpressionReader::arguments(SyntaxNode& call) {
  if (++m_depth > m_limits.nesting) failed("it is nested too deeply");
  advance();
  while (!isSign(")") && m_problem.empty() && !isAt(SyntaxWord::End)) {
    std::string keyword;
    if (m_isPython && isAt(SyntaxWord::Name) && isSign("=", 1)) {
      keyword = token().text;
      advance();
      advance();
    }
    call.keywords.push_back(std::move(keyword));
    call.items.push_back(expression());
    if (m_isPython && isWord("for")) failed("a comprehension");
    if (!take(",")) break;
  }
  expect(")");
  --m_depth;
}

SyntaxNode ExpressionReader::lambda() {
  failed("a value was expected");
  return make(SyntaxKind::Unknown);
}

}  // namespace kerf::inline audit
