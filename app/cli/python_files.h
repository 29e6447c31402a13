// The Python package that kerf carries in itself.
#pragma once

#include <span>
#include <string_view>

namespace kerf::cli {

struct PythonFile {
  std::string_view path;  ///< from the folder that it is put into
  std::string_view text;
};
using EmbeddedFile = PythonFile;  ///< as the generated source calls it

/// The package `kerf`, of python/kerf.
std::span<const PythonFile> pythonFiles();
/// The package that warms PyTorch up, which it imports.
std::span<const PythonFile> pythonWorkerFiles();

}  // namespace kerf::cli
