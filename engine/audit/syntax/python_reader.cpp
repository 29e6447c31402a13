// readPython(): the statements of a Python text.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/audit/syntax/expression_reader.h"

namespace kerf::inline audit {
namespace {

class PythonStatements : public ExpressionReader {
 public:
  PythonStatements(std::string_view text, const SyntaxLimits& limits)
      : ExpressionReader(text, SyntaxLanguage::Python, limits) {}

  SyntaxNode read() {
    SyntaxNode block = make(SyntaxKind::Block);
    while (!isAt(SyntaxWord::End)) {
      if (isAt(SyntaxWord::Line) || isAt(SyntaxWord::Indent) || isAt(SyntaxWord::Dedent))
        advance();
      else
        statements(block);
    }
    return block;
  }

 private:
  struct Head {
    std::string_view word;
    SyntaxNode (PythonStatements::*read)();
  };

  /// One logical line, with the block below it.
  void statements(SyntaxNode& block) {
    while (true) {
      const int line = token().line;
      m_problem.clear();
      SyntaxNode node = statement();
      if (!m_problem.empty()) {
        node = make(SyntaxKind::Unknown, m_problem);
        skipLine();
      }
      node.line = line;
      block.items.push_back(std::move(node));
      if (!take(";") || isAt(SyntaxWord::Line)) break;
    }
    if (isAt(SyntaxWord::Line)) return advance();
    if (isAt(SyntaxWord::Dedent) || isAt(SyntaxWord::End)) return;
    if (m_tokens[m_at == 0 ? 0 : m_at - 1].word == SyntaxWord::Dedent) return;
    block.items.push_back(make(SyntaxKind::Unknown, "the rest of the line cannot be read"));
    skipLine();
  }

  void skipLine() {
    while (!isAt(SyntaxWord::Line) && !isAt(SyntaxWord::End)) advance();
    m_problem.clear();
  }

  SyntaxNode statement() {
    static constexpr std::array<Head, 12> heads = {{{"def", &PythonStatements::define},
                                                    {"class", &PythonStatements::classBody},
                                                    {"for", &PythonStatements::loop},
                                                    {"if", &PythonStatements::condition},
                                                    {"with", &PythonStatements::with},
                                                    {"return", &PythonStatements::give},
                                                    {"del", &PythonStatements::remove},
                                                    {"import", &PythonStatements::import},
                                                    {"from", &PythonStatements::import},
                                                    {"while", &PythonStatements::other},
                                                    {"try", &PythonStatements::other},
                                                    {"raise", &PythonStatements::import}}};
    if (isAt(SyntaxWord::Name))
      for (const Head& head : heads)
        if (token().text == head.word) return (this->*head.read)();
    if (take("@")) {
      SyntaxNode decorator = make(SyntaxKind::Expression, "@");
      decorator.items.push_back(expression());
      return decorator;
    }
    return simple();
  }

  SyntaxNode simple() {
    SyntaxNode target = expressionList();
    std::string type;
    if (take(":")) type = expression().dotted();
    static constexpr std::array<std::string_view, 8> updates = {"+=", "-=", "*=", "/=", "//=", "%=", "|=", "&="};
    if (isAt(SyntaxWord::Sign) && std::ranges::find(updates, token().text) != updates.end()) {
      SyntaxNode update = make(SyntaxKind::Update, std::string(token().text.substr(0, token().text.size() - 1)));
      advance();
      update.items.push_back(std::move(target));
      update.items.push_back(expressionList());
      return update;
    }
    if (!take("=")) {
      SyntaxNode node = make(SyntaxKind::Expression);
      node.items.push_back(std::move(target));
      return node;
    }
    SyntaxNode assign = make(SyntaxKind::Assign, std::move(type));
    assign.items.push_back(std::move(target));
    assign.items.push_back(expressionList());
    while (m_problem.empty() && take("=")) assign.items.back() = expressionList();
    return assign;
  }

  /// After ':': what is indented, or the rest of the line.
  SyntaxNode body() {
    SyntaxNode block = make(SyntaxKind::Block);
    expect(":");
    if (!m_problem.empty()) return block;
    if (++m_depth > m_limits.nesting) {
      failed("it is nested too deeply");
    } else if (!isAt(SyntaxWord::Line)) {
      statements(block);
    } else {
      while (isAt(SyntaxWord::Line)) advance();
      if (isAt(SyntaxWord::Indent)) {
        advance();
        while (!isAt(SyntaxWord::Dedent) && !isAt(SyntaxWord::End)) {
          if (isAt(SyntaxWord::Line) || isAt(SyntaxWord::Indent))
            advance();
          else
            statements(block);
        }
        if (isAt(SyntaxWord::Dedent)) advance();
      }
      m_problem.clear();
    }
    --m_depth;
    return block;
  }

