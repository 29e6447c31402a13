// Options that say who decides whether a graph fails.
#pragma once

#include <CLI/CLI.hpp>

#include "app/workbench/protocol/reductions.h"

namespace kerf::cli {

/// `--oracle` and all that belongs to one of them, `--timeout`, limits and `--allow-call`.
void addOracleOptions(CLI::App& command, workbench::OracleSettings& oracle);

}  // namespace kerf::cli
