// checkCall(): what every backend must say to a call, after what the interpreter says to it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/support/fields.h"
#include "tests/differential/wrongcalls/call_case.h"

namespace kerf::wrongcalls {

struct CheckResult {
  bool refused = false;               ///< by the interpreter
  bool compiled = false;              ///< an accepted call that was compiled
  std::vector<std::string> problems;  ///< "llvm: accepts what the interpreter refuses: …"
  std::string refusal;                ///< the interpreter's words
};

struct CheckOptions {
  Surroundings surroundings = Surroundings::Alone;
  Annotation annotation = Annotation::None;
  bool compilesAccepted = false;  ///< calls that the interpreter takes are compiled and compared, too
};

/// Runs in this process. `onStep` hears what begins ("llvm").
CheckResult checkCall(const CallCase& call, const CheckOptions& options,
                      const std::function<void(std::string_view step)>& onStep = {});

/// What the interpreter says to the call; empty where it takes it.
std::string refusalOf(const CallCase& call);

}  // namespace kerf::wrongcalls
