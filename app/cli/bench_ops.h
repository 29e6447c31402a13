// kerf bench --ops: one call of every op family and dtype at a medium size, through the op table as graphs call it.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/bench_cases.h"
#include "engine/tensor/dtype.h"

namespace kerf::cli {

struct OpBenchCase {
  std::string name;       ///< "add.f32"
  std::string family;     ///< "pointwise"
  double bytes = 0;       ///< moved by one call, inputs and outputs
  double operations = 0;  ///< floating-point operations of one call, where they are what counts
  Result<BenchWork> (*prepare)(const OpBenchCase& bench);
  std::size_t op = 0;  ///< row of the table in bench_ops.cpp
  DType dtype = DType::Float32;
};

/// Every family × dtype.
const std::vector<OpBenchCase>& opBenchCases();

/// Measures the cases whose name contains `filter` and prints a table, or JSON: {"ops": [{"name", "family", "ms",
/// "gb_s", "gflop_s"}]}.
Result<int> runOpBench(const std::string& filter, int repeats, bool json, std::stop_token stop);

}  // namespace kerf::cli
