#include "engine/partition/joint_sides.h"

#include <map>

#include "engine/partition/joint_cleanup.h"
#include "engine/partition/storages.h"

namespace kerf::inline partition {

namespace {

std::unexpected<Error> noSide(const JointGraph& joint, int place, std::string message) {
  Error error = formatError(ErrorCode::BadInput, "{}", fmt::make_format_args(message));
  error.node = joint.name(place);
  return std::unexpected(std::move(error));
}

/// By place: the first node that keeps it out of the forward part, itself or one that it needs; -1: none does.
std::vector<int> blockers(const JointGraph& joint) {
  std::vector<int> blocker(joint.nodes.size(), -1);
  for (std::size_t i = 0; i < joint.nodes.size(); ++i) {
    const JointNode& node = joint.nodes[i];
    const bool isOther = joint.node(int(i)).op() == Opcode::Placeholder && !node.isInput;
    if (isOther || node.tags.inBackward) blocker[i] = int(i);
    for (const int input : node.inputs)
      if (blocker[i] < 0) blocker[i] = blocker[std::size_t(input)];
  }
  return blocker;
}

/// "mul, which needs tangents_1, an input of the backward part".
std::string explained(const JointGraph& joint, int place, int blocker) {
  const std::string what = joint.nodes[std::size_t(blocker)].tags.inBackward ? "which must be in the backward part"
                                                                             : "an input of the backward part";
  if (place == blocker) return fmt::format("{}, {}", joint.name(place), what);
  return fmt::format("{}, which needs {}, {}", joint.name(place), joint.name(blocker), what);
}

/// Forward and backward graph have other orders than the joint graph: nothing may read what a call before it wrote.
Result<void> checkWrites(const JointGraph& joint) {
  std::map<int, int> writers;  // by storage
  for (int place = 0; place < int(joint.nodes.size()); ++place) {
    const bool writes = writesMemory(joint.node(place));
    const auto& inputs = joint.nodes[std::size_t(place)].inputs;
    for (std::size_t i = writes ? 1 : 0; i < inputs.size(); ++i) {  // what is written may be written again
      const int input = inputs[i];
      const auto writer = writers.find(joint.nodes[std::size_t(input)].storage);
      if (writer == writers.end()) continue;
      return noSide(joint, place,
                    fmt::format("{} reads {} behind {}, which writes it: a joint graph writes inputs at its end alone",
                                joint.name(place), joint.name(input), joint.name(writer->second)));
    }
    const int storage = joint.nodes[std::size_t(place)].storage;
    if (writes && storage != noStorage) writers.emplace(storage, place);
  }
  return {};
}

}  // namespace

std::unexpected<Error> elementApart(const JointGraph& joint, int element, int tuple) {
  return noSide(joint, element,
                fmt::format("{} must be in the backward part, but {}, a tuple that cannot be saved, in the forward",
                            joint.name(element), joint.name(tuple)));
}

Result<void> checkSides(const JointGraph& joint) {
  KERF_CHECK(checkWrites(joint));
  const std::vector<int> blocker = blockers(joint);
  for (int place = 0; place < int(joint.nodes.size()); ++place) {
    const JointNode& node = joint.nodes[std::size_t(place)];
    const int blocking = blocker[std::size_t(place)];
    if (node.tags.inForward && blocking >= 0)
      return noSide(joint, place, "must_be_in_forward is said of " + explained(joint, place, blocking));
    if (joint.node(place).op() == Opcode::Placeholder && node.tags.recompute())
      return noSide(joint, place, joint.name(place) + " is an input, which nothing computes again");
    if (node.tags.inForward && node.tags.policy == RecomputePolicy::MustRecompute)
      return noSide(joint, place,
                    joint.name(place) + " must be in the forward part and be computed again, in the other");
    const bool isFixed = node.tags.inForward || node.tags.mustSave() || has(node.classes, OpClass::Random);
    if (node.kind == SavedKind::Other && isFixed)
      for (const int user : node.users)
        if (joint.nodes[std::size_t(user)].tags.inBackward) return elementApart(joint, user, place);
    for (const Argument& output : joint.forwardOutputs)
      if (const NodeId* id = output.as<NodeId>(); id != nullptr && *id == node.id && blocking >= 0)
        return noSide(joint, place, "the forward part returns " + explained(joint, place, blocking));
  }
  return {};
}

}  // namespace kerf::inline partition
