// Running one recorded stage: its values by name, and a print of every node's value.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/verification/shared_random.h"
#include "engine/verification/stage_plan.h"
#include "engine/verification/value_print.h"

namespace kerf::inline verification {

/// Wide: all floats are fp64 and casts between floats do nothing: stages that mean the same agree to 1e-10 or so,
/// however they round. Recorded: the graph's own dtypes.
enum class Arithmetic { Wide, Recorded };

using SlotValues = std::map<Slot, Value>;

struct StageRun {
  SlotValues values;                ///< outputs, and inputs that the graph writes into as "mutates:<i>"
  std::vector<ValuePrint> prints;   ///< by NodeId::index; of a list that of its first tensor
  RandomDraws draws;                ///< after the run
  std::set<std::string> subgraphs;  ///< nested graphs that ran, by path
  SlotValues kept;                  ///< by name of node: StageRunOptions::keep
  std::chrono::nanoseconds time{};
};

struct StageRunOptions {
  Arithmetic arithmetic = Arithmetic::Wide;
  RandomDraws draws = {};  ///< where the graph's random numbers begin
  bool prints = true;
  std::set<std::string> keep = {};  ///< nodes whose values are kept
  std::stop_token stop = {};
  /// Told how much of the graph has run, 0 to 1.
  std::function<void(double)> onProgress = {};
};

/// Runs a stage on copies of `inputs`, which hold a value for each of its input slots. NotFound naming a slot without a
/// value; else as Interpreter::run.
Result<StageRun> runStage(const Stage& stage, const GraphModule& module, const SlotValues& inputs,
                          const StageRunOptions& options);

/// Values of a stage's inputs in the order of its placeholders.
Result<ValueList> inputsOf(const Stage& stage, const SlotValues& values);

}  // namespace kerf::inline verification
