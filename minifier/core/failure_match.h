// FailureMatch: which failures of a candidate a search takes for the one that it is after.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::inline minifier::inline core {

/// Same (the default): the fingerprint of the start graph's failure, character for character: fingerprints are made so
/// that what a smaller graph changes is not in them. Pattern: a POSIX extended regular expression is found in the
/// fingerprint or in the detail. Any: every failure. Thread-safe.
class FailureMatch {
 public:
  FailureMatch() = default;
  /// BadUsage if `expression` is none, is longer than 1000 characters, or refers back to a group (which could take
  /// exponential time on a text that a stranger's program printed). `\d` and `\D` are understood as well.
  static Result<FailureMatch> pattern(const std::string& expression);
  static FailureMatch any();

  /// Whether a failure is wanted; `wanted` is the fingerprint of the start graph's.
  bool accepts(std::string_view fingerprint, std::string_view detail, std::string_view wanted) const;
  /// Whether a start graph that fails in this way can be minified at all.
  bool acceptsAsStart(std::string_view fingerprint, std::string_view detail) const;
  bool isSame() const { return m_kind == Kind::Same; }
  /// "", " match=any", " match=REGEX": part of the identity of a reduction.
  std::string text() const;

 private:
  enum class Kind : unsigned char { Same, Pattern, Any };
  class Expression;
  Kind m_kind = Kind::Same;
  std::string m_text;
  std::shared_ptr<const Expression> m_expression;
};

}  // namespace kerf::inline minifier::inline core
