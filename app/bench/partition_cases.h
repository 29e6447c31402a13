// Benchmarks of the partitioner, on the largest recorded joint graph.
#pragma once

#include <vector>

#include "app/bench/cases.h"

namespace kerf::bench {

/// Cases in the order in which they are shown. Their inputs lie below the corpus folder.
std::vector<BenchCase> partitionBenchCases();

}  // namespace kerf::bench
