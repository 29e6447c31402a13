// TorchAnswer: what resources/torch_worker.py found out about one candidate.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline oracle {

/// What same() said of the first output that differs. Negative: it did not say.
struct TorchAccuracy {
  double compiledError = -1;   ///< RMSE of the compiled result against the fp64 reference
  double referenceError = -1;  ///< of eager's
  std::string shape;           ///< "2, 3"
  std::string dtype;           ///< "float32"; empty: not said
  std::string line;            ///< same()'s own words
};

struct TorchAnswer {
  enum class Kind { Passes, Fails, Untestable };
  Kind kind = Kind::Untestable;
  /// Of a failure: "compile", "run", "accuracy", "nan", "nondeterminism", "expression", "crash", "hang", "memory
  /// limit".
  std::string phase;
  std::string exception;              ///< class; of a crash the signal, "SIGSEGV"
  std::vector<std::string> wrappers;  ///< classes of the exceptions around it
  std::string message;                ///< why it is untestable, too
  std::vector<std::string> names;     ///< of ops and kernels in the message
  std::vector<std::string> frames;    ///< innermost first, "torch/_inductor/lowering.py:inner"
  std::optional<TorchAccuracy> accuracy;
  std::chrono::nanoseconds time{}, compileTime{}, runTime{};
};

/// Reads the worker's line of JSON; what it lacks stays empty. Internal when it is none.
Result<TorchAnswer> parseTorchAnswer(std::string_view json);

/// What stays the same of a failure while the graph around it shrinks: "compile:CppCompileError:error: …".
std::string torchFingerprint(const TorchAnswer& answer);

/// The answer for the search; `time` is the worker's.
Verdict verdictOf(const TorchAnswer& answer);

}  // namespace kerf::inline minifier::inline oracle
