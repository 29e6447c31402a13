// Benchmarks of graph differences, on the largest recorded graphs.
#pragma once

#include <vector>

#include "app/bench/cases.h"

namespace kerf::bench {

/// Cases in the order in which they are shown. Their inputs lie below the corpus folder.
std::vector<BenchCase> diffBenchCases();

}  // namespace kerf::bench
