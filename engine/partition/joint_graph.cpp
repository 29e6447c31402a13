#include "engine/partition/joint_graph.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"
#include "engine/partition/joint_cleanup.h"
#include "engine/partition/storages.h"

namespace kerf::inline partition {

namespace {

constexpr std::int64_t assumedNumel = 4096;  ///< of a tensor whose sizes only data tell

std::int64_t bytesOf(const TensorMeta& meta) {
  const auto sizes = meta.concreteSizes();
  std::int64_t numel = sizes ? 1 : assumedNumel;
  if (sizes)
    for (const std::int64_t size : *sizes) numel *= size;
  return numel * itemSize(meta.dtype);
}

std::int64_t bytesOf(const ValueMeta& meta) {
  if (meta.tensor() != nullptr) return bytesOf(*meta.tensor());
  if (meta.sym() != nullptr) return 1;
  std::int64_t total = 0;
  if (meta.list() != nullptr)
    for (const ValueMeta& item : *meta.list()) total += item.tensor() ? bytesOf(*item.tensor()) : 0;
  return total;
}

bool givesFloat(const Node& node) {
  const std::string& target = node.target();
  return node.op() == Opcode::CallFunction && (target.ends_with(".sym_float") || target.ends_with("operator.truediv"));
}

bool isOpaque(const Node& node) {
  return node.op() == Opcode::Placeholder && !node.meta().value.known() && !node.meta().annotation.empty() &&
         !node.meta().annotation.contains('[');
}

SavedKind kindOf(const Node& node) {
  const ValueMeta& meta = node.meta().value;
  if (meta.tensor() != nullptr) return SavedKind::Tensor;
  if (meta.sym() != nullptr) return givesFloat(node) ? SavedKind::SymFloat : SavedKind::SymInt;
  return isOpaque(node) ? SavedKind::Opaque : SavedKind::Other;
}

bool lacksMeta(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const Node& node = graph.node(id);
    return node.op() == Opcode::CallFunction && !node.meta().value.known();
  });
}

/// What an input weighs decides what is saved.
Result<void> checkInputs(const Graph& graph) {
  for (const NodeId id : graph.placeholders()) {
    const Node& node = graph.node(id);
    if (node.meta().value.known() || isOpaque(node)) continue;
    Error error = formatError(ErrorCode::BadInput, "the graph does not say what {} is: its shape and dtype are missing",
                              fmt::make_format_args(node.name()));
    error.node = node.name();
    return std::unexpected(std::move(error));
  }
  return {};
}

Result<std::vector<Argument>> outputsOf(const Graph& graph) {
  if (!graph.outputNode().valid()) return fail(ErrorCode::BadInput, "the joint graph returns nothing");
  const Node& output = graph.node(graph.outputNode());
  const ListArgument* list = output.args().empty() ? nullptr : output.args()[0].asList();
  if (list == nullptr) return fail(ErrorCode::BadInput, "the joint graph must return a list of outputs and gradients");
  return list->items;
}

class Classifier {
 public:
  explicit Classifier(JointGraph& joint) : m_joint(joint) {}

  void run() {
    markInputs();
    markBackward();
    markForward();
    measureDistance();
  }

 private:
  std::vector<JointNode>& nodes() { return m_joint.nodes; }
  JointNode& at(int place) { return nodes()[std::size_t(place)]; }

  void markInputs() {
    for (const JointInput wanted : {JointInput::Primal, JointInput::ForwardSeed})
      for (int i = 0; i < int(nodes().size()); ++i) {
        const Node& node = m_joint.node(i);
        if (node.op() != Opcode::Placeholder || jointInputOf(node) != wanted) continue;
        at(i).isInput = true;
        m_joint.inputs.push_back(i);
      }
  }

  /// Whether a node may be in the forward graph: no tangent reaches it, and no tag keeps it out.
  bool mayBeForward(const JointNode& node) const {
    if (node.ofTangents || node.tags.inBackward) return false;
    return m_joint.module.graph.node(node.id).op() != Opcode::Placeholder || node.isInput;
  }

