#include "engine/audit/graph_claims.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/ops/core/memory_use.h"

namespace kerf::inline audit {
namespace {

/// Whose memory the nodes of a graph may look at, and which inputs they write.
class InputUses {
 public:
  struct Write {
    std::string node;
    bool isCertain = false;
  };

  explicit InputUses(const Graph& graph) : m_graph(graph) {
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (node.op() != Opcode::Placeholder && node.op() != Opcode::Output) follow(node);
      if (m_roots[id].empty()) m_roots[id] = {id};
    }
  }

  /// Whether two values may look at the same memory.
  bool mayShare(NodeId a, NodeId b) const {
    const auto first = m_roots.find(a), second = m_roots.find(b);
    if (first == m_roots.end() || second == m_roots.end()) return true;
    return std::ranges::any_of(first->second, [&](NodeId each) { return second->second.contains(each); });
  }

  const std::set<NodeId>& rootsOf(NodeId id) const {
    static const std::set<NodeId> none;
    const auto found = m_roots.find(id);
    return found == m_roots.end() ? none : found->second;
  }

  const Write* writeOf(NodeId input) const {
    const auto found = m_writes.find(input);
    return found == m_writes.end() ? nullptr : &found->second;
  }

 private:
  void follow(const Node& node) {
    const bool isKnown = findOp(node) != nullptr || node.target().find("getitem") != std::string::npos;
    if (!isKnown) {
      // A custom operator, a kernel that a user wrote, a graph of its own: it may write whatever it is given.
      for (const NodeId each : node.inputs()) written(node, each, false);
      for (const NodeId each : node.inputs()) share(node.id(), each);
      return;
    }
    forEachMemoryUse(node, [&](const Argument& argument, bool writes, bool shares) {
      if (const NodeId* const each = argument.as<NodeId>()) use(node, *each, writes, shares);
      if (const ListArgument* const list = argument.asList())
        for (const Argument& item : list->items)
          if (const NodeId* const each = item.as<NodeId>()) use(node, *each, writes, shares);
    });
  }

  void use(const Node& node, NodeId argument, bool writes, bool shares) {
    if (writes) written(node, argument, node.target().find("aten.copy_.") != std::string::npos);
    if (writes || shares) share(node.id(), argument);
  }

  void share(NodeId node, NodeId argument) {
    if (const auto from = m_roots.find(argument); from != m_roots.end()) {
      const std::set<NodeId> roots = from->second;
      m_roots[node].insert(roots.begin(), roots.end());
    }
  }

  void written(const Node& node, NodeId argument, bool isCertain) {
    const auto roots = m_roots.find(argument);
    if (roots == m_roots.end()) return;
    for (const NodeId root : roots->second) {
      Write& write = m_writes[root];
      if (write.node.empty() || isCertain) write = {node.name(), isCertain && roots->second.size() == 1};
    }
  }

  const Graph& m_graph;
  std::map<NodeId, std::set<NodeId>> m_roots;
  std::map<NodeId, Write> m_writes;
};

/// None where a size is a symbol.
std::optional<std::vector<std::int64_t>> fixedOf(const std::vector<Dim>& dims) {
  std::vector<std::int64_t> numbers;
  for (const Dim& each : dims) {
    if (!each.text.empty() || !each.hint) return std::nullopt;
    numbers.push_back(*each.hint);
  }
  return numbers;
}

std::optional<std::vector<std::int64_t>> fixedOf(const std::vector<SymInt>& sizes) {
  std::vector<std::int64_t> numbers;
  for (const SymInt& each : sizes) {
    if (each.isSymbolic()) return std::nullopt;
    numbers.push_back(std::int64_t(each));
  }
  return numbers;
}

class GraphClaims {
 public:
  GraphClaims(const FinishedRun& run, const GraphModule& graph, ClaimList& claims)
      : m_run(run), m_graph(graph.graph), m_claims(claims) {}

  void make() {
    const InputUses uses(m_graph);
    for (const NodeId id : m_graph.placeholders()) {
      const Node& node = m_graph.node(id);
      const AuditStorage* const storage = inputOf(node.name());
      if (storage == nullptr) continue;
      if (!isEmpty(node)) claimWrites(*storage, uses.writeOf(id));
      claimInput(*storage, node);
    }
    const std::vector<NodeId> outputs = results();
    for (std::size_t i = 0; i < outputs.size(); ++i) claimResult(i, outputs[i]);
    claimApart(outputs, uses);
  }