  SyntaxNode define() {
    advance();
    SyntaxNode node = make(SyntaxKind::Define, std::string(token().text));
    advance();
    SyntaxNode parameters = make(SyntaxKind::Tuple);
    expect("(");
    while (m_problem.empty() && !isSign(")") && !isAt(SyntaxWord::End)) {
      while (isSign("*") || isSign("**")) advance();
      SyntaxNode parameter = make(SyntaxKind::Name, std::string(token().text));
      advance();
      if (take(":")) parameter.keywords.push_back(expression().dotted());
      if (take("=")) (void)expression();
      parameters.items.push_back(std::move(parameter));
      if (!take(",")) break;
    }
    expect(")");
    if (take("->")) (void)expression();
    node.items.push_back(std::move(parameters));
    node.items.push_back(body());
    return node;
  }

  SyntaxNode classBody() {
    advance();
    SyntaxNode node = make(SyntaxKind::Class, std::string(token().text));
    while (!isSign(":") && !isAt(SyntaxWord::Line) && !isAt(SyntaxWord::End)) advance();
    node.items.push_back(body());
    return node;
  }

  SyntaxNode loop() {
    SyntaxNode node = make(SyntaxKind::For);
    advance();
    SyntaxNode target = make(SyntaxKind::Tuple);
    for (; !isWord("in") && !isAt(SyntaxWord::Line) && !isAt(SyntaxWord::End); advance())
      if (isAt(SyntaxWord::Name)) target.items.push_back(make(SyntaxKind::Name, std::string(token().text)));
    advance();
    node.items.push_back(std::move(target));
    node.items.push_back(expressionList());
    node.items.push_back(body());
    return node;
  }

  SyntaxNode condition() {
    SyntaxNode node = make(SyntaxKind::If);
    advance();
    node.items.push_back(expression());
    node.items.push_back(body());
    while (isAt(SyntaxWord::Line)) advance();
    if (isWord("elif")) {
      SyntaxNode block = make(SyntaxKind::Block);
      if (++m_depth > m_limits.nesting)
        failed("it is nested too deeply");
      else
        block.items.push_back(condition());
      --m_depth;
      node.items.push_back(std::move(block));
    } else if (isWord("else")) {
      advance();
      node.items.push_back(body());
    }
    return node;
  }

  SyntaxNode with() {
    SyntaxNode node = make(SyntaxKind::With);
    advance();
    SyntaxNode item = expression();
    while (!isSign(":") && !isAt(SyntaxWord::Line) && !isAt(SyntaxWord::End)) advance();
    node.items.push_back(std::move(item));
    node.items.push_back(body());
    return node;
  }

  SyntaxNode give() {
    SyntaxNode node = make(SyntaxKind::Return);
    advance();
    if (!isAt(SyntaxWord::Line) && !isAt(SyntaxWord::End)) node.items.push_back(expressionList());
    return node;
  }

  SyntaxNode remove() {
    SyntaxNode node = make(SyntaxKind::Delete);
    advance();
    SyntaxNode names = expressionList();
    if (names.is(SyntaxKind::Tuple))
      node.items = std::move(names.items);
    else
      node.items.push_back(std::move(names));
    return node;
  }

  SyntaxNode import() {
    SyntaxNode node = make(SyntaxKind::Import);
    while (!isAt(SyntaxWord::Line) && !isAt(SyntaxWord::End)) advance();
    return node;
  }

  /// A statement that output code does not use; its block is passed over.
  SyntaxNode other() {
    SyntaxNode node = make(SyntaxKind::Unknown, "a statement with '" + std::string(token().text) + "'");
    while (!isSign(":") && !isAt(SyntaxWord::Line) && !isAt(SyntaxWord::End)) advance();
    if (isSign(":")) (void)body();
    return node;
  }
};

}  // namespace

SyntaxNode readPython(std::string_view text, const SyntaxLimits& limits) {
  if (text.size() > limits.bytes) return {SyntaxKind::Unknown, "the text is too large", {}, {}, 1};
  return PythonStatements(text, limits).read();
}

}  // namespace kerf::inline audit
