// writeFileAtomically: a reader sees the old file or the whole new one, never half of it.
#pragma once

#include <filesystem>
#include <span>

#include "engine/support/result.h"

namespace kerf::inline tensor {

/// Writes the pieces one after another to a temporary file beside `path`, flushes it to disk and renames it over
/// `path`. Environment, naming the file, when anything fails; the temporary file is removed then.
Result<void> writeFileAtomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces);

}  // namespace kerf::inline tensor
