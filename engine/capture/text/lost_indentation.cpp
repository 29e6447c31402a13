#include "engine/capture/text/lost_indentation.h"

#include "engine/capture/text/line_content.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t step = 4;

bool isReturn(std::string_view line) { return line == "return" || line.starts_with("return "); }

}  // namespace

LostIndentation::LostIndentation(bool inForward, bool hasClass)
    : m_hasClass(hasClass), m_place(inForward ? Place::Forward : Place::Class) {}

bool LostIndentation::takes(std::string_view line, bool shallow, bool outside, std::string_view text) {
  if (line.empty()) return false;
  if (!outside) return m_lost;
  if (!shallow && !m_lost) m_place = Place::Behind;  // its indentation is there
  if (m_place == Place::Class) return m_lost = beginsForward(line);
  if (m_place == Place::Forward) {
    const bool isOne = isReturn(line) || isStatement(line) || line.find(" = ") != std::string_view::npos;
    return m_lost = m_lost || isOne;
  }
  const bool isNested =
      m_lost && beginsClass(line) && text.find("self." + identifierAfter(line, "class ")) != std::string_view::npos;
  if (isNested) m_depth = 1;
  return m_lost = isNested;
}

std::size_t LostIndentation::columns(std::string_view line) const {
  const std::size_t method = (m_hasClass ? step : 0) + m_depth * step;
  if (beginsClass(line)) return m_depth * step;
  return m_place == Place::Class || beginsForward(line) ? method : method + step;
}

void LostIndentation::took(std::string_view line, bool outside) {
  if (!outside) return;
  if (beginsClass(line)) m_place = Place::Class;
  if (beginsForward(line)) m_place = Place::Forward;
  if (isReturn(line)) m_place = Place::Behind;
}

}  // namespace kerf::inline capture
