#include "engine/capture/trace/triton_lines.h"

#include <charconv>
#include <optional>
#include <unordered_map>

#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {

namespace {

struct SourcePlace {
  std::string_view file;  ///< in the text
  int line = 0;
};

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
  return SourcePlace{text.substr(1, close - 1), *line};
}

/// "loc5" of "#loc5)"; empty for others.
std::string_view aliasAt(std::string_view text) {
  if (!text.starts_with('#')) return {};
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", 1);
  return text.substr(1, end == std::string_view::npos ? end : end - 1);
}

/// What stands in the parentheses of a call site, or behind a name: "callsite(#loc1 at #loc2)", "acc"(#loc5). Nothing
/// where it is neither.
std::optional<std::string_view> insideOf(std::string_view text) {
  const bool call = text.starts_with("callsite(");
  if (!call && !text.starts_with('"')) return std::nullopt;
  const std::string_view mark = call ? " at " : "(";
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? std::nullopt : std::optional(text.substr(at + mark.size()));
}

class MlirPlaces {
 public:
  explicit MlirPlaces(std::string_view text) {
    eachLineOf(text, [&](int, std::string_view line) {
      if (!line.starts_with('#')) return;
      const std::size_t mark = line.find(" = loc(");
      if (mark != std::string_view::npos) m_aliases.try_emplace(line.substr(1, mark - 1), Alias{line.substr(mark + 7)});
    });
  }

  /// What stands behind "loc(". Each alias is followed once, whatever leads to it; a circle says nothing.
  std::optional<SourcePlace> place(std::string_view inside) {
    std::vector<Alias*> walked;
    std::optional<SourcePlace> found;
    while (true) {
      inside = inside.substr(0, mostPlaceBytes);
      found = quotedPlace(inside);
      if (found) break;
      if (const auto inner = insideOf(inside)) {
        inside = *inner;
        continue;
      }
      const auto alias = m_aliases.find(aliasAt(inside));
      if (alias == m_aliases.end()) break;
      if (alias->second.isWalked) {
        found = alias->second.place;
        break;
      }
      alias->second.isWalked = true;
      walked.push_back(&alias->second);
      inside = alias->second.text;
    }
    for (Alias* alias : walked) alias->place = found;
    return found;
  }

 private:
  struct Alias {
    std::string_view text;
    std::optional<SourcePlace> place;
    bool isWalked = false;
  };
  std::unordered_map<std::string_view, Alias> m_aliases;
};

/// Files in the order in which lines name them.
class FileTable {
 public:
  int indexOf(std::string_view file) {
    const auto [at, isNew] = m_indices.try_emplace(file, int(m_files.size()));
    if (isNew) m_files.emplace_back(file);
    return at->second;
  }
  std::vector<std::string> take() { return std::move(m_files); }

 private:
  std::unordered_map<std::string_view, int> m_indices;
  std::vector<std::string> m_files;
};

/// The paths of `.file 1 "k.py"` by number; too long ones are left out.
std::unordered_map<int, std::string_view> filesOfPtx(std::string_view text) {
  std::unordered_map<int, std::string_view> files;
  eachLineOf(text, [&](int, std::string_view line) {
    if (!line.starts_with(".file")) return;
    const std::string_view rest = trimmedText(line.substr(5));
    const auto number = numberAt(rest);
    const std::size_t open = rest.find('"'), close = rest.rfind('"');
    if (number && open < close && close != std::string_view::npos && close - open <= mostPlaceBytes)
      files.emplace(*number, rest.substr(open + 1, close - open - 1));
  });
  return files;
}

/// `.loc 1 14 16`, behind its first word.
std::optional<SourcePlace> placeOfPtx(std::string_view text, const std::unordered_map<int, std::string_view>& files) {
  const auto file = numberAt(text);
  const std::size_t blank = text.find_first_of(" \t");
  const auto source = blank == std::string_view::npos ? std::nullopt : numberAt(trimmedText(text.substr(blank)));
  if (!file || !source) return std::nullopt;
  const auto path = files.find(*file);
  return SourcePlace{path == files.end() ? std::string_view() : path->second, *source};
}

bool isInstruction(std::string_view line) {
  return !line.empty() && !line.starts_with("//") && !line.starts_with('.') && !line.starts_with('{') &&
         !line.starts_with('}') && !line.ends_with(':');
}

}  // namespace

KernelSourceLines linesOfMlir(std::string_view text) {
  MlirPlaces places(text);
  FileTable files;
  KernelSourceLines made;
  eachLineOf(text, [&](int number, std::string_view line) {
    if (line.starts_with('#') || !line.ends_with(')')) return;
    const std::size_t mark = line.rfind(" loc(");
    if (mark == std::string_view::npos) return;
    if (const auto place = places.place(line.substr(mark + 5)))
      made.lines.push_back({number, files.indexOf(place->file), place->line});
  });
  made.files = files.take();
  return made;
}

KernelSourceLines linesOfPtx(std::string_view text) {
  const auto paths = filesOfPtx(text);
  FileTable files;
  KernelSourceLines made;
  std::optional<SourcePlace> here;
  eachLineOf(text, [&](int number, std::string_view line) {
    if (line.starts_with(".loc")) {
      here = placeOfPtx(trimmedText(line.substr(4)), paths);
      return;
    }
    if (here && isInstruction(line)) made.lines.push_back({number, files.indexOf(here->file), here->line});
    if (line.starts_with('}')) here.reset();
  });
  made.files = files.take();
  return made;
}

}  // namespace kerf::inline capture::trace
