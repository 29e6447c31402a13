// PlainCharacters: the characters that a printer of graphs wrote, out of what became of them on the way.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline capture {

class PlainCharacters {
 public:
  /// Looks once at the whole text for what its lines may hold.
  explicit PlainCharacters(std::string_view text);

  /// A line without colours, tags, entities and a carriage return at its end, with plain spaces and quotes. It may hold
  /// line breaks where tags or escapes stood for them.
  std::string line(std::string_view line) const;

 private:
  bool m_colours = false, m_html = false, m_wide = false, m_escaped = false;
};

}  // namespace kerf::inline capture
