#include "engine/support/read_json.h"

#include <fmt/format.h>

namespace kerf::inline support {

bool nestsDeeperThan(std::string_view json, int most) {
  int depth = 0;
  bool isText = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char character = json[at];
    if (isText && character == '\\')
      ++at;
    else if (character == '"')
      isText = !isText;
    else if (!isText && (character == '[' || character == '{') && ++depth > most)
      return true;
    else if (!isText && (character == ']' || character == '}'))
      --depth;
  }
  return false;
}

std::string whyNoJson(std::string_view text) {
  return nestsDeeperThan(text, deepestJson) ? fmt::format("nests deeper than {} levels", deepestJson) : "is no JSON";
}

}  // namespace kerf::inline support
