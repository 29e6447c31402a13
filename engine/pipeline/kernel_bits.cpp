#include "engine/pipeline/kernel_bits.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/capture/common/wrapper_code.h"
#include "engine/pipeline/fused_nodes.h"

namespace kerf::inline pipeline {

namespace {

constexpr std::string_view bitCauseNames[] = {
    "rounding between fused ops",
    "fused multiply-add",
    "order of sums",
    "elementary functions of another library",
    "another algorithm of the product",
    "one op for several of eager mode",
    "one kernel in eager mode",
    "division that is not correctly rounded",
    "several roundings in one op",
    "atomic additions",
    "random numbers",
    "unknown op",
};

/// What an op is a reason for by itself, by rule; none for what IEEE 754 settles.
constexpr std::optional<BitCause> causesOfRules[] = {
    std::nullopt,        std::nullopt,      std::nullopt,     BitCause::Approximation,
    BitCause::Functions, BitCause::Several, BitCause::Sums,   BitCause::Products,
    BitCause::Atomics,   BitCause::Random,  BitCause::Unknown};
static_assert(std::size(causesOfRules) == std::size_t(lastOf(BitRule())) + 1);

std::optional<BitCause> bitCauseOf(BitRule rule, const CodeRules& code) {
  if (rule == BitRule::Divided && !code.approximates) return std::nullopt;
  return causesOfRules[std::size_t(rule)];
}

/// The reasons of one kernel, node by node.
class KernelBitsReader {
 public:
  KernelBitsReader(const Graph& graph, const CodeRules& code, const std::vector<NodeId>& nodes, const EagerOps& eager)
      : m_graph(graph), m_code(code), m_nodes(nodes), m_members(nodes.begin(), nodes.end()), m_eager(eager) {}

  void fill(KernelBits& bits) {
    for (const NodeId id : m_nodes) {
      const Node& node = m_graph.node(id);
      bits.nodes.push_back(node.name());
      const BitRule rule = bitRule(m_graph, node);
      if (m_code.generated) {
        readCode(node, rule);
      } else if (rule == BitRule::Random || rule == BitRule::Atomics) {
        add(*causesOfRules[std::size_t(rule)], node);
      } else if (rule == BitRule::Products || rule == BitRule::Unknown) {
        bits.condition = "where the library takes the algorithm that it takes for eager mode";
      }
    }
    readEagerOps();
    for (std::size_t cause = 0; cause < m_found.size(); ++cause)
      if (!m_found[cause].empty())
        bits.reasons.push_back({std::string(bitCauseNames[cause]), std::move(m_found[cause]), m_details[cause]});
  }

 private:
  void readCode(const Node& node, BitRule rule) {
    if (const auto cause = bitCauseOf(rule, m_code)) add(*cause, node);
    if (m_code.contracts) readMultiplyAdd(node);
    if (m_code.keepsWide) readWidth(node, rule);
  }

  /// Both in the registers of one kernel, whatever their dtype.
  void readMultiplyAdd(const Node& node) {
    if (!isOf(node, {"add", "sub", "rsub"}) || !isFloat(node)) return;
    for (const NodeId input : node.inputs()) {
      const Node& product = behindViews(input);
      if (!m_members.contains(product.id()) || !isOf(product, {"mul", "square"}) || !isFloat(product)) continue;
      add(BitCause::MultiplyAdd, product);
      add(BitCause::MultiplyAdd, node);
    }
  }

  /// What a value of this kernel is computed by: a view is nothing in registers, and a sign is part of the product.
  const Node& behindViews(NodeId id) const {
    const Node* node = &m_graph.node(id);
    while (m_members.contains(node->id()) && !node->inputs().empty() &&
           isOf(*node, {"view", "_unsafe_view", "reshape", "expand", "permute", "transpose", "t", "squeeze",
                        "unsqueeze", "slice", "select", "alias", "clone", "neg"}))
      node = &m_graph.node(node->inputs().front());
    return *node;
  }

  /// A value that was computed and not rounded shows where it is computed with, compared, or given as float32.
  void readWidth(const Node& node, BitRule rule) {
    bool wide = false;
    for (const NodeId input : node.inputs()) wide = wide || m_wide.contains(input);
    const bool narrow = isNarrowFloat(node);
    if (wide && (rule != BitRule::Exact || !narrow))
      for (const NodeId input : node.inputs())
        if (m_wide.contains(input)) add(BitCause::KeptWide, m_graph.node(input));
    if (narrow && (rule != BitRule::Exact ? rule != BitRule::Steps : wide)) m_wide.insert(node.id());
  }

