// What of kerf minify is about its search: limits, flaky failures, pinned nodes, and events for those who watch.
#pragma once

#include <CLI/CLI.hpp>

#include "app/cli/context.h"
#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/reductions.h"

namespace kerf::cli {

/// `--max-tests`, `--max-time`: of one search.
void addLimitOptions(CLI::App& command, int& maxTests, std::chrono::milliseconds& maxTime);
CLI::Option* addFlakyOption(CLI::App& command, int& flaky);
/// Those, `--pin`.
void addSearchOptions(CLI::App& command, workbench::MinifyRequest& request);
/// One line of `--progress json`: "candidate", "verdict" or "reduction".
Json workEventJson(const workbench::MinifyWorkEvent& event);

}  // namespace kerf::cli
