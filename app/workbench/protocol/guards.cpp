#include "app/workbench/protocol/guards.h"

#include <array>

#include <fmt/format.h>

namespace kerf::workbench {

std::string_view matchName(RecordedGuardDoc::Match match) {
  static constexpr std::array<std::string_view, 6> names{"derived",      "implied",       "not derived",
                                                         "contradicted", "other symbols", "unread"};
  return names.at(std::size_t(match));
}

std::string rangeText(const RangeDoc& range) {
  if (!range.lower && !range.upper) return "any";
  if (!range.upper) return fmt::format(">= {}", *range.lower);
  if (!range.lower) return fmt::format("<= {}", *range.upper);
  return fmt::format("{} to {}", *range.lower, *range.upper);
}

}  // namespace kerf::workbench
