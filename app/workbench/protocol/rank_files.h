// Files of several ranks in one folder, told by their names.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/support/result.h"

namespace kerf::workbench {

/// The files of a folder that name a rank, in the order of the ranks: rank0.py, rank1.log.gz,
/// dedicated_log_torch_trace_rank_2_x.log. Empty where the path is no folder.
std::vector<std::pair<int, std::filesystem::path>> rankFiles(const std::filesystem::path& folder);

/// The file in a folder of ranks that says how they were sharded: mesh, and placements by node, as `kerf shard --json`.
inline constexpr const char* shardingFile = "sharding.json";

/// BadUsage where a folder has files of ranks that are none of `names`: those would be ranks of what is written there.
Result<void> checkOnlyRankFiles(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// "ranks#aot_forward_graph": folder and graph of an address.
std::pair<std::filesystem::path, std::string> splitRanksAddress(const std::string& address);
/// Whether an address names a folder with the files of two ranks or more.
bool namesRanks(const std::string& address);

}  // namespace kerf::workbench
