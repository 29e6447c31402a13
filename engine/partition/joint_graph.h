// JointGraph: a joint forward and backward graph as the partitioner looks at it: nodes by their place in the order,
// what each weighs, and to which side it belongs (classify_nodes).
#pragma once

#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/partition/op_classes.h"
#include "engine/partition/recompute_tags.h"
#include "engine/support/result.h"

namespace kerf::inline partition {

/// What a node gives, as far as it matters for saving it.
enum class SavedKind : std::uint8_t {
  Tensor,
  SymInt,    ///< a symbolic integer or truth value
  SymFloat,  ///< never banned, never saved where it can be avoided
  Opaque,    ///< an object: weighs nothing
  Other,     ///< a tuple, a nested graph: cannot be saved
};

/// Farther than any path: no backward node depends on it.
constexpr int neverInBackward = 1'000'000'000;

struct JointNode {
  NodeId id;
  std::vector<int> inputs, users;  ///< places of nodes; the output node is no user
  SavedKind kind = SavedKind::Tensor;
  OpClass classes = OpClass::None;
  RecomputeTags tags;
  std::int64_t bytes = 0;
  int storage = -1;
  int forwardOrder = -1;           ///< among the nodes that the forward outputs need; -1: they do not need it
  int distance = neverInBackward;  ///< shortest path to a node that is not needed forward
  bool isInput = false;            ///< a primal, or a seed of the forward's random numbers
  bool isStatic = false;           ///< a parameter: free to save
  bool ofTangents = false;         ///< depends on a tangent: only the backward graph has it
  bool isReturned = false;         ///< by the joint graph: somebody reads it from memory
  bool forBackward = false;        ///< ofTangents, or returned by the backward graph

  bool neededForward() const { return forwardOrder >= 0; }
};

/// What kind of placeholder, by its name.
enum class JointInput : std::uint8_t { Primal, Tangent, ForwardSeed, BackwardSeed };
JointInput jointInputOf(const Node& placeholder);

struct JointGraph {
  GraphModule module;
  std::vector<JointNode> nodes;
  std::vector<int> inputs;  ///< primals, then seeds
  std::vector<Argument> forwardOutputs, backwardOutputs;
  bool hasBackward = false;   ///< some node needs a tangent or is returned by the backward graph
  bool hasRecompute = false;  ///< some node is tagged to be computed again

  const Node& node(int place) const { return module.graph.node(nodes[std::size_t(place)].id); }
  const std::string& name(int place) const { return node(place).name(); }
  std::int64_t bytesOf(const std::vector<int>& places) const;
};

struct JointOptions {
  /// Outputs of the forward part. Unset: all but the last ones, of which there is one for each primal.
  std::optional<std::size_t> forwardOutputs;
  /// Primals that live on anyway (parameters, buffers), which are free to save. Unset: those that get a gradient, and
  /// tensors whose first size is not that of a tangent, the batch's: texts do not say what is a parameter or a buffer.
  std::optional<std::vector<std::string>> staticInputs;
  RecomputePolicies policies;
  bool cleans = true;  ///< dead nodes go, equal calls are merged; default_partition takes the graph as it is
};

/// `module` has placeholders "primals_…" and "tangents_…" and returns outputs, then gradients. Missing metas are found
/// by the shape rules. BadInput where it has no tangents or primals, too few outputs or inputs of unknown shape.
Result<JointGraph> readJointGraph(GraphModule module, const JointOptions& options);

}  // namespace kerf::inline partition