  void markBackward() {
    for (JointNode& node : nodes()) {
      const Node& fx = m_joint.module.graph.node(node.id);
      if (fx.op() == Opcode::Placeholder && jointInputOf(fx) == JointInput::Tangent) node.ofTangents = true;
      if (node.tags.inBackward) node.ofTangents = true;
      if (node.ofTangents)
        for (const int user : node.users) at(user).ofTangents = true;
    }
    const auto places = placesOf(m_joint.backwardOutputs);
    for (JointNode& node : nodes()) node.forBackward = node.ofTangents;
    for (const int place : places) at(place).forBackward = true;
    for (const int place : placesOf(m_joint.forwardOutputs)) at(place).isReturned = true;
    for (const int place : places) at(place).isReturned = true;
    m_joint.hasBackward = std::ranges::any_of(nodes(), &JointNode::forBackward);
  }

  void markForward() {
    std::vector<bool> valid(nodes().size()), needed(nodes().size());
    for (std::size_t i = 0; i < nodes().size(); ++i) {
      const JointNode& node = nodes()[i];
      valid[i] = mayBeForward(node) && std::ranges::all_of(node.inputs, [&](int in) { return valid[std::size_t(in)]; });
      const bool stays = node.isInput || node.tags.inForward || hasEffects(m_joint.module.graph.node(node.id));
      needed[i] = valid[i] && stays;
    }
    for (const int place : placesOf(m_joint.forwardOutputs)) needed[std::size_t(place)] = true;
    for (std::size_t i = nodes().size(); i-- > 0;)
      if (needed[i])
        for (const int in : nodes()[i].inputs) needed[std::size_t(in)] = true;
    int next = 0;
    for (std::size_t i = 0; i < nodes().size(); ++i)
      if (needed[i]) nodes()[i].forwardOrder = next++;
  }

  void measureDistance() {
    for (std::size_t i = nodes().size(); i-- > 0;) {
      JointNode& node = nodes()[i];
      node.distance = node.neededForward() ? neverInBackward : 0;
      if (!node.neededForward()) continue;
      for (const int user : node.users) node.distance = std::min(node.distance, at(user).distance + 1);
    }
  }

  std::vector<int> placesOf(const std::vector<Argument>& outputs) const {
    std::vector<int> places;
    for (const Argument& output : outputs)
      if (const NodeId* id = output.as<NodeId>()) places.push_back(placeOf(*id));
    return places;
  }
  int placeOf(NodeId id) const {
    const auto found = std::ranges::find(m_joint.nodes, id, &JointNode::id);
    return int(found - m_joint.nodes.begin());
  }

  JointGraph& m_joint;
};

void addNodes(JointGraph& joint, const std::vector<RecomputeTags>& tags, const std::vector<std::string>& staticInputs) {
  const Graph& graph = joint.module.graph;
  const std::vector<int> storages = storagesOf(graph);
  std::vector<int> places(storages.size(), -1);
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::Output) continue;
    places[id.index] = int(joint.nodes.size());
    JointNode& added = joint.nodes.emplace_back();
    added.id = id;
    added.kind = kindOf(node);
    added.classes = opClassOf(node);
    added.tags = tags[id.index];
    if (node.op() == Opcode::Placeholder && added.tags.policy == RecomputePolicy::PreferRecompute)
      added.tags.policy = RecomputePolicy::None;  // nothing makes it again
    added.bytes = bytesOf(node.meta().value);
    added.storage = storages[id.index];
    added.isStatic = std::ranges::count(staticInputs, node.name()) > 0;
    for (const NodeId input : node.inputs()) {
      added.inputs.push_back(places[input.index]);
      joint.nodes[std::size_t(places[input.index])].users.push_back(places[id.index]);
    }
    joint.hasRecompute = joint.hasRecompute || added.tags.recompute();
  }
}

/// The batch's size, as far as a shape tells; null: it has no sizes.
const Dim* firstSize(const Node& node) {
  const TensorMeta* tensor = node.meta().value.tensor();
  return tensor == nullptr || tensor->sizes.empty() ? nullptr : &tensor->sizes.front();
}

/// Whether a tensor's first size is other than that of every tangent, of which one has sizes: no batch then.
bool isNoBatch(const Graph& graph, const Node& primal) {
  const Dim* own = firstSize(primal);
  bool known = false;
  for (const NodeId id : graph.placeholders()) {
    if (jointInputOf(graph.node(id)) != JointInput::Tangent) continue;
    const Dim* other = firstSize(graph.node(id));
    known = known || other != nullptr;
    if (own != nullptr && other != nullptr && *own == *other) return false;
  }
  return known && primal.meta().value.tensor() != nullptr;
}

