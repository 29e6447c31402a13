// kerf bench --ops: one call of every op family and dtype at a medium size, through the op table as graphs call it.
#pragma once

#include <string>
#include <vector>

#include "app/bench/cases.h"
#include "engine/tensor/dtype.h"

namespace kerf::bench {

struct OpBenchCase {
  std::string name;       ///< "add.f32"
  std::string family;     ///< "pointwise"
  double bytes = 0;       ///< moved by one call, inputs and outputs
  double operations = 0;  ///< floating-point operations of one call, where they are what counts
  Result<BenchWork> (*prepare)(const OpBenchCase& bench);
  std::size_t op = 0;  ///< row of the table in ops.cpp
  DType dtype = DType::Float32;
};

/// Every family × dtype.
const std::vector<OpBenchCase>& opBenchCases();

/// Milliseconds of one call, the median of `repeats` (at least three) after one that is not measured.
Result<double> medianTime(const OpBenchCase& bench, int repeats);

}  // namespace kerf::bench
