#include "engine/capture/trace/triton_lines.h"

#include <charconv>
#include <optional>
#include <unordered_map>

#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {

namespace {

struct SourcePlace {
  std::string file;
  int line = 0;
};

constexpr int mostAliases = 64;  ///< of one place: a text may name them in a circle

template <class Take>
void eachLineOf(std::string_view text, const Take& take) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    take(number, trimmedText(text.substr(0, end)));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::optional<int> numberAt(std::string_view text) {
  int value = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && value > 0 ? std::optional(value) : std::nullopt;
}

/// `"k.py":12:8` at the begin of a text.
std::optional<SourcePlace> quotedPlace(std::string_view text) {
  if (!text.starts_with('"')) return std::nullopt;
  const std::size_t close = text.find('"', 1);
  if (close == std::string_view::npos || text.substr(close + 1, 1) != ":") return std::nullopt;
  const auto line = numberAt(text.substr(close + 2));
  if (!line) return std::nullopt;
  return SourcePlace{std::string(text.substr(1, close - 1)), *line};
}

/// "loc5" of "#loc5)"; empty for others.
std::string_view aliasAt(std::string_view text) {
  if (!text.starts_with('#')) return {};
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", 1);
  return text.substr(1, end == std::string_view::npos ? end : end - 1);
}

class MlirPlaces {
 public:
  explicit MlirPlaces(std::string_view text) {
    eachLineOf(text, [&](int, std::string_view line) {
      if (!line.starts_with('#')) return;
      const std::size_t mark = line.find(" = loc(");
      if (mark != std::string_view::npos) m_aliases.emplace(line.substr(1, mark - 1), line.substr(mark + 7));
    });
  }

  /// What stands behind "loc(".
  std::optional<SourcePlace> place(std::string_view inside) const {
    for (int steps = 0; steps < mostAliases; ++steps) {
      if (auto found = quotedPlace(inside)) return found;
      if (inside.starts_with("callsite(")) {
        const std::size_t at = inside.find(" at ");
        if (at == std::string_view::npos) return std::nullopt;
        inside.remove_prefix(at + 4);
        continue;
      }
      // A name in front: "acc"(#loc5).
      if (inside.starts_with('"')) {
        const std::size_t open = inside.find('(');
        if (open == std::string_view::npos) return std::nullopt;
        inside.remove_prefix(open + 1);
        continue;
      }
      const auto found = m_aliases.find(aliasAt(inside));
      if (found == m_aliases.end()) return std::nullopt;
      inside = found->second;
    }
    return std::nullopt;
  }

 private:
  std::unordered_map<std::string_view, std::string_view> m_aliases;
};

}  // namespace

std::vector<SourceOfLine> linesOfMlir(std::string_view text) {
  const MlirPlaces places(text);
  std::vector<SourceOfLine> lines;
  eachLineOf(text, [&](int number, std::string_view line) {
    if (line.starts_with('#') || !line.ends_with(')')) return;
    const std::size_t mark = line.rfind(" loc(");
    if (mark == std::string_view::npos) return;
    if (auto place = places.place(line.substr(mark + 5)))
      lines.push_back({number, std::move(place->file), place->line});
  });
  return lines;
}

std::vector<SourceOfLine> linesOfPtx(std::string_view text) {
  std::unordered_map<int, std::string> files;
  eachLineOf(text, [&](int, std::string_view line) {
    if (!line.starts_with(".file")) return;
    const std::string_view rest = trimmedText(line.substr(5));
    const auto number = numberAt(rest);
    const std::size_t open = rest.find('"'), close = rest.rfind('"');
    if (number && open < close && close != std::string_view::npos)
      files.emplace(*number, rest.substr(open + 1, close - open - 1));
  });
  std::vector<SourceOfLine> lines;
  std::optional<SourcePlace> here;
  eachLineOf(text, [&](int number, std::string_view line) {
    if (line.starts_with(".loc")) {
      const std::string_view rest = trimmedText(line.substr(4));
      const auto file = numberAt(rest);
      const std::size_t blank = rest.find_first_of(" \t");
      const auto source = blank == std::string_view::npos ? std::nullopt : numberAt(trimmedText(rest.substr(blank)));
      here.reset();
      if (file && source) here = SourcePlace{files.contains(*file) ? files.at(*file) : std::string(), *source};
      return;
    }
    const bool instruction = !line.empty() && !line.starts_with("//") && !line.starts_with('.') &&
                             !line.starts_with('{') && !line.starts_with('}') && !line.ends_with(':');
    if (here && instruction) lines.push_back({number, here->file, here->line});
    if (line.starts_with('}')) here.reset();
  });
  return lines;
}

}  // namespace kerf::inline capture::trace
