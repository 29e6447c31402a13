// upgrade(): brings a store of an older schema to this Kerf's by way of a copy; the old file stays as a backup.
#pragma once

#include <filesystem>

#include "engine/support/result.h"

namespace kerf::inline storage::inline migrations {

/// Replaces the store at `path` by a copy with all migrations applied and page checksums; the old file is then
/// `<path>.v2.bak` (of schema 2). Whatever happens, one of both is whole at `path`. Nothing is done when another
/// process has just done it. Environment when there is no room for the copy (asked before anything is written) or when
/// another process has the store open.
Result<void> upgrade(const std::filesystem::path& path);

}  // namespace kerf::inline storage::inline migrations
