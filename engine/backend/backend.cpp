#include "engine/backend/backend.h"

#include <algorithm>

namespace kerf::inline backend {

std::string_view KernelInfo::text(std::string_view format) const {
  const auto found = std::ranges::find(texts, format, &KernelText::format);
  return found == texts.end() ? std::string_view() : found->text;
}

std::string GuardViolation::text() const {
  std::string text = fmt::format("the guard {} does not hold for ", guard);
  const char* separator = "";
  for (const auto& [name, value] : symbols) {
    text += fmt::format("{}{} = {}", separator, name, value);
    separator = ", ";
  }
  if (!reason.empty()) text += fmt::format(" ({})", reason);
  return where.empty() ? text : fmt::format("{} at {}", text, where);
}

}  // namespace kerf::inline backend
