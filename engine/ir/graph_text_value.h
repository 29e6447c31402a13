// GraphTextValue: reads one argument as str(graph) writes it, where strings stand without quotes. Private to engine/ir.
#pragma once

#include <functional>
#include <string_view>

#include "engine/ir/argument.h"
#include "engine/support/result.h"

namespace kerf::inline ir {

class GraphTextValue {
 public:
  using NodeLookup = std::function<Result<Argument>(std::string_view name)>;
  /// Reads from `text`, a part of line `line`.
  GraphTextValue(std::string_view text, int line, const NodeLookup& nodes)
      : m_text(text), m_line(line), m_nodes(nodes) {}

  Result<Argument> value() { return read(0); }
  /// Consumes the literal text or fails.
  Result<void> expect(std::string_view literal);
  bool atEnd() const { return m_at == m_text.size(); }
  std::string_view rest() const { return m_text.substr(m_at); }

 private:
  Result<Argument> read(int depth);
  Result<Argument> sequence(bool isTuple, int depth);
  Result<Argument> dict(int depth);
  Result<Argument> node();
  Result<std::string_view> rawText();
  Result<Argument> classify(std::string_view raw) const;
  Result<Argument> quoted(std::string_view raw) const;
  bool startsWith(std::string_view text) const { return m_text.substr(m_at).starts_with(text); }
  std::unexpected<Error> error(std::string message) const;

  std::string_view m_text;
  std::size_t m_at = 0;
  std::size_t m_count = 0;
  int m_line;
  const NodeLookup& m_nodes;
};

}  // namespace kerf::inline ir
