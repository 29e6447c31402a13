// capturesUnder(): what is to be opened of files and folders, each by itself, so that none can end the others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::workbench {

/// Files, folders that are one capture (logs, debug folders, graph transforms) and store ids, in order of their names,
/// each once. Hidden files, storages and what lies under `without` are left out. NotFound for a path that does not exist;
/// TooLarge for more than 10,000 captures.
Result<std::vector<std::string>> capturesUnder(const std::vector<std::string>& paths,
                                               const std::filesystem::path& without);

}  // namespace kerf::workbench
