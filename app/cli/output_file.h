// emit(): a command's text goes to stdout, or to the file the user named, whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::cli {

/// Writes `text` to stdout, or atomically to `path` when it is not empty.
Result<void> emit(std::string_view text, const std::string& path);

}  // namespace kerf::cli
