// Files of several ranks in one folder, told by their names.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kerf::workbench {

/// The files of a folder that name a rank, in the order of the ranks: rank0.py, rank1.log.gz,
/// dedicated_log_torch_trace_rank_2_x.log. Empty where the path is no folder.
std::vector<std::pair<int, std::filesystem::path>> rankFiles(const std::filesystem::path& folder);

/// The file in a folder of ranks that says how they were sharded: mesh, and placements by node, as `kerf shard --json`.
inline constexpr const char* shardingFile = "sharding.json";

/// "ranks#aot_forward_graph": folder and graph of an address.
std::pair<std::filesystem::path, std::string> splitRanksAddress(const std::string& address);
/// Whether an address names a folder with the files of two ranks or more.
bool namesRanks(const std::string& address);

}  // namespace kerf::workbench
