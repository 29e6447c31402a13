// StagePlan: the graphs that one compilation left behind, in the order of its stages, with a name for every value that
// goes in and out, and which stages have to agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline verification {

/// What of a compilation a graph computes. Whole: all of it, without gradients (inference, or a single graph).
enum class StagePart { Dynamo, Joint, Whole, Forward, Backward };

/// A value by what it stands for, the same in all stages: "in:3" and "tangent:0" of the inputs, "out:0", "grad:3",
/// "mutates:1" of the outputs, "saved:relu" of what the forward graph keeps for the backward graph; other outputs by
/// AOTAutograd's own description. Empty: an output that is None.
using Slot = std::string;

struct Stage {
  std::size_t graph = 0;  ///< index in Capture::graphs
  std::string name;       ///< "aot_joint_graph"; the graph's name in its capture
  StagePart part = StagePart::Whole;
  std::vector<Slot> inputs;   ///< by placeholder
  std::vector<Slot> outputs;  ///< by item of what it returns
};

/// Two neighbours. The joint graph's successor is two graphs, the forward and then the backward one.
struct StagePair {
  std::size_t before = 0;          ///< index in StagePlan::stages
  std::vector<std::size_t> after;  ///< one or two of them
};

/// A graph that cannot be read: a failure of its stage.
struct UnreadStage {
  std::string name, kind;  ///< in its capture; the stage it was recorded as
  std::string why;
  std::size_t next = 0;  ///< index in StagePlan::stages of the first one recorded behind it
};

struct StagePlan {
  std::string compile;  ///< compile id, folder or pass
  std::vector<Stage> stages;
  std::vector<StagePair> pairs;
  std::vector<UnreadStage> unread;
  std::vector<std::string> notes;  ///< graphs that take part in nothing, and why
};

/// One plan for each compile id of a log, each folder of a TORCH_COMPILE_DEBUG directory and each pass of a folder of
/// graph transforms. Parses the graphs; one that cannot be read is unread. `compile` ("[0/0]" or "0/0") chooses
/// one; NotFound, naming those that there are, when there is none of it.
Result<std::vector<StagePlan>> planStages(Capture& capture, std::string_view compile = {});

/// Plan of two graphs of equal signature: inputs by name where all names are the same, else by position.
/// ShapeMismatch when they take or give different numbers of values.
Result<StagePlan> planAgainst(const CapturedGraph& before, const CapturedGraph& after);

/// "Dynamo", "joint", …
std::string_view partName(StagePart part);
/// Items of what a graph returns, one where it returns no tuple.
ArgumentList returnedItems(const Graph& graph);

}  // namespace kerf::inline verification
