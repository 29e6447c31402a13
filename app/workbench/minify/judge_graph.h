// One verdict on a graph as it is: in this process's oracle, or in a fresh kerf.
#pragma once

#include <filesystem>

#include "app/workbench/captures/graph_source.h"
#include "minifier/core/minify.h"

namespace kerf::workbench {

/// The oracle's verdict on a graph as it is opened from a file or the store.
Result<Verdict> judgeGraph(Oracle& oracle, GraphSource source, const Job& job);

/// What a fresh kerf says of the written repro under the same oracle.
Result<Verdict> recheckInFreshProcess(Workbench& bench, const OracleSettings& oracle,
                                      const std::filesystem::path& repro, const Job& job);

/// What `oracle` says of it, whose queries are processes that know nothing of the search: PyTorch's.
Result<Verdict> recheckWith(Workbench& bench, Oracle& oracle, const std::filesystem::path& repro, const Job& job);

}  // namespace kerf::workbench
