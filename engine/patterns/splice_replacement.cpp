// Copying a replacement into a graph.
#include "engine/patterns/splice_replacement.h"

#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "engine/ir/graph_copy.h"
#include "engine/ir/value_meta.h"
#include "engine/passes/node_facts.h"
#include "engine/patterns/replacement_order.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline patterns {

namespace {

bool isRowMajor(const TensorMeta& meta) {
  const auto sizes = meta.concreteSizes(), strides = meta.concreteStrides();
  return sizes && strides && *strides == contiguousStrides(*sizes);
}

class Splice {
 public:
  Splice(GraphModule& module, const MatchedPattern& match, const GraphModule& replacement)
      : m_module(module), m_graph(module.graph), m_match(match), m_replacement(replacement) {}

  Result<void> check() {
    KERF_CHECK(bindPlaceholders());
    const ArgumentList results = resultsOf(m_replacement.graph);
    KERF_CHECK(checkResults(results));
    std::string problem = orderProblem(m_graph, m_match, m_replacement.graph, m_values, results);
    if (!problem.empty()) return fail(ErrorCode::BadInput, "{}", problem);
    return {};
  }

  Result<std::vector<NodeId>> run() {
    KERF_CHECK(check());
    const ArgumentList results = resultsOf(m_replacement.graph);
    const NodeId place = firstResult();
    copyCalls(place);
    for (std::size_t i = 0; i < results.size(); ++i) replaceResult(m_match.outputs[i], results[i], place);
    KERF_CHECK(eraseMatched());
    return std::move(m_made);
  }

 private:
  static ArgumentList resultsOf(const Graph& graph) {
    const Argument& value = graph.node(graph.outputNode()).args()[0];
    const ListArgument* list = value.asList();
    return list == nullptr ? ArgumentList{value} : list->items;
  }

  Result<void> bindPlaceholders() {
    for (const NodeId id : m_replacement.graph.placeholders()) {
      const std::string& name = m_replacement.graph.node(id).name();
      const Argument* value = m_match.find(name);
      if (value == nullptr) {
        if (m_replacement.graph.node(id).users().empty()) continue;
        return fail(ErrorCode::BadInput, "the replacement uses {}, which the pattern does not bind", name);
      }
      m_values.insert_or_assign(id, *value);
    }
    return {};
  }

  Result<void> checkResults(const ArgumentList& results) const {
    std::size_t wanted =
        m_match.outputs.size();  // numbers that were tensors in the example have no gradient at the end
    while (wanted > results.size() && !m_match.outputs[wanted - 1].valid()) --wanted;
    if (results.size() != wanted)
      return fail(ErrorCode::BadInput, "the pattern has {} results, its replacement {}", wanted, results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const NodeId old = m_match.outputs[i];
      KERF_CHECK(checkMeta(old, results[i]));
      if (old.valid() && results[i].isNone() && !m_graph.node(old).users().empty())
        return fail(ErrorCode::BadInput, "result {} of the pattern has no replacement", m_graph.node(old).name());
    }
    return {};
  }

  /// A result keeps its dtype and sizes.
  Result<void> checkMeta(NodeId old, const Argument& result) const {
    const NodeId* id = result.as<NodeId>();
    if (!old.valid() || id == nullptr) return {};
    const TensorMeta* before = m_graph.node(old).meta().value.tensor();
    const TensorMeta* after = m_replacement.graph.node(*id).meta().value.tensor();
    if (before == nullptr || after == nullptr) return {};
    if (before->dtype != after->dtype)
      return fail(ErrorCode::BadInput, "{} is {}, its replacement would be {}", m_graph.node(old).name(),
                  dtypeInfo(before->dtype).torchName, dtypeInfo(after->dtype).torchName);
    if (before->sizes == after->sizes) return {};
    return fail(ErrorCode::BadInput, "the replacement of {} would have other sizes", m_graph.node(old).name());
  }

  NodeId firstResult() const {
    const std::unordered_set<NodeId> outputs(m_match.outputs.begin(), m_match.outputs.end());
    for (const NodeId id : m_graph.order())
      if (outputs.contains(id)) return id;
    return m_match.nodes.back();
  }

