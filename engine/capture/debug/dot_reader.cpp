#include "engine/capture/debug/dot_reader.h"

#include <cctype>
#include <unordered_map>

#include <fmt/format.h>

namespace kerf::inline capture {
namespace {

constexpr int maxSubgraphs = 100;

struct Token {
  enum class Kind { Word, Symbol, End };
  Kind kind = Kind::End;
  std::string text;
  int line = 1;
  bool quoted = false;  ///< what stands in quotes is a name, never a keyword
  bool is(std::string_view symbol) const { return kind == Kind::Symbol && text == symbol; }
};

class Reader {
 public:
  Reader(std::string_view text, std::int64_t limit) : m_text(text), m_limit(std::size_t(limit)) {}

  Result<DotGraph> read() {
    KERF_CHECK(next());
    if (isKeyword(m_token, "strict")) KERF_CHECK(next());
    if (!isKeyword(m_token, "digraph") && !isKeyword(m_token, "graph")) return error("expected 'digraph'");
    KERF_CHECK(next());
    if (m_token.kind == Token::Kind::Word) {
      m_graph.name = m_token.text;
      KERF_CHECK(next());
    }
    if (!m_token.is("{")) return error("expected '{'");
    KERF_CHECK(next());
    KERF_CHECK(statements());
    return std::move(m_graph);
  }

 private:
  std::unexpected<Error> error(std::string message, ErrorCode code = ErrorCode::BadInput) const {
    return fail(Error{code, std::move(message), {}, m_token.line, {}, {}});
  }
  static bool isKeyword(const Token& token, std::string_view word) {
    return token.kind == Token::Kind::Word && !token.quoted && token.text == word;
  }

  Result<void> statements() {
    for (int depth = 1; depth > 0;) {
      if (m_token.kind == Token::Kind::End) return error("'}' is missing");
      const bool opens = m_token.is("{");
      if (opens || m_token.is("}")) {
        depth += opens ? 1 : -1;
        if (depth > maxSubgraphs) return error("too many nested subgraphs", ErrorCode::TooLarge);
        KERF_CHECK(next());
      } else if (m_token.is(";") || m_token.is(",")) {
        KERF_CHECK(next());
      } else if (m_token.kind == Token::Kind::Word) {
        KERF_CHECK(statement());
      } else {
        return error(fmt::format("'{}' is not expected here", m_token.text));
      }
    }
    return {};
  }

  /// A node, an edge chain, an attribute, or the head of a subgraph.
  Result<void> statement() {
    const Token first = m_token;
    KERF_CHECK(next());
    if (isKeyword(first, "subgraph")) {
      if (m_token.kind == Token::Kind::Word) KERF_CHECK(next());
      return {};
    }
    if (m_token.is("=")) {
      KERF_CHECK(next());
      if (m_token.kind != Token::Kind::Word) return error("a value is missing after '='");
      return next();
    }
    const bool isDefault = isKeyword(first, "node") || isKeyword(first, "edge") || isKeyword(first, "graph");
    if (isDefault && m_token.is("[")) {
      std::map<std::string, std::string> ignored;
      return attributes(ignored);
    }
    KERF_TRY(std::size_t from, node(first));
    bool isEdge = false;
    KERF_CHECK(port());
    while (m_token.is("->") || m_token.is("--")) {
      isEdge = true;
      KERF_CHECK(next());
      if (m_token.kind != Token::Kind::Word) return error("an edge needs a node at both ends");
      KERF_TRY(const std::size_t to, node(m_token));
      KERF_CHECK(next());
      KERF_CHECK(port());
      if (m_graph.edges.size() >= m_limit) return error("too many edges", ErrorCode::TooLarge);
      m_graph.edges.emplace_back(from, to);
      from = to;
    }
    if (!m_token.is("[")) return {};
    std::map<std::string, std::string> ofEdge;
    return attributes(isEdge ? ofEdge : m_graph.nodes[from].attributes);
  }

  Result<void> port() {
    while (m_token.is(":")) {
      KERF_CHECK(next());
      if (m_token.kind != Token::Kind::Word) return error("a port is missing after ':'");
      KERF_CHECK(next());
    }
    return {};
  }

  Result<std::size_t> node(const Token& name) {
    const auto [slot, isNew] = m_byName.try_emplace(name.text, m_graph.nodes.size());
    if (isNew) {
      if (m_graph.nodes.size() >= m_limit) return error("too many nodes", ErrorCode::TooLarge);
      m_graph.nodes.push_back({name.text, {}, name.line});
    }
    return slot->second;
  }

