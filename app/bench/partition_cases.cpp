#include "app/bench/partition_cases.h"

#include "app/bench/shape_cases.h"
#include "engine/partition/partition.h"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;

/// Reading the joint graph, the cut and both graphs, as a compilation pays for them.
Result<BenchWork> prepare(const fs::path& log, double budget) {
  KERF_TRY(const auto joint, loadJointGraph(log));
  return BenchWork([joint, budget]() -> Result<void> {
    KERF_CHECK(partitionJoint(*joint, {}, budget));
    return {};
  });
}

Result<BenchWork> prepareFastest(const fs::path& log) { return prepare(log, 1); }
Result<BenchWork> prepareHalf(const fs::path& log) { return prepare(log, 0.5); }
Result<BenchWork> prepareKnapsack(const fs::path& log) { return prepare(log, 0.2); }

/// Another budget for a joint graph that was read before, as a slider asks for it.
Result<BenchWork> prepareAnother(const fs::path& log) {
  KERF_TRY(const auto joint, loadJointGraph(log));
  KERF_TRY(auto read, Partitioner::read(*joint, {}));
  const auto partitioner = std::make_shared<Partitioner>(std::move(read));
  KERF_CHECK(partitioner->at(0.5));
  return BenchWork([partitioner]() -> Result<void> {
    KERF_CHECK(partitioner->at(0.2));
    return {};
  });
}

}  // namespace

std::vector<BenchCase> partitionBenchCases() {
  static const std::string convnext = "traces/convnext_seed/dedicated_log_torch_trace_3_asr7uc.log";
  return {{"partition_convnext", "partition of a joint graph of 3,557 nodes", 100, convnext, prepareFastest},
          {"partition_convnext_half", "the same with half of the memory", 1000, convnext, prepareHalf},
          {"partition_convnext_fifth", "the same with a fifth: a knapsack", 1000, convnext, prepareKnapsack},
          {"partition_convnext_again", "another budget for the same graph", 300, convnext, prepareAnother}};
}

}  // namespace kerf::bench
