// kerf bench --graphs: how long the interpreter takes for captured graphs, in their own precision and in fp64, and
// which ops the time goes to.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::bench {

struct GraphBenchOptions {
  std::vector<std::string> paths;  ///< files, or folders searched for repro .py files
  int repeats = 5;
  std::vector<std::string> precisions{"native", "f64"};
  bool profile = false;  ///< time by op besides
  std::string filter;    ///< only files whose path contains this
};

/// Time that all calls of one op took in one run.
struct OpTime {
  std::string target;
  double milliseconds = 0;
  int calls = 0;
};

struct GraphTime {
  std::string graph;  ///< path below the folder that was given
  std::string precision;
  double milliseconds = 0;  ///< median of the measured runs
  double fastest = 0;
  std::string skipped;      ///< why it was not measured
  std::vector<OpTime> ops;  ///< slowest first; only with `profile`
};

/// One row per graph and precision. Graphs that cannot run are reported as skipped.
Result<std::vector<GraphTime>> benchGraphs(const GraphBenchOptions& options, std::stop_token stop);

}  // namespace kerf::bench
