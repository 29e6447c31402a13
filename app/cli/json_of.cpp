#include "app/cli/json_of.h"

#include <cctype>

namespace kerf::cli {

std::string jsonKey(std::string_view field) {
  if (field == "time") return "elapsed_ms";
  std::string key;
  for (const char letter : field) {
    const bool capital = std::isupper(static_cast<unsigned char>(letter)) != 0;
    if (capital) key += '_';
    key += capital ? char(std::tolower(static_cast<unsigned char>(letter))) : letter;
  }
  return key;
}

}  // namespace kerf::cli
