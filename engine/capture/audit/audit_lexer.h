// The auditor's own tokens of a Python file: stricter than Python, and independent of the reader that Kerf imports
// with.
#pragma once

#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline capture {

enum class AuditKind : std::uint8_t { Name, Number, String, Operator, Newline, Indent, Dedent, End };

struct AuditToken {
  AuditKind kind = AuditKind::End;
  std::string_view text;
  int line = 0;  ///< 1-based
  bool is(std::string_view op) const { return kind == AuditKind::Operator && text == op; }
  bool isName(std::string_view name) const { return kind == AuditKind::Name && text == name; }
};

/// The tokens, comments and blank lines left out. BadInput with the line for whatever Python might read in another way
/// than it looks: control characters (also '\r' and form feeds), bytes that are no UTF-8, bidirectional controls, a
/// coding cookie, tabs in the indentation, line continuations, formatted strings, names that are not in normal form.
Result<std::vector<AuditToken>> auditTokens(std::string_view text);

/// Whether Python would take this comment, in the first two lines of a file, as the file's encoding.
bool isCodingCookie(std::string_view comment);

/// The value of a string token without prefix or escapes that need decoding; nullopt for others.
std::optional<std::string_view> plainString(const AuditToken& token);

/// "line 3: …" as an error.
std::unexpected<Error> auditError(int line, std::string message);

}  // namespace kerf::inline capture
