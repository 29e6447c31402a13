// FailureMatch: which failures of a candidate a search takes for the one that it is after.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/support/result.h"
#include "minifier/core/accuracy_identity.h"

namespace kerf::inline minifier::inline core {

/// Same (the default): the fingerprint of the start graph's failure, character for character: fingerprints are made so
/// that what a smaller graph changes is not in them. Those of wrong values name op and ratio, which it does change:
/// isSameWrongValue() decides about them. Pattern: a
/// POSIX extended regular expression is found in the fingerprint or in the detail. Any: every failure. Thread-safe.
class FailureMatch {
 public:
  FailureMatch() = default;
  /// BadUsage if `expression` is none, is longer than 1000 characters, or refers back to a group (which could take
  /// exponential time on a text that a stranger's program printed). `\d` and `\D` are understood as well.
  static Result<FailureMatch> pattern(const std::string& expression);
  static FailureMatch any();

  /// Whether a failure is wanted; `wanted` is the one that was accepted last, with the start graph's ratio.
  bool accepts(std::string_view fingerprint, std::string_view detail, const WantedFailure& wanted) const;
  /// The same where no graph is known in which it shows.
  bool accepts(std::string_view fingerprint, std::string_view detail, std::string_view wanted) const {
    return accepts(fingerprint, detail, WantedFailure{std::string(wanted), {}});
  }
  /// Whether a start graph that fails in this way can be minified at all.
  bool acceptsAsStart(std::string_view fingerprint, std::string_view detail) const;
  bool isSame() const { return m_kind == Kind::Same; }
  /// For people: which failures count, if the start graph's has this fingerprint.
  std::string rule(std::string_view wanted) const;
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
