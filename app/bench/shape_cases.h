// Benchmarks of shape propagation, over numbers and over symbols.
#pragma once

#include <memory>
#include <vector>

#include "app/bench/cases.h"
#include "engine/ir/graph_module.h"

namespace kerf::bench {

/// The joint graph of a TORCH_TRACE log; NotFound if it holds none.
Result<std::shared_ptr<const GraphModule>> loadJointGraph(const std::filesystem::path& log);

/// Cases in the order in which they are shown. Their inputs lie below the corpus folder.
std::vector<BenchCase> shapeBenchCases();

}  // namespace kerf::bench
