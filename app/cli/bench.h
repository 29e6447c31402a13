// `kerf bench`: the project's own measurements with their targets.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "app/bench/compiled.h"
#include "app/bench/graphs.h"
#include "app/bench/products.h"
#include "app/cli/command_line.h"

namespace kerf::cli {

void addBench(CommandLine& line);

// What `kerf bench --graphs`, `--products` and `--ops` print.

/// Rows as a table or, with `json`, as {"graphs": [{"graph", "precision", "ms", …}]}.
void printGraphTimes(const std::vector<bench::GraphTime>& rows, bool json);

/// Rows as a table or, with `json`, as {"compiled": [{"name", "compiled_ms", "interpreted_ms", "copy_ms", …}]}.
void printCompiledTimes(const std::vector<bench::CompiledTime>& rows, bool json);

/// Rows as a table or, with `json`, as {"products": [{"product", "uses", "kerf_ms", "openblas_ms", "onednn_ms"}],
/// "libraries"}.
void printProductTimes(const std::vector<bench::ProductTime>& rows, bool json);

/// Measures the ops whose name contains `filter` and prints a table, or JSON: {"ops": [{"name", "family", "ms",
/// "gb_s", "gflop_s"}]}.
Result<int> printOpTimes(const std::string& filter, int repeats, bool json, std::stop_token stop);

}  // namespace kerf::cli
