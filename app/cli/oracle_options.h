// Options of the command line that several commands have: how results are compared, and who judges a graph.
#pragma once

#include <CLI/CLI.hpp>

#include "app/cli/context.h"
#include "app/workbench/protocol/accuracy_choice.h"
#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/reductions.h"

namespace kerf::cli {

// Options that say who decides whether a graph fails.

/// `--oracle` and all that belongs to one of them, `--timeout`, limits and `--allow-call`.
void addOracleOptions(CLI::App& command, workbench::OracleSettings& oracle);

// Options of the commands that judge by same(): --tol, --require-fp64, --ignore-non-fp, --only-fwd.

/// `--tol 1e-2` for all results and, where `byName` allows it, `--tol out3=1e-2` for one; any number of them.
void addAccuracyOptions(CLI::App& command, double& tolerance, workbench::AccuracyChoice& choice, bool byName,
                        const std::string& help);

// What of kerf minify is about its search: limits, flaky failures, pinned nodes, and events for those who watch.

/// `--max-tests`, `--max-time`: of one search.
void addLimitOptions(CLI::App& command, int& maxTests, std::chrono::milliseconds& maxTime);
CLI::Option* addFlakyOption(CLI::App& command, int& flaky);
/// Those, `--pin`.
void addSearchOptions(CLI::App& command, workbench::MinifyRequest& request);
/// One line of `--progress json`: "candidate", "verdict" or "reduction".
Json workEventJson(const workbench::MinifyWorkEvent& event);

}  // namespace kerf::cli
