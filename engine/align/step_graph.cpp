#include "engine/align/step_graph.h"

#include <unordered_map>
#include <unordered_set>

#include "engine/align/step_writes.h"
#include "engine/ir/graph_copy.h"

namespace kerf::inline align {

namespace {

class StepCut {
 public:
  StepCut(const GraphModule& whole, const RecordedValue& recorded) : m_whole(whole), m_recorded(recorded) {}

  Result<StepGraph> run(NodeId node) {
    KERF_CHECK(collect(node));
    KERF_CHECK(checkWrites(node));
    for (const NodeId id : m_whole.graph.order())
      if (m_border.contains(id)) addInput(id);
    for (const NodeId id : m_whole.graph.order())
      if (m_inside.contains(id)) KERF_CHECK(addNode(id));
    ListArgument results;
    results.isTuple = true;
    results.items.emplace_back(m_map.at(node));
    m_cut.module.graph.output(Argument(std::move(results)));
    return std::move(m_cut);
  }

 private:
  Result<void> collect(NodeId node) {
    std::vector<NodeId> open{node};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (m_inside.contains(id) || m_border.contains(id)) continue;
      const Node& each = m_whole.graph.node(id);
      if (id != node)
        if (auto value = m_recorded(each.name())) {
          m_border.emplace(id, std::move(*value));
          continue;
        }
      KERF_CHECK(checkInside(each));
      m_inside.insert(id);
      const auto inputs = each.inputs();
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    return {};
  }

  /// A call that the cut leaves out must not have written into what the cut takes.
  Result<void> checkWrites(NodeId node) const {
    std::vector<NodeId> values;
    for (const NodeId id : m_whole.graph.order())
      if (id != node && (m_inside.contains(id) || m_border.contains(id))) values.push_back(id);
    const auto stale =
        StaleValues(m_whole).before(node, values, [this](NodeId call) { return m_inside.contains(call); });
    if (!stale) return {};
    return fail(ErrorCode::UnsupportedOp,
                "{} writes into the memory of {} before {} is called, and is no part of it: it is not run alone",
                m_whole.graph.node(stale->call).name(), m_whole.graph.node(stale->value).name(),
                m_whole.graph.node(node).name());
  }

  static Result<void> checkInside(const Node& node) {
    if (node.op() == Opcode::Placeholder)
      return fail(ErrorCode::NotFound, "the value of the input {} is not recorded", node.name());
    if (node.op() == Opcode::CallModule || node.op() == Opcode::Output)
      return fail(ErrorCode::UnsupportedOp, "{} calls a module or is none of a call: it is not run alone", node.name());
    if (node.target().find("higher_order") != std::string::npos)
      return fail(ErrorCode::UnsupportedOp, "{} calls nested graphs: it is not run alone", node.name());
    return {};
  }

  void addInput(NodeId id) {
    const Node& node = m_whole.graph.node(id);
    const NodeId made = m_cut.module.graph.placeholder(node.name());
    const Tensor& value = m_border.at(id);
    if (const TensorMeta* meta = node.meta().value.tensor(); meta != nullptr)
      m_cut.module.graph.setValueMeta(made, ValueMeta{*meta});
    m_cut.inputs.emplace_back(value);
    m_map.emplace(id, made);
  }

  Result<void> addNode(NodeId id) {
    const Node& node = m_whole.graph.node(id);
    if (node.op() == Opcode::GetAttr) {
      const TensorAttribute* attribute = m_whole.attribute(node.target());
      if (attribute == nullptr)
        return fail(ErrorCode::UnsupportedOp, "{} reads {}, which is no tensor", node.name(), node.target());
      if (m_cut.module.attribute(node.target()) == nullptr) m_cut.module.attributes.add(node.target(), *attribute);
    } else {
      m_cut.nodes.push_back(node.name());
    }
    m_map.emplace(
        id,
        copyNode(m_cut.module.graph, node, [this](NodeId input) { return Argument(m_map.at(input)); }, CopyName::Same));
    return {};
  }

  const GraphModule& m_whole;
  const RecordedValue& m_recorded;
  StepGraph m_cut;
  std::unordered_set<NodeId> m_inside;
  std::unordered_map<NodeId, Tensor> m_border;
  std::unordered_map<NodeId, NodeId> m_map;
};

}  // namespace

Result<StepGraph> stepGraph(const GraphModule& whole, const std::string& node, const RecordedValue& recorded) {
  const auto found = whole.graph.find(node);
  if (!found) return fail(ErrorCode::NotFound, "the graph has no node {}", node);
  return StepCut(whole, recorded).run(*found);
}

}  // namespace kerf::inline align
