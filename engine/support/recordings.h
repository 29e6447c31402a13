// recordingsFolder: where PyTorch's recordings lie that the tests and `kerf bench` read.
#pragma once

#include <filesystem>

namespace kerf::inline support {

/// The first of: `given` if not empty, $KERF_CORPUS if set, ../shared/corpus beside the sources if it is there, and the
/// slice that CMake unpacked from tests/data/corpus. May not exist.
std::filesystem::path recordingsFolder(const std::filesystem::path& given = {});

}  // namespace kerf::inline support
