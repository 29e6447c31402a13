// kerf bench --compiled: generated code beside the interpreter, run by turns: single kernels beside a copy of as many
// bytes, small enough for caches and beyond them, or whole captured graphs.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "engine/runtime/program.h"
#include "engine/support/result.h"

namespace kerf::bench {

struct CompiledBenchOptions {
  std::vector<std::string> graphs;  ///< "repro.py", "trace.log#aot_forward_graph"; none: the built-in kernels
  int repeats = 5;
  bool profile = false;  ///< time by kernel besides
  std::string filter;    ///< only names that contain this
  /// "llvm", or "cuda": times are the device's then, of runs that have their inputs there, beside its copy alone.
  std::string backend = "llvm";
};

/// Times are the fastest of the runs: of the processor with one thread (KERF_NUM_THREADS=1), else of the wall clock.
struct CompiledTime {
  std::string name;
  double compiledMs = 0;
  double interpretedMs = 0;       ///< 0: not measured, of what no cache holds and on a device
  double copyMs = 0;              ///< built-in kernels: moving the bytes they read and write, the faster of two ways
  double memcpyMs = 0;            ///< of them memcpy; 0: not measured, on a device
  std::int64_t bytes = 0;         ///< of operands and results
  double compileMs = 0;           ///< once
  std::vector<StepTime> kernels;  ///< slowest first; only with `profile`
  std::string skipped;            ///< why it was not measured
};

/// One row per kernel or graph. A graph that cannot run is reported as skipped.
Result<std::vector<CompiledTime>> benchCompiled(const CompiledBenchOptions& options, std::stop_token stop);

}  // namespace kerf::bench
