// Recordings of PyTorch's distributed behaviour against Kerf's.
#pragma once

#include <filesystem>

#include "engine/distributed/recorded/report.h"

namespace kerf::inline distributed::inline recorded {

/// Whether a folder (or its `public` half) holds recordings of several ranks.
bool holdsRanks(const std::filesystem::path& folder);
/// Every part that is there. BadInput names the line that cannot be read.
Result<RanksReport> checkRanks(const std::filesystem::path& folder, RecordedWorld world = {});

}  // namespace kerf::inline distributed::inline recorded
