// The captures of a program's ranks: the first one's name leads to all of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/workbench/captures/capture_source.h"

namespace kerf::workbench {

/// Notes which captures a program's ranks have, by rank and content, under the first one. Ranks that compiled the same share
/// one. A later run with the same first rank takes its place.
Result<void> keepRanks(Workbench& bench, const std::vector<std::int64_t>& captures);

/// The captures, by rank, of the program whose first rank has `capture`; empty where it ran as one rank.
Result<std::vector<std::int64_t>> ranksOfProgram(Workbench& bench, std::int64_t capture);

/// Writes the ranks' graphs of that name ("__compiled_fn_1", "g1"; empty: each capture's only one) as rank0.py, … with what they
/// need. NotFound and BadUsage name the rank, its capture and the graphs that it has.
Result<void> writeRankGraphs(Workbench& bench, const std::vector<std::int64_t>& captures, const std::string& graph,
                             const std::filesystem::path& folder, const Job& job);

}  // namespace kerf::workbench