 private:
  const AuditStorage* inputOf(const std::string& name) const {
    const auto found = std::ranges::find_if(
        m_run.state.storages, [&](const AuditStorage& each) { return each.isInput && each.name == name; });
    return found == m_run.state.storages.end() ? nullptr : &*found;
  }

  /// Nothing can be written into it.
  static bool isEmpty(const Node& node) {
    const TensorMeta* const meta = node.meta().value.tensor();
    const auto sizes = meta == nullptr ? std::nullopt : fixedOf(meta->sizes);
    return sizes && std::ranges::find(*sizes, 0) != sizes->end();
  }

  void refute(ClaimAbout about, int line, std::string subject, std::string reason) {
    m_claims.add({about, ClaimVerdict::Refuted, line, 0, std::move(subject), std::move(reason), {}});
  }

  void claimWrites(const AuditStorage& storage, const InputUses::Write* write) {
    if (storage.mayBeWritten || m_run.hasBranches) return;
    if (write == nullptr) {
      // Its memory may be another buffer's by then, under another name.
      const auto own = std::ranges::find(storage.overwrites, storage.name, &OverwriteEvent::through);
      if (own == storage.overwrites.end()) return m_claims.proved(ClaimAbout::Aliases);
      return refute(ClaimAbout::Aliases, own->line, storage.name,
                    "it writes into an input that no node of the graph writes into");
    }
    if (storage.lastWrite != 0) return m_claims.proved(ClaimAbout::Aliases);
    if (write->isCertain)
      refute(ClaimAbout::Aliases, m_run.line, storage.name,
             fmt::format("the graph's {} writes into this input, and no statement does", write->node));
  }

  void claimInput(const AuditStorage& storage, const Node& node) {
    const TensorMeta* const meta = node.meta().value.tensor();
    if (meta == nullptr || storage.assertedLine == 0) return;
    const auto sizes = fixedOf(meta->sizes), strides = fixedOf(meta->strides);
    const auto given = fixedOf(storage.assertedSizes), steps = fixedOf(storage.assertedStrides);
    if (!sizes || !given || !steps) return;
    if (*sizes != *given)
      return refute(ClaimAbout::Nodes, storage.assertedLine, storage.name,
                    fmt::format("sizes ({}) are asserted, and the graph's input has ({})", fmt::join(*given, ", "),
                                fmt::join(*sizes, ", ")));
    bool isSame = true;
    for (std::size_t d = 0; strides && strides->size() == sizes->size() && d < sizes->size(); ++d)
      isSame = isSame && ((*sizes)[d] <= 1 || (*strides)[d] == (*steps)[d]);
    if (isSame) return m_claims.proved(ClaimAbout::Nodes);
    refute(ClaimAbout::Nodes, storage.assertedLine, storage.name,
           fmt::format("strides ({}) are asserted, and the graph's input has ({})", fmt::join(*steps, ", "),
                       fmt::join(*strides, ", ")));
  }

