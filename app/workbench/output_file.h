// writeText(): a text or picture into a file, whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::workbench {

/// Environment, naming the file, when it cannot be written; what was there before stays then.
Result<void> writeText(std::string_view text, const std::filesystem::path& path);

}  // namespace kerf::workbench
