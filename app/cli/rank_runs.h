// run, compare, verify and minify of a folder with one file for each rank.
#pragma once

#include "app/cli/context.h"
#include "app/workbench/protocol/rank_files.h"
#include "app/workbench/protocol/rank_runs.h"

namespace kerf::cli {

/// Exit 1 where something differs or the ranks do not come to an end.
Result<int> runOnRanks(Context& context, const RankRunsRequest& request);
Result<int> minifyOnRanks(Context& context, const MinifyRanksRequest& request);

}  // namespace kerf::cli
