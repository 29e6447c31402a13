// Verifying a compilation: every recorded stage runs on the same inputs and is compared with the one before it.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/verification/changed_node.h"
#include "engine/verification/gradient_check.h"
#include "engine/verification/slot_verdict.h"
#include "engine/verification/stage_plan.h"

namespace kerf::inline verification {

struct PairVerdict {
  enum class Kind { Same, Identical, Different, NotCompared };
  Kind kind = Kind::Same;
  std::string before, after;          ///< names of the stages; "forward + backward" stages joined by " + "
  std::string why;                    ///< not compared: why; different: in a word
  std::vector<SlotVerdict> values;    ///< worst first
  std::vector<Slot> missing;          ///< values of the earlier stage that the later one does not give
  std::size_t nodes = 0, mapped = 0;  ///< of the later stage; with a counterpart of equal value
  std::vector<std::pair<std::string, std::string>> map;  ///< later and earlier node
  ChangedNode changed;
  std::string changedIn;  ///< the stage that `changed` is a node of
  std::optional<GradientCheck> gradients;
  std::chrono::nanoseconds time{};
};

struct CompileVerdict {
  std::string compile;
  std::vector<PairVerdict> pairs;
  std::string odd;  ///< a stage that differs from both neighbours, which agree with each other
  std::vector<std::string> notes;
  bool good() const;
};

struct VerifyOptions {
  double tolerance = 1e-7;  ///< of the relative error in fp64
  bool recorded = true;     ///< also run in the recorded dtypes
  bool exact = false;       ///< values in the recorded dtypes must be equal in their bits
  bool gradients = true;
  std::string stage;  ///< only pairs with this stage; empty: all
  std::stop_token stop = {};
  std::function<void(const std::string& what, double done)> onProgress = {};
};

/// Runs the pairs of a plan. `inputs` are the user's inputs and tangents by slot, in the recorded dtypes. A stage that
/// cannot run makes its pairs NotCompared; only Cancelled and what is wrong with the plan itself are errors.
Result<CompileVerdict> verifyStages(const Capture& capture, const StagePlan& plan, const SlotValues& inputs,
                                    const VerifyOptions& options = {});

/// "same", "identical", "different", "not compared".
std::string_view verdictName(PairVerdict::Kind kind);

}  // namespace kerf::inline verification
