// readCpp(): the statements of a generated C++ kernel.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/audit/syntax/expression_reader.h"

namespace kerf::inline audit {
namespace {

class CppStatements : public ExpressionReader {
 public:
  CppStatements(std::string_view text, const SyntaxLimits& limits)
      : ExpressionReader(text, SyntaxLanguage::Cpp, limits) {}

  SyntaxNode read() {
    SyntaxNode block = make(SyntaxKind::Block);
    while (!isAt(SyntaxWord::End)) {
      if (function(block)) continue;
      add(block);
    }
    return block;
  }

 protected:
  SyntaxNode lambda() override {
    SyntaxNode node = make(SyntaxKind::Lambda);
    skipTo("]");
    if (isSign("(")) skipTo(")");
    while (isAt(SyntaxWord::Name) || isSign("->") || isSign("::")) advance();
    if (isSign("{"))
      node.items.push_back(block());
    else
      failed("a lambda without a body");
    return node;
  }

 private:
  /// Past the bracket that closes the one here.
  void skipTo(std::string_view close) {
    const std::string open(token().text);
    int depth = 0;
    for (; !isAt(SyntaxWord::End); advance()) {
      if (isSign(open)) ++depth;
      if (isSign(close) && --depth == 0) return advance();
    }
  }

  /// `extern "C" void kernel(float* in_ptr0, …) { … }`: parameters are names with their type as keyword.
  bool function(SyntaxNode& into) {
    std::size_t at = m_at;
    while (at < m_tokens.size() && m_tokens[at].word != SyntaxWord::End && m_tokens[at].text != "(" &&
           m_tokens[at].text != ";" && m_tokens[at].text != "{" && m_tokens[at].text != "=")
      ++at;
    if (m_tokens[at].text != "(" || at == m_at || m_tokens[at - 1].word != SyntaxWord::Name || at < m_at + 2)
      return false;
    SyntaxNode node = make(SyntaxKind::Define, std::string(m_tokens[at - 1].text));
    m_at = at + 1;
    SyntaxNode parameters = make(SyntaxKind::Tuple);
    std::string type;
    SyntaxNode last = make(SyntaxKind::Name);
    for (int depth = 0; !isAt(SyntaxWord::End); advance()) {
      if (depth == 0 && (isSign(",") || isSign(")"))) {
        last.keywords = {type};
        if (!last.text.empty()) parameters.items.push_back(last);
        type.clear();
        last.text.clear();
        if (isSign(")")) break;
        continue;
      }
      depth += isSign("(") || isSign("<") ? 1 : isSign(")") || isSign(">") ? -1 : 0;
      if (!last.text.empty()) type += (type.empty() ? "" : " ") + last.text;
      last.text = isAt(SyntaxWord::Name) ? std::string(token().text) : std::string();
      if (!isAt(SyntaxWord::Name)) type += token().text;
    }
    advance();
    node.items.push_back(std::move(parameters));
    if (!isSign("{")) return true;
    node.items.push_back(block());
    into.items.push_back(std::move(node));
    return true;
  }

  void add(SyntaxNode& into) {
    const std::size_t before = m_at;
    const int line = token().line;
    SyntaxNode node = statement();
    node.line = line;
    if (!m_problem.empty()) {
      node = {SyntaxKind::Unknown, m_problem, {}, {}, line};
      m_problem.clear();
      m_at = std::max(m_at, before);
      while (!isSign(";") && !isSign("}") && !isAt(SyntaxWord::End)) advance();
      take(";");
    }
    if (m_at == before) advance();
    if (!node.is(SyntaxKind::Block) || !node.items.empty()) into.items.push_back(std::move(node));
  }

  SyntaxNode block() {
    SyntaxNode node = make(SyntaxKind::Block);
    if (++m_depth > m_limits.nesting) {
      failed("it is nested too deeply");
      skipTo("}");
    } else {
      advance();
      while (!isSign("}") && !isAt(SyntaxWord::End)) add(node);
      advance();
    }
    --m_depth;
    return node;
  }

  SyntaxNode statement() {
    if (isSign("{")) return block();
    if (isAt(SyntaxWord::Directive)) {
      SyntaxNode pragma = make(SyntaxKind::Pragma, std::string(token().text));
      advance();
      return pragma;
    }
    if (take(";")) return make(SyntaxKind::Block);
    if (isWord("for")) return loop();
    if (isWord("if")) return condition();
    if (isWord("return")) {
      SyntaxNode node = make(SyntaxKind::Return);
      advance();
      if (!isSign(";")) node.items.push_back(expression());
      expect(";");
      return node;
    }
    SyntaxNode node = isDeclaration() ? declaration() : assignment();
    expect(";");
    return node;
  }