  Argument mapped(const Argument& argument) const {
    return mapNodes(argument, [&](NodeId id) { return m_values.at(id); });
  }

  void copyCalls(NodeId place) {
    const InsertionScope scope(m_graph, InsertionScope::Where::Before, place);
    for (const NodeId id : m_replacement.graph.order()) {
      const Node& node = m_replacement.graph.node(id);
      if (node.op() == Opcode::Placeholder || node.op() == Opcode::Output) continue;
      const NodeId made = copyNode(m_graph, node, [this](NodeId input) { return m_values.at(input); });
      if (node.op() == Opcode::GetAttr) m_graph.setTarget(made, copiedAttribute(node.target()));
      describe(made, node.meta().value, place);
      m_values.insert_or_assign(id, made);
    }
  }

  std::string copiedAttribute(const std::string& path) {
    const TensorAttribute* attribute = m_replacement.attribute(path);
    std::string free = path;
    for (int i = 0; m_module.attribute(free) != nullptr; ++i) free = fmt::format("{}_{}", path, i);
    if (attribute != nullptr) m_module.attributes.add(free, *attribute);
    return free;
  }

  /// A new node is where the match was, and comes from all of it.
  void describe(NodeId made, ValueMeta value, NodeId place) {
    NodeMeta meta;
    const NodeMeta& like = m_graph.node(place).meta();
    meta.value = std::move(value);
    meta.sourceFile = like.sourceFile;
    meta.sourceLine = like.sourceLine;
    meta.stackTrace = like.stackTrace;
    meta.modulePath = like.modulePath;
    for (const NodeId from : m_match.nodes)
      for (std::string& name : provenance(m_graph.node(from)))
        if (std::ranges::find(meta.fromNodes, name) == meta.fromNodes.end()) meta.fromNodes.push_back(std::move(name));
    m_graph.setMeta(made, std::move(meta));
    m_made.push_back(made);
  }

  void replaceResult(NodeId old, const Argument& result, NodeId place) {
    if (!old.valid() || result.isNone()) return;
    const Argument value = mapped(result);
    const NodeId* node = value.as<NodeId>();
    if (node == nullptr || *node == old) return;
    const NodeId by = inLayoutOf(old, *node, place);
    const std::unordered_set<NodeId> made(m_made.begin(), m_made.end());
    m_graph.replaceAllUsesWith(old, by, [&made](const Node& user) { return !made.contains(user.id()); });
  }

  NodeId inLayoutOf(NodeId old, NodeId by, NodeId place) {
    const TensorMeta* before = m_graph.node(old).meta().value.tensor();
    const TensorMeta* after = m_graph.node(by).meta().value.tensor();
    if (before == nullptr || after == nullptr || !isRowMajor(*before) || isRowMajor(*after)) return by;
    const InsertionScope scope(m_graph, InsertionScope::Where::Before, place);
    const NodeId clone = m_graph.callFunction("torch.ops.aten.clone.default", {by},
                                              {{"memory_format", MemoryFormat::Contiguous}}, "clone");
    describe(clone, ValueMeta{*before}, place);
    return clone;
  }

  /// Users first; what others than the match use stays.
  Result<void> eraseMatched() {
    std::unordered_set<NodeId> left(m_match.nodes.begin(), m_match.nodes.end());
    for (bool erased = true; erased && !left.empty();) {
      erased = false;
      for (const NodeId id : m_match.nodes) {
        if (!left.contains(id) || !m_graph.node(id).users().empty()) continue;
        KERF_CHECK(m_graph.eraseNode(id));
        left.erase(id);
        erased = true;
      }
    }
    return {};
  }

  GraphModule& m_module;
  Graph& m_graph;
  const MatchedPattern& m_match;
  const GraphModule& m_replacement;
  NodeArguments m_values;
  std::vector<NodeId> m_made;
};

}  // namespace

Result<void> checkReplacement(GraphModule& module, const MatchedPattern& match, const GraphModule& replacement) {
  return Splice(module, match, replacement).check();
}

Result<std::vector<NodeId>> spliceReplacement(GraphModule& module, const MatchedPattern& match,
                                              const GraphModule& replacement) {
  return Splice(module, match, replacement).run();
}

}  // namespace kerf::inline patterns