  Result<void> attributes(std::map<std::string, std::string>& into) {
    while (m_token.is("[")) {
      KERF_CHECK(next());
      while (!m_token.is("]")) {
        if (m_token.kind != Token::Kind::Word) return error("an attribute is expected");
        const std::string key = m_token.text;
        KERF_CHECK(next());
        std::string value = "true";
        if (m_token.is("=")) {
          KERF_CHECK(next());
          if (m_token.kind != Token::Kind::Word) return error("a value is missing after '='");
          value = m_token.text;
          KERF_CHECK(next());
        }
        into[key] = std::move(value);
        while (m_token.is(",") || m_token.is(";")) KERF_CHECK(next());
      }
      KERF_CHECK(next());
    }
    return {};
  }

  void skipBlanks() {
    while (m_at < m_text.size()) {
      const std::string_view rest = m_text.substr(m_at);
      std::size_t length = 0;
      if (std::isspace(static_cast<unsigned char>(rest[0])) != 0)
        length = 1;
      else if (rest.starts_with("//") || (rest[0] == '#' && (m_at == 0 || m_text[m_at - 1] == '\n')))
        length = std::min(rest.find('\n'), rest.size());
      else if (rest.starts_with("/*"))
        length = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
      if (length == 0) return;
      for (const char c : rest.substr(0, length)) m_line += c == '\n' ? 1 : 0;
      m_at += length;
    }
  }

  Result<void> next() {
    skipBlanks();
    m_token = {Token::Kind::End, {}, m_line};
    if (m_at >= m_text.size()) return {};
    const char c = m_text[m_at];
    if (c == '"') return quoted();
    if (c == '<') return html();
    const auto isName = [](char x) {
      return std::isalnum(static_cast<unsigned char>(x)) != 0 || x == '_' || x == '.' ||
             (static_cast<unsigned char>(x) & 0x80u) != 0;
    };
    const std::size_t begin = m_at;
    const bool isNumber =
        c == '-' && m_at + 1 < m_text.size() && std::isdigit(static_cast<unsigned char>(m_text[m_at + 1])) != 0;
    if (isNumber) ++m_at;
    while (m_at < m_text.size() && isName(m_text[m_at])) ++m_at;
    m_token.kind = Token::Kind::Word;
    if (m_at == begin) {
      m_token.kind = Token::Kind::Symbol;
      const std::string_view two = m_text.substr(m_at, 2);
      m_at += two == "->" || two == "--" ? 2 : 1;
    }
    m_token.text = m_text.substr(begin, m_at - begin);
    if (m_token.kind == Token::Kind::Symbol &&
        std::string_view("{}[];,=:-> --").find(m_token.text) == std::string_view::npos)
      return error(fmt::format("unexpected character (byte 0x{:02x})", unsigned(static_cast<unsigned char>(c))));
    return {};
  }

  Result<void> quoted() {
    m_token.kind = Token::Kind::Word;
    m_token.quoted = true;
    for (++m_at; m_at < m_text.size() && m_text[m_at] != '"'; ++m_at) {
      if (m_text[m_at] == '\\' && m_at + 1 < m_text.size()) {
        const char escaped = m_text[m_at + 1];
        if (escaped != '"') m_token.text += '\\';
        ++m_at;
        if (escaped == '\n') {
          m_token.text.pop_back();  // a line continuation
          ++m_line;
          continue;
        }
      } else if (m_text[m_at] == '\n') {
        ++m_line;
      }
      m_token.text += m_text[m_at];
    }
    if (m_at >= m_text.size()) return error("a string is not closed");
    ++m_at;
    return {};
  }

  Result<void> html() {
    m_token.kind = Token::Kind::Word;
    int depth = 0;
    const std::size_t begin = m_at;
    for (; m_at < m_text.size(); ++m_at) {
      depth += m_text[m_at] == '<' ? 1 : m_text[m_at] == '>' ? -1 : 0;
      m_line += m_text[m_at] == '\n' ? 1 : 0;
      if (depth == 0) break;
    }
    if (m_at >= m_text.size()) return error("'>' is missing");
    ++m_at;
    m_token.text = m_text.substr(begin, m_at - begin);
    return {};
  }

  std::string_view m_text;
  std::size_t m_limit;
  std::size_t m_at = 0;
  int m_line = 1;
  Token m_token;
  DotGraph m_graph;
  std::unordered_map<std::string, std::size_t> m_byName;
};

}  // namespace

Result<DotGraph> readDot(std::string_view text, std::int64_t limit) { return Reader(text, limit).read(); }

}  // namespace kerf::inline capture
