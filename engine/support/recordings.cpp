#include "engine/support/recordings.h"

#include <cstdlib>

namespace kerf::inline support {

std::filesystem::path recordingsFolder(const std::filesystem::path& given) {
  if (!given.empty()) return given;
  if (const char* set = std::getenv("KERF_CORPUS")) return set;
  std::error_code unreadable;
  const std::filesystem::path whole = KERF_WHOLE_CORPUS;
  return std::filesystem::is_directory(whole, unreadable) ? whole : KERF_CORPUS_SLICE;
}

}  // namespace kerf::inline support
