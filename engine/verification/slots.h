// Slots: what the inputs and outputs of a recorded graph stand for, from AOTAutograd's descriptions of them and, in
// logs that have none, from their names and positions.
#pragma once

#include "engine/verification/stage_plan.h"

namespace kerf::inline verification {

/// What other stages of the compilation say about one graph's outputs.
struct SlotContext {
  std::size_t outputs = 0;  ///< of the user's function; as Dynamo returns them
  bool haveOutputs = false;
  const Graph* backward = nullptr;  ///< for a forward graph: what takes its saved values
};

/// Names of the placeholders' values. `attributes` are those of Dynamo's graph that are inputs of the later ones
/// (liftAttributes), in their order: "in:attr.weight". Where no description names them they come first.
std::vector<Slot> inputSlots(const GraphModule& module, StagePart part,
                             const std::vector<std::string>& attributes = {});
/// Names of the returned values.
std::vector<Slot> outputSlots(const GraphModule& module, StagePart part, const SlotContext& context);
/// Whether a placeholder is the gradient of an output.
bool isTangent(const Node& placeholder);

}  // namespace kerf::inline verification
