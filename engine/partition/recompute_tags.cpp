#include "engine/partition/recompute_tags.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "engine/partition/op_classes.h"

namespace kerf::inline partition {

namespace {

struct PolicyName {
  std::string_view name;
  RecomputePolicy policy;
};
constexpr PolicyName policyNames[] = {{"must_save", RecomputePolicy::MustSave},
                                      {"prefer_save", RecomputePolicy::PreferSave},
                                      {"must_recompute", RecomputePolicy::MustRecompute},
                                      {"prefer_recompute", RecomputePolicy::PreferRecompute}};

std::string_view recorded(const Node& node, std::string_view key) {
  for (const auto& [name, text] : node.meta().extra)
    if (name == key) return text;
  return {};
}

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"')) return text.substr(1, text.size() - 2);
  return text;
}

int regionOf(const Node& node) {
  const std::string_view text = recorded(node, "ac_graph_id");
  int region = 0;
  std::from_chars(text.data(), text.data() + text.size(), region);
  return region;
}

class Tagging {
 public:
  explicit Tagging(const Graph& graph) : m_graph(graph) {
    std::uint32_t last = 0;
    for (const NodeId id : graph.order()) last = std::max(last, id.index);
    m_tags.resize(last + 1);
  }

  Result<std::vector<RecomputeTags>> run(const RecomputePolicies& given) {
    for (const NodeId id : m_graph.order()) read(m_graph.node(id));
    for (const auto& [name, policy] : given) {
      const auto id = m_graph.find(name);
      if (!id) return fail(ErrorCode::NotFound, "the joint graph has no node {}", name);
      of(*id).policy = policy;
    }
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      if (of(id).recompute()) endRegion(node);
      if (has(opClassOf(node), OpClass::Collective) && !of(id).recompute()) of(id).policy = RecomputePolicy::MustSave;
    }
    saveSourcesOfMutations();
    return std::move(m_tags);
  }

 private:
  RecomputeTags& of(NodeId id) { return m_tags[id.index]; }

  void read(const Node& node) {
    RecomputeTags& tags = of(node.id());
    tags.policy = policyFromName(unquoted(recorded(node, "recompute"))).value_or(RecomputePolicy::None);
    if (node.op() == Opcode::Placeholder) return;  // its name says whose it is
    const std::string_view place = unquoted(recorded(node, "partitioner_tag"));
    tags.inForward = place == "must_be_in_forward";
    tags.inBackward = place == "must_be_in_backward" ||
                      (place == "is_backward" && node.target() == "torch.ops.higher_order.with_effects");
  }

  /// The boundary between two checkpointed regions, or of one whose gradient a hook looks at.
  void endRegion(const Node& node) {
    const auto checkpointed = [&](NodeId user) { return of(user).recompute(); };
    const bool boundary = std::ranges::any_of(
        node.users(), [&](NodeId user) { return checkpointed(user) && regionOf(m_graph.node(user)) > regionOf(node); });
    const bool hooked = unquoted(recorded(node, "has_backward_hook")) == "True";
    if (boundary || (hooked && std::ranges::none_of(node.users(), checkpointed)))
      of(node.id()).policy = RecomputePolicy::MustSave;
  }

  /// An input that forward and backward both write must not get the forward's value twice. AOTAutograd has its copy_
  /// calls at the end of the graph.
  void saveSourcesOfMutations() {
    std::set<NodeId> writtenInBackward;
    const auto order = m_graph.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = m_graph.node(*id);
      if (node.op() == Opcode::Output) continue;
      if (!node.isCall("torch.ops.aten.copy_.default"_op) || node.args().size() < 2) break;
      const NodeId *into = node.args()[0].as<NodeId>(), *source = node.args()[1].as<NodeId>();
      if (into == nullptr || source == nullptr) continue;
      if (of(*id).inBackward) writtenInBackward.insert(*into);
      if (of(*id).inForward && writtenInBackward.contains(*into)) of(*source).policy = RecomputePolicy::MustSave;
    }
  }

  const Graph& m_graph;
  std::vector<RecomputeTags> m_tags;
};

}  // namespace

std::optional<RecomputePolicy> policyFromName(std::string_view name) {
  constexpr std::string_view prefix = "CheckpointPolicy.";
  const std::size_t at = name.find(prefix);
  if (at != name.npos) name = name.substr(at + prefix.size());
  std::string lower(name.substr(0, name.find_first_of(":>")));  // repr() of the enum: "<CheckpointPolicy.MUST_SAVE: 0>"
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  const auto found = std::ranges::find(policyNames, lower, &PolicyName::name);
  if (found == std::end(policyNames)) return {};
  return found->policy;
}

Result<std::vector<RecomputeTags>> recomputeTags(const Graph& graph, const RecomputePolicies& given) {
  return Tagging(graph).run(given);
}

}  // namespace kerf::inline partition