  std::vector<NodeId> results() const {
    std::vector<NodeId> nodes;
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      if (node.op() != Opcode::Output || node.args().empty()) continue;
      if (const NodeId* const one = node.args()[0].as<NodeId>()) return {*one};
      const ListArgument* const list = node.args()[0].asList();
      for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
        const NodeId* const each = list->items[i].as<NodeId>();
        nodes.push_back(each == nullptr ? NodeId{} : *each);
      }
    }
    return nodes;
  }

  void claimResult(std::size_t i, NodeId id) {
    const std::vector<WrapperValue>* const items = m_run.returned.items.get();
    if (items == nullptr || i >= items->size() || !(*items)[i].isTensor() || id == NodeId{}) return;
    const WrapperValue& value = (*items)[i];
    const Node& node = m_graph.node(id);
    const AuditStorage& storage = m_run.state.storages[std::size_t(value.tensor.storage)];
    const std::string subject = fmt::format("result {} ({})", i, value.name);
    if (node.op() == Opcode::Placeholder) claimReturned(subject, value, storage, node.name());
    if (const TensorMeta* const meta = node.meta().value.tensor()) claimNode(subject, value.tensor, *meta, node.name());
  }

  /// What is kept for the backward graph may be a copy that lies otherwise, as a convolution wants it.
  void claimReturned(const std::string& subject, const WrapperValue& value, const AuditStorage& storage,
                     const std::string& input) {
    if (storage.isInput && storage.name == input) return m_claims.proved(ClaimAbout::Aliases);
    const AuditStorage* const wanted = inputOf(input);
    if (wanted == nullptr || wanted->assertedLine == 0 || !value.tensor.hasLayout) return;
    const auto steps = fixedOf(value.tensor.strides), asserted = fixedOf(wanted->assertedStrides);
    if (steps && asserted && *steps == *asserted)
      refute(ClaimAbout::Aliases, m_run.line, subject, fmt::format("the graph returns its input {} here", input));
  }

  const WrapperValue* resultOf(std::size_t i) const {
    const std::vector<WrapperValue>* const items = m_run.returned.items.get();
    const bool isTensor =
        items != nullptr && i < items->size() && (*items)[i].isTensor() && (*items)[i].tensor.hasLayout;
    return isTensor ? &(*items)[i] : nullptr;
  }

  /// What a node copies or converts may be left where it is, where that changes nothing.
  bool isCopy(NodeId id, const InputUses& uses) const {
    const auto& looksAt = uses.rootsOf(id);
    return isCopy(id) || std::ranges::any_of(looksAt, [&](NodeId root) { return isCopy(root); });
  }
  bool isCopy(NodeId id) const {
    const std::string& target = m_graph.node(id).target();
    static constexpr std::array<std::string_view, 4> copies = {"convert_element_type", "copy", "clone", "contiguous"};
    return std::ranges::any_of(copies, [&](std::string_view each) { return target.find(each) != std::string::npos; });
  }

  /// Results of nodes that look at memory of their own have no element in common.
  void claimApart(const std::vector<NodeId>& outputs, const InputUses& uses) {
    std::map<int, std::vector<std::size_t>> byStorage;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (const WrapperValue* const value = resultOf(i); value != nullptr && outputs[i].valid())
        byStorage[value->tensor.storage].push_back(i);
    for (const auto& [storage, results] : byStorage)
      for (std::size_t k = 1; k < results.size() && k < 64; ++k)
        for (std::size_t i = 0; i < k; ++i) claimPair(results[i], results[k], outputs, uses);
  }

  void claimPair(std::size_t i, std::size_t j, const std::vector<NodeId>& outputs, const InputUses& uses) {
    if (outputs[i] == outputs[j] || uses.mayShare(outputs[i], outputs[j])) return m_claims.proved(ClaimAbout::Aliases);
    const WrapperValue& a = *resultOf(i);
    const WrapperValue& b = *resultOf(j);
    const ElementSet::Answer common = boxesMeet(a.tensor.box(), b.tensor.box());
    if (common.holds == false) return m_claims.proved(ClaimAbout::Aliases);
    if (common.holds != true || isCopy(outputs[i], uses) || isCopy(outputs[j], uses)) return;
    m_claims.add({ClaimAbout::Aliases, ClaimVerdict::Refuted, m_run.line, 0,
                  fmt::format("results {} ({}) and {} ({})", i, a.name, j, b.name),
                  fmt::format("they share memory, and the graph's {} and {} do not", m_graph.node(outputs[i]).name(),
                              m_graph.node(outputs[j]).name()),
                  fmt::format("element {}", common.element)});
  }

  void claimNode(const std::string& subject, const AuditTensor& tensor, const TensorMeta& meta,
                 const std::string& node) {
    const auto sizes = fixedOf(meta.sizes), given = fixedOf(tensor.sizes);
    const std::string type = elementType(dtypeInfo(meta.dtype).torchName);
    if (!tensor.type.empty() && !type.empty() && tensor.type != type)
      return refute(ClaimAbout::Nodes, m_run.line, subject,
                    fmt::format("it has {}, and the graph's {} has {}", tensor.type, node, type));
    if (!tensor.hasLayout || !sizes || !given) return;
    if (*sizes != *given)
      return refute(ClaimAbout::Nodes, m_run.line, subject,
                    fmt::format("it has sizes ({}), and the graph's {} has ({})", fmt::join(*given, ", "), node,
                                fmt::join(*sizes, ", ")));
    m_claims.proved(ClaimAbout::Nodes);
  }

  const FinishedRun& m_run;
  const Graph& m_graph;
  ClaimList& m_claims;
};

}  // namespace

void claimGraph(const FinishedRun& run, const GraphModule& graph, ClaimList& claims) {
  GraphClaims(run, graph, claims).make();
}

}  // namespace kerf::inline audit
