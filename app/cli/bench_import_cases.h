// Benchmarks of opening large captures.
#pragma once

#include <vector>

#include "app/cli/bench_cases.h"

namespace kerf::cli {

/// Cases in the order in which they are shown. Their inputs lie below the corpus folder.
std::vector<BenchCase> importBenchCases();

}  // namespace kerf::cli