  /// A type and a name: two words with nothing but `::`, `<…>`, `*` and `&` between them.
  bool isDeclaration() {
    if (!isAt(SyntaxWord::Name)) return false;
    if (isWord("auto") || isWord("const") || isWord("alignas") || isWord("static") || isWord("constexpr") ||
        isWord("__at_align__"))
      return true;
    const std::size_t before = m_at;
    skipType();
    const bool isOne = m_at > before && isAt(SyntaxWord::Name) &&
                       (isSign("=", 1) || isSign("[", 1) || isSign(";", 1) || isSign("(", 1));
    m_at = before;
    return isOne;
  }

  std::string skipType() {
    const std::size_t before = m_at;
    while (isWord("const") || isWord("static") || isWord("constexpr") || isWord("__at_align__")) advance();
    if (isWord("alignas")) {
      advance();
      skipTo(")");
    }
    while (isWord("unsigned") || isWord("long")) advance();
    const bool isPlain = m_at > before && m_tokens[m_at - 1].text == "long";
    if (!isPlain && isAt(SyntaxWord::Name)) {
      advance();
      while (true) {
        if (isSign("<")) {
          int depth = 0;
          for (; !isAt(SyntaxWord::End) && !isSign(";"); advance()) {
            if (isSign("<")) ++depth;
            if (isSign(">") && --depth == 0) {
              advance();
              break;
            }
          }
        }
        if (!isSign("::")) break;
        advance();
        if (isAt(SyntaxWord::Name)) advance();
      }
    }
    while (isSign("*") || isSign("&") || isSign("&&") || isWord("const") || isWord("__restrict__")) advance();
    std::string text;
    for (std::size_t i = before; i < m_at; ++i) text += m_tokens[i].text;
    return text;
  }

  SyntaxNode declaration() {
    std::string type = skipType();
    SyntaxNode name = make(SyntaxKind::Name, std::string(token().text));
    if (!isAt(SyntaxWord::Name)) failed("a name was expected");
    advance();
    SyntaxNode node = make(SyntaxKind::Declare, std::move(type));
    node.items.push_back(std::move(name));
    while (m_problem.empty() && take("[")) {
      node.items.push_back(expression());
      expect("]");
    }
    if (isSign("(")) skipTo(")");  // what an object is made with
    if (take("=")) {
      node.kind = SyntaxKind::Assign;
      node.items.resize(1);
      node.items.push_back(expression());
    }
    return node;
  }

  SyntaxNode assignment() {
    SyntaxNode target = expression();
    static constexpr std::array<std::string_view, 6> updates = {"+=", "-=", "*=", "/=", "|=", "&="};
    const bool isUpdate = isAt(SyntaxWord::Sign) && std::ranges::find(updates, token().text) != updates.end();
    SyntaxNode node = make(isUpdate ? SyntaxKind::Update : isSign("=") ? SyntaxKind::Assign : SyntaxKind::Expression);
    if (isUpdate) node.text = token().text.substr(0, 1);
    const bool hasValue = isUpdate || isSign("=");
    if (hasValue) advance();
    node.items.push_back(std::move(target));
    if (hasValue) node.items.push_back(expression());
    return node;
  }

  SyntaxNode loop() {
    SyntaxNode node = make(SyntaxKind::For);
    advance();
    expect("(");
    node.items.push_back(isDeclaration() ? declaration() : assignment());
    expect(";");
    node.items.push_back(isSign(";") ? make(SyntaxKind::Unknown) : expression());
    expect(";");
    node.items.push_back(isSign(")") ? make(SyntaxKind::Unknown) : assignment());
    expect(")");
    node.items.push_back(oneBlock());
    return node;
  }

  SyntaxNode oneBlock() {
    if (isSign("{")) return block();
    SyntaxNode node = make(SyntaxKind::Block);
    if (m_problem.empty()) add(node);
    return node;
  }

  SyntaxNode condition() {
    SyntaxNode node = make(SyntaxKind::If);
    advance();
    if (isWord("constexpr")) advance();
    expect("(");
    node.items.push_back(expression());
    expect(")");
    node.items.push_back(oneBlock());
    if (isWord("else")) {
      advance();
      if (++m_depth > m_limits.nesting)
        failed("it is nested too deeply");
      else
        node.items.push_back(oneBlock());
      --m_depth;
    }
    return node;
  }
};

}  // namespace

SyntaxNode readCpp(std::string_view text, const SyntaxLimits& limits) {
  if (text.size() > limits.bytes) return {SyntaxKind::Unknown, "the text is too large", {}, {}, 1};
  return CppStatements(text, limits).read();
}

}  // namespace kerf::inline audit
