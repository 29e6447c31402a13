// FaultPlan: faults planted on purpose in the compiled side only, as PyTorch's inject_relu_bug_TESTING_ONLY does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline passes {

enum class FaultKind { Accuracy, CompileError, RuntimeError, Crash, Hang, Flaky };

/// "accuracy", "compile_error", …
std::string_view faultKindName(FaultKind kind);

struct Fault {
  bool onPass = false;  ///< true: `subject` is a pass name; false: an op base name ("relu") or "aten.relu.default"
  std::string subject;
  FaultKind kind = FaultKind::Accuracy;
  double probability = 1;             ///< Flaky only: chance of an accuracy fault in one run
  std::vector<std::string> others{};  ///< ops, named as `subject`, without which in the same graph nothing is planted
  /// Whether a call_function target is hit ("torch.ops.aten.relu.default" by "relu").
  bool hits(std::string_view target) const;
  /// "relu", "relu+sigmoid", "pass:cse"
  std::string subjectText() const;
};

struct FaultPlan {
  std::vector<Fault> faults;
  bool empty() const { return faults.empty(); }
  const Fault* forTarget(std::string_view target) const;
  const Fault* forPass(std::string_view pass) const;
  /// "relu=accuracy": stable text for cache keys and the store.
  std::string text() const;
};

/// Parses one `--plant` value: OP=KIND, OP+OP=KIND (in the first, where a graph calls all of them), pass:NAME=KIND, KIND
/// among accuracy, compile_error, runtime_error, crash, hang, flaky:P.
Result<Fault> parseFault(std::string_view text);

/// Whether a call of `op` ("relu", "aten.relu", "aten.relu.default") is one of `target`.
bool namesTarget(std::string_view op, std::string_view target);

}  // namespace kerf::inline passes
