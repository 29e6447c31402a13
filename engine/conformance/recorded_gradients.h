// Gradient and jvp columns on PyTorch's recorded op calls, against central differences.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline conformance {

struct OverloadGradients {
  std::string op;
  std::string family;  ///< folder of engine/ops
  int checked = 0;     ///< calls whose gradients and jvps agree with differences
  int constant = 0;    ///< calls through which nothing flows, and differences are zero
  int failed = 0;
  int missing = 0;  ///< calls of ops without a rule
  int skipped = 0;
  int complexChecked = 0;  ///< of `checked` those that agree on complex arguments as well
  double gradientError = 0;
  double jvpError = 0;
  double dualError = 0;
  std::vector<std::string> failures;  ///< "id: what differs", the first few
};

struct GradientConformanceReport {
  std::vector<OverloadGradients> overloads;  ///< sorted by family and name
  std::map<std::string, int> skipped;        ///< calls by reason
  std::map<std::string, int> missing;        ///< calls by the op that has no rule
  int calls = 0;
  int checked = 0;
  int constant = 0;
  int failed = 0;
  bool complete() const { return failed == 0 && missing.empty(); }
};

/// `path` as for checkRecordedCalls. Every call is checked in float64 (checkByDifferences), in complex128 where the op
/// computes complex numbers, and in its own dtypes for the form of its gradients (checkForms).
Result<GradientConformanceReport> checkRecordedGradients(const std::filesystem::path& path);

}  // namespace kerf::inline conformance
