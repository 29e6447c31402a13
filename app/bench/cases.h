// BenchCases: what `kerf bench` and the Google Benchmark executable measure, as plain functions.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::bench {

/// One measured piece of work, ready to be run any number of times.
using BenchWork = std::function<Result<void>()>;

struct BenchCase {
  std::string name;
  std::string what;           ///< one line for people
  double targetMilliseconds;  ///< 0: no target
  std::string input;          ///< path below the corpus folder; empty: needs no file
  /// Loads what the work needs (not measured).
  Result<BenchWork> (*prepare)(const std::filesystem::path& input);
  /// Another program on the same input, measured beside it in the same run; null: none.
  Result<BenchWork> (*beside)(const std::filesystem::path& input) = nullptr;
};

/// All cases, in the order in which they are shown.
const std::vector<BenchCase>& benchCases();

}  // namespace kerf::bench
