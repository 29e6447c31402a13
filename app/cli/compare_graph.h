// compareGraph(): what `kerf compare` does: compiled against interpreter and fp64, optionally node by node, and kept in
// the store.
#pragma once

#include "app/cli/compile_options.h"
#include "app/cli/graph_source.h"
#include "engine/passes/fault_plan.h"
#include "engine/pipeline/node_divergence.h"
#include "minifier/core/minify.h"

namespace kerf::cli {

struct CompareSettings {
  std::string backend = "llvm";
  std::vector<std::string> plants;  ///< as given to --plant
  PassArguments passes;
  double tolerance = 1e-3;
  bool nodes = false;
  std::chrono::milliseconds timeout{60'000};
};

struct CompareOutcome {
  ComparisonReport report;
  NodeDivergenceReport divergence;  ///< empty without settings.nodes
  std::chrono::nanoseconds time{};
  std::optional<std::int64_t> runId;  ///< in the store
  bool good() const { return report.same && report.failure.empty(); }
  /// Nodes where the fault starts.
  std::vector<std::string> firstBad() const;
};

Result<FaultPlan> parsePlants(const std::vector<std::string>& plants);

/// Loads shapes and inputs of the source and compares in a child process: a crash or hang is a failure in the report.
Result<CompareOutcome> compareGraph(Context& context, GraphSource& source, const CompareSettings& settings);

Json compareJson(const std::string& graph, const CompareSettings& settings, const CompareOutcome& outcome);
void printComparison(const CompareOutcome& outcome, bool allNodes);

}  // namespace kerf::cli
