// The Python package that kerf carries, written out and started in the user's Python.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::cli {

/// Writes the package below the user's cache, each file whole. Returns the folder to import from. It is written again at
/// each start: half an hour's work must not fail for a file that somebody's cleaning took.
Result<std::filesystem::path> writePythonPackage();

/// Starts `python -m kerf ARGUMENTS` in the place of this process. Returns only with an error: Environment.
Result<int> becomePython(const std::string& python, const std::vector<std::string>& arguments);

}  // namespace kerf::cli
