#include "tests/golden/masks.h"

#include <algorithm>
#include <regex>
#include <sstream>

namespace kerf::golden {

namespace {

struct Mask {
  std::string_view name;  ///< empty: in every file
  std::regex volatilePart;
  const char* replacement;
};

const std::vector<Mask>& masks() {
  static const std::vector<Mask> all = {
      {"", std::regex(R"(\b[0-9]+(\.[0-9]+)? (ns|us|ms|s|min)\b)"), "TIME"},
      {"", std::regex(R"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z)"), "DATE"},
      {"", std::regex(R"(([Kk]erf) [0-9]+\.[0-9]+\.[0-9]+)"), "$1 VERSION"},
      {"", std::regex(R"((--jobs [^=]*)=[0-9]+)"), "$1=CORES"},
      {"sizes", std::regex(R"(\b[0-9]+(\.[0-9]+)? (B|kB|MB|GB)\b)"), "SIZE"},
      {"numbers", std::regex(R"((^|[^.\w])-?[0-9]+((\.[0-9]+)?e[-+][0-9]+|\.[0-9]+)(?![.0-9]*[0-9]))"), "$1#"},
      {"columns", std::regex(R"((\S)  +)"), "$1  "},
      {"", std::regex(R"( +$)"), ""},
  };
  return all;
}

/// Progress comes when a command is slow.
bool isProgress(const std::string& line) {
  static const std::regex form(R"(^! .*( to go| [0-9]+ %)$)");
  return std::regex_search(line, form);
}

}  // namespace

bool isMask(std::string_view name) {
  return !name.empty() && std::ranges::find(masks(), name, &Mask::name) != masks().end();
}

std::string masked(const std::string& text, std::span<const std::string> named) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (isProgress(line)) continue;
    for (const Mask& mask : masks()) {
      if (mask.name.empty() || std::ranges::find(named, mask.name) != named.end())
        line = std::regex_replace(line, mask.volatilePart, mask.replacement);
    }
    result += line + "\n";
  }
  return result;
}

}  // namespace kerf::golden