  /// Calls that round, of one op of eager mode that is another. One alone is what that op does.
  void readEagerOps() {
    std::map<std::string_view, std::vector<const Node*>> parts;
    for (const NodeId id : m_nodes) {
      const Node& node = m_graph.node(id);
      const auto op = m_eager.find(node.name());
      const BitRule rule = bitRule(m_graph, node);
      if (op == m_eager.end() || op->second.empty()) continue;
      readJoinedOps(node, op->second);
      if (rule != BitRule::Exact && rule != BitRule::Steps) parts[op->second.front().name].push_back(&node);
    }
    for (const auto& [op, nodes] : parts) {
      if (nodes.size() < 2) continue;
      for (const Node* node : nodes) add(BitCause::OtherOp, *node);
      std::string& detail = m_details[std::size_t(BitCause::OtherOp)];
      detail += fmt::format("{}{}", detail.empty() ? "" : ", ", op);
    }
  }

  /// Eager mode rounds what each of the ops gives; of all but the last nothing is left here that could be.
  void readJoinedOps(const Node& node, const std::vector<EagerOp>& ops) {
    if (std::ranges::count_if(ops, &EagerOp::rounds) < 2) return;
    add(BitCause::JoinedOps, node);
    std::string& detail = m_details[std::size_t(BitCause::JoinedOps)];
    for (const EagerOp& op : ops)
      if (op.rounds) detail += (detail.empty() ? "" : ", ") + op.name;
  }

  static bool isOf(const Node& node, std::initializer_list<std::string_view> names) {
    std::string_view target = node.target();
    if (const auto at = target.find("aten."); at != std::string_view::npos) target.remove_prefix(at + 5);
    target = target.substr(0, target.find('.'));
    return std::ranges::find(names, target) != names.end();
  }

  static bool isFloat(const Node& node) {
    const TensorMeta* tensor = node.meta().value.tensor();
    return tensor == nullptr || !isIntegral(tensor->dtype);
  }

  void add(BitCause cause, const Node& node) {
    if (m_seen.emplace(cause, node.id().index).second) m_found[std::size_t(cause)].push_back(node.name());
  }

  static constexpr std::size_t causes = std::size_t(lastOf(BitCause())) + 1;
  const Graph& m_graph;
  const CodeRules& m_code;
  const std::vector<NodeId>& m_nodes;
  const std::unordered_set<NodeId> m_members;
  const EagerOps& m_eager;
  std::unordered_set<NodeId> m_wide;  ///< 16-bit values that the kernel has in float32
  std::array<std::vector<std::string>, causes> m_found;
  std::set<std::pair<BitCause, std::uint32_t>> m_seen;
  std::array<std::string, causes> m_details;
};

/// Calls that the group of an existing function names.
std::vector<NodeId> namedCallsOf(const Graph& graph, const RecordedFusionGroup& group) {
  std::vector<NodeId> nodes;
  for (const std::string& name : group.postGradNodes)
    if (const auto id = graph.find(name); id && graph.node(*id).op() == Opcode::CallFunction) nodes.push_back(*id);
  return nodes;
}

}  // namespace

std::string_view bitCauseName(BitCause cause) { return bitCauseNames[std::size_t(cause)]; }

std::vector<KernelBits> kernelBits(const Graph& graph, std::span<const RecordedFusionGroup> groups,
                                   const EagerOps& eager, bool own) {
  const FusedGraph fused = fusedNodes(graph, groups);
  std::unordered_map<std::size_t, const FusedNodes*> generated;
  for (const FusedNodes& kernel : fused.kernels) generated.emplace(kernel.group, &kernel);
  std::vector<KernelBits> rows;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].kernel.empty()) continue;  // nodes before fusion
    const auto found = generated.find(g);
    const bool isGenerated = isGeneratedKernel(groups[g].kernel);
    const CodeRules& code = isGenerated && own ? ownCode() : recordedCode(groups[g].kernel);
    KernelBits bits;
    bits.kernel = groups[g].kernel;
    bits.code = code.name;
    const auto nodes = found != generated.end() ? found->second->nodes
                       : isGenerated            ? std::vector<NodeId>()
                                                : namedCallsOf(graph, groups[g]);
    bits.known = !nodes.empty();
    KernelBitsReader(graph, code, nodes, eager).fill(bits);
    rows.push_back(std::move(bits));
  }
  return rows;
}

}  // namespace kerf::inline pipeline