/// Names of the primals that seem to live on: those that get a gradient, as parameters do (the backward part returns
/// one value for each primal), and those that are no batch of data, as buffers.
std::vector<std::string> lastingInputs(const JointGraph& joint) {
  const Graph& graph = joint.module.graph;
  std::vector<std::string> names;
  std::size_t next = 0;
  for (const NodeId id : graph.placeholders()) {
    const Node& node = graph.node(id);
    if (jointInputOf(node) != JointInput::Primal || next == joint.backwardOutputs.size()) continue;
    if (!joint.backwardOutputs[next++].isNone() || isNoBatch(graph, node)) names.push_back(node.name());
  }
  return names;
}

/// What a text does not say: a copy_ into an input belongs to the side that computes what is copied.
void placeMutations(const Graph& graph, std::vector<RecomputeTags>& tags) {
  std::vector<bool> ofTangents(tags.size());
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool isTangent = node.op() == Opcode::Placeholder && jointInputOf(node) == JointInput::Tangent;
    const std::vector<NodeId> inputs = node.inputs();
    RecomputeTags& own = tags[id.index];
    ofTangents[id.index] = isTangent || own.inBackward ||
                           std::ranges::any_of(inputs, [&](NodeId input) { return ofTangents[input.index]; });
    if (own.inForward || own.inBackward || !node.isCall("torch.ops.aten.copy_.default"_op)) continue;
    (ofTangents[id.index] ? own.inBackward : own.inForward) = true;
  }
}

}  // namespace

JointInput jointInputOf(const Node& placeholder) {
  const std::string& name = placeholder.target();
  if (name.contains("tangents")) return JointInput::Tangent;
  if (name.contains("bwd_seed") || name.contains("bwd_base_offset")) return JointInput::BackwardSeed;
  if (name.contains("fwd_seed") || name.contains("fwd_base_offset")) return JointInput::ForwardSeed;
  return JointInput::Primal;
}

std::int64_t JointGraph::bytesOf(const std::vector<int>& places) const {
  std::int64_t total = 0;
  for (const int place : places) total += nodes[std::size_t(place)].bytes;
  return total;
}

Result<JointGraph> readJointGraph(GraphModule module, const JointOptions& options) {
  JointGraph joint;
  joint.module = std::move(module);
  KERF_CHECK(checkInputs(joint.module.graph));
  if (lacksMeta(joint.module.graph)) KERF_CHECK(propagateShapes(joint.module));
  if (options.cleans) cleanJointGraph(joint.module.graph);
  const Graph& graph = joint.module.graph;
  KERF_TRY(std::vector<Argument> outputs, outputsOf(graph));
  KERF_TRY(std::vector<RecomputeTags> tags, recomputeTags(graph, options.policies));
  placeMutations(graph, tags);
  const auto placeholders = graph.placeholders();
  const auto primals = std::size_t(std::ranges::count_if(
      placeholders, [&](NodeId id) { return jointInputOf(graph.node(id)) == JointInput::Primal; }));
  if (primals == placeholders.size())
    return fail(ErrorCode::BadInput, "a joint graph has placeholders named tangents_…; this one has none");
  const std::size_t forward = options.forwardOutputs.value_or(outputs.size() - std::min(primals, outputs.size()));
  if (forward > outputs.size() || (!options.forwardOutputs && primals > outputs.size()))
    return fail(ErrorCode::BadInput,
                "the graph returns {} values: too few for {} forward outputs and gradients of {} primals",
                outputs.size(), options.forwardOutputs.value_or(0), primals);
  joint.forwardOutputs.assign(outputs.begin(), outputs.begin() + std::ptrdiff_t(forward));
  joint.backwardOutputs.assign(outputs.begin() + std::ptrdiff_t(forward), outputs.end());
  addNodes(joint, tags, options.staticInputs ? *options.staticInputs : lastingInputs(joint));
  Classifier(joint).run();
  return joint;
}

}  // namespace kerf::inline partition
