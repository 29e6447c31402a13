// capturesUnder(): what is to be opened of files and folders, each by itself, so that none can end the others.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline minifier::inline triage {

/// Files, folders that are one capture (logs, debug folders, graph transforms) and what `isStored` takes for an id of the
/// store, in order of their names, each once. Hidden files, storages and what lies under `without` are left out. NotFound for a path that does not exist;
/// TooLarge for more than 10,000 captures.
Result<std::vector<std::string>> capturesUnder(const std::vector<std::string>& paths,
                                               const std::filesystem::path& without,
                                               const std::function<bool(const std::string&)>& isStored);

}  // namespace kerf::inline minifier::inline triage
