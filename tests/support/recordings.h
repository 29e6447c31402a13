// Skipping a test that needs a recording which tests/data/corpus leaves out.
#pragma once

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/support/recordings.h"

namespace kerf::testing {

/// Why a test of `recording` is skipped.
inline std::string leftOut(const std::filesystem::path& recording) {
  return fmt::format("{} is not in the repository's slice of the recordings; set KERF_CORPUS",
                     recording.lexically_relative(recordingsFolder()).generic_string());
}

}  // namespace kerf::testing
