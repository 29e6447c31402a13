// Benchmarks of graphs with very many nodes: what grows faster than they do shows here first.
#pragma once

#include <vector>

#include "app/bench/cases.h"

namespace kerf::bench {

/// Cases in the order in which they are shown. They need no files: the graphs are made up.
std::vector<BenchCase> scaleBenchCases();

}  // namespace kerf::bench
