#include "engine/distributed/graphs/collective_passes.h"

#include <algorithm>
#include <map>

#include "engine/autograd/pure_forms.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_registry.h"
#include "engine/passes/post_grad/collective_bucketing.h"

namespace kerf::inline distributed::inline graphs {
namespace {

bool isWait(const Node& node) { return node.isCall("_c10d_functional.wait_tensor.default"_op); }

bool startsCollective(const Node& node) {
  return node.op() == Opcode::CallFunction && node.target().find("_c10d_functional.") != std::string::npos &&
         !isWait(node);
}

std::optional<Tensor> knownTensor(const Graph& graph, NodeId node) {
  const auto value = valueOf(graph.node(node).meta().value);
  if (!value || !value->isTensor() || value->tensor().isSymbolic()) return std::nullopt;
  return value->tensor();
}

/// Writes one bucket's call and the pieces of its result.
class BucketWriter {
 public:
  BucketWriter(Graph& graph, const CollectiveBucket& bucket) : m_graph(graph), m_bucket(bucket) {}

  Result<void> write() {
    for (const NodeId call : m_bucket.calls) {
      const auto* input = m_graph.node(call).args()[0].as<NodeId>();
      const auto from = input != nullptr ? knownTensor(m_graph, *input) : std::nullopt;
      const auto to = knownTensor(m_graph, call);
      if (!from || !to || (!m_inputs.empty() && from->dtype() != m_inputs[0].dtype())) return {};
      m_inputs.push_back(*from);
      m_outputs.push_back(*to);
    }
    const InsertionScope scope(m_graph, InsertionScope::Where::Before, m_bucket.calls[0]);
    const NodeId joined = joinedInputs();
    const Node& first = m_graph.node(m_bucket.calls[0]);
    ArgumentList args = first.args();
    args[0] = Argument(joined);
    const std::string target = first.target();
    const NodeId one = m_graph.callFunction(target, std::move(args), first.kwargs());
    const NodeId done = call("_c10d_functional.wait_tensor.default", {Argument(one)});
    return give(done);
  }

 private:
  static constexpr std::int64_t all = -1;
  NodeId call(const char* op, ArgumentList args) {
    return m_graph.callFunction(std::string("torch.ops.") + op, std::move(args));
  }
  static Argument sizesArgument(const Sizes& sizes) {
    ArgumentList items;
    for (const std::int64_t size : sizes) items.emplace_back(size);
    return Argument::list(std::move(items));
  }
  bool scatters() const { return m_bucket.op == "_c10d_functional.reduce_scatter_tensor.default"_op; }
  bool gathers() const { return m_bucket.op == "_c10d_functional.all_gather_into_tensor.default"_op; }

  /// Flat, one behind the other; of a scatter what each rank gets is together.
  NodeId joinedInputs() {
    const bool inRows = scatters();
    ArgumentList flat;
    for (std::size_t i = 0; i < m_inputs.size(); ++i) {
      const Sizes sizes = inRows ? Sizes{m_bucket.ranks, all} : Sizes{all};
      const Argument input = m_graph.node(m_bucket.calls[i]).args()[0];
      flat.emplace_back(call("aten.reshape.default", {input, sizesArgument(sizes)}));
    }
    const NodeId cat =
        call("aten.cat.default", {Argument::list(std::move(flat)), Argument(std::int64_t{inRows ? 1 : 0})});
    return inRows ? call("aten.reshape.default", {Argument(cat), sizesArgument({all})}) : cat;
  }

  Result<void> give(NodeId result) {
    const bool inRows = gathers();
    if (inRows) result = call("aten.reshape.default", {Argument(result), sizesArgument({m_bucket.ranks, all})});
    std::int64_t at = 0;
    for (std::size_t i = 0; i < m_outputs.size(); ++i) {
      const std::int64_t elements = m_outputs[i].numel() / (inRows ? m_bucket.ranks : 1);
      const NodeId slice = call("aten.slice.Tensor", {Argument(result), Argument(std::int64_t{inRows ? 1 : 0}),
                                                      Argument(at), Argument(at + elements)});
      at += elements;
      const NodeId piece = call("aten.reshape.default", {Argument(slice), sizesArgument(m_outputs[i].sizes())});
      KERF_CHECK(replace(m_bucket.calls[i], piece));
    }
    return {};
  }

  /// Where it was waited for, the piece is there already.
  Result<void> replace(NodeId old, NodeId piece) {
    const auto users = m_graph.node(old).users();
    for (const NodeId user : std::vector<NodeId>(users.begin(), users.end())) {
      if (!isWait(m_graph.node(user))) continue;
      m_graph.replaceAllUsesWith(user, piece);
      KERF_CHECK(m_graph.eraseNode(user));
    }
    m_graph.replaceAllUsesWith(old, piece);
    return m_graph.eraseNode(old);
  }

  Graph& m_graph;
  const CollectiveBucket& m_bucket;
  std::vector<Tensor> m_inputs, m_outputs;
};

bool writesOperands(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const OpInfo* op = findOp(graph.node(id).target());
    return graph.node(id).op() == Opcode::CallFunction && (op == nullptr || mayWrite(*op)) &&
           !startsCollective(graph.node(id));
  });
}

std::map<NodeId, std::size_t> placesOf(const Graph& graph) {
  std::map<NodeId, std::size_t> places;
  for (const NodeId id : graph.order()) places.emplace(id, places.size());
  return places;
}

Result<void> bucketUsual(GraphModule& module) { return bucketCollectives(module); }

constexpr CollectivePass allPasses[] = {
    {"collectives bucketed", bucketUsual}, {"waits sunk", sinkWaits}, {"collectives started early", raiseCollectives}};

}  // namespace

std::span<const CollectivePass> collectivePasses() { return allPasses; }

Result<void> bucketCollectives(GraphModule& module, std::int64_t maxBytes) {
  for (const CollectiveBucket& bucket : collectiveBuckets(module.graph, maxBytes))
    KERF_CHECK(BucketWriter(module.graph, bucket).write());
  KERF_CHECK(module.graph.topologicalSort());
  return module.graph.lint();
}

Result<void> sinkWaits(GraphModule& module) {
  Graph& graph = module.graph;
  if (writesOperands(graph)) return {};
  const auto places = placesOf(graph);
  std::vector<NodeId> waits;
  for (const NodeId id : graph.order())
    if (isWait(graph.node(id)) && !graph.node(id).users().empty()) waits.push_back(id);
  std::ranges::reverse(waits);  // a wait for a wait goes first
  for (const NodeId wait : waits) {
    const auto users = graph.node(wait).users();
    graph.moveBefore(wait, *std::ranges::min_element(users, {}, [&](NodeId user) { return places.at(user); }));
  }
  return graph.lint();
}

Result<void> raiseCollectives(GraphModule& module) {
  Graph& graph = module.graph;
  if (writesOperands(graph)) return {};
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  NodeId last{};
  for (const NodeId id : order) {
    if (!startsCollective(graph.node(id))) continue;
    auto places = placesOf(graph);
    NodeId after = last;
    for (const NodeId input : graph.node(id).inputs())
      if (!after.valid() || places.at(input) > places.at(after)) after = input;
    last = id;
    if (!after.valid()) continue;
    if (graph.node(after).op() == Opcode::Placeholder) after = graph.placeholders().back();
    const std::vector<NodeId> now(graph.order().begin(), graph.order().end());
    const NodeId next = now[places.at(after) + 1];
    if (next != id) graph.moveBefore(id, next);
  }
  return graph.lint();
}

}  // namespace kerf::inline distributed::inline graphs
