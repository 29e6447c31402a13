// EmbeddedFile: a file that kerf carries in itself (kerf_embed_files of the build).
#pragma once

#include <string_view>

namespace kerf::inline support {

struct EmbeddedFile {
  std::string_view path;  ///< from the folder that it is put into
  std::string_view text;
};

}  // namespace kerf::inline support
