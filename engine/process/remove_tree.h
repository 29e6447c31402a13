// removeTree(): a folder and all in it, also where permissions were taken away from its owner.
#pragma once

#include <filesystem>

namespace kerf::inline process {

/// Follows no links. False when something is still there.
bool removeTree(const std::filesystem::path& folder);

}  // namespace kerf::inline process
