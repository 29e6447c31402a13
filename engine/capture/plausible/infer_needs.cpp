#include "engine/capture/plausible/infer_needs.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <unordered_set>

#include "engine/capture/plausible/nested_operands.h"
#include "engine/capture/plausible/use_rules.h"
#include "engine/capture/plausible/value_steps.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t maximumPlaces = 4000;
constexpr std::size_t nearPlaces = 64;  ///< that every input may be followed to, however many there are
constexpr int maximumDepth = 8;

/// A value that says something of the input: scale * input + offset, or, not `exact`, what grows with it.
struct Reached {
  const GraphModule* module = nullptr;
  NodeId node;
  ValueStep from;
  std::ptrdiff_t item = -1;  ///< of a list: which of its items
  int depth = 0;             ///< of nested graphs
  std::string path;          ///< "true_graph_0/"
};

class NeedSearch {
 public:
  explicit NeedSearch(ListPlaces& lists) : m_lists(lists) {}

  ValueNeed run(const GraphModule& module, NodeId start) {
    const TensorMeta* meta = module.graph.node(start).meta().value.tensor();
    m_isIndexLike = meta != nullptr && isIntegral(meta->dtype) && meta->dtype != DType::Bool;
    push({&module, start, {}, -1, 0, {}});
    while (!m_open.empty()) {  // the nearest uses first: where needs contradict each other, they count
      const Reached place = std::move(m_open.front());
      m_open.pop_front();
      const std::vector<NodeId> users = place.module->graph.node(place.node).users();
      for (const NodeId user : users) visit(place, place.module->graph.node(user));
    }
    if (m_isIndexLike && m_need.unknown() && indexesSomehow(module, start)) {
      m_need.pattern = ValueNeed::Pattern::Zero;
      m_need.reasons.emplace_back("an index is computed from it");
    }
    return std::move(m_need);
  }

 private:
  void push(Reached place) {
    const bool isNear = m_count < nearPlaces;
    if (m_count++ < maximumPlaces && (m_lists.takePlace() || isNear) &&
        m_seen.emplace(place.module, place.node.index, place.item).second)
      m_open.push_back(std::move(place));
  }

  void visit(const Reached& place, const Node& user) {
    if (user.op() == Opcode::Output || isOtherItem(place, user)) return;
    if (isHigherOrder(user)) return enter(place, user);
    const std::vector<std::string_view> names = argumentNames(user);
    UseSite site{place.module->graph, user, baseOpName(user), {}, place.node, names, -1};
    for (std::size_t i = 0; i < user.args().size(); ++i) {
      site.argument = i < names.size() ? names[i] : std::string_view();
      visitArgument(place, site, user.args()[i]);
    }
    for (const auto& [name, value] : user.kwargs()) {
      site.argument = name;
      visitArgument(place, site, value);
    }
  }

  /// Item 3 of a list is not what item 2 was.
  static bool isOtherItem(const Reached& place, const Node& user) {
    if (place.item < 0 || baseOpName(user) != "getitem" || user.args().size() < 2) return false;
    const auto* index = user.args()[1].as<std::int64_t>();
    return index != nullptr && *index != place.item;
  }

  void visitArgument(const Reached& place, UseSite& site, const Argument& argument) {
    site.item = -1;
    if (argument == Argument(place.node)) return visitUse(place, site);
    const ListArgument* list = argument.asList();
    if (list == nullptr) return;
    for (const std::size_t i : m_lists.of(*list, place.node)) {
      site.item = std::ptrdiff_t(i);
      visitUse(place, site);
    }
  }

  void visitUse(const Reached& place, const UseSite& site) {
    for (const UseRule* rule : rulesOf(site.op)) {
      const bool named = rule->argument == site.argument || (rule->argument == "self" && isSelf(site.argument)) ||
                         (rule->argument == "other" && site.argument == "b");
      if (!named || (!place.from.exact && !rule->bySign)) continue;
      if (auto need = rule->make(site, *rule)) add(place, site, std::move(*need));
    }
    if (const auto step = stepThrough(site)) follow(place, site, *step);
  }

  static bool isSelf(std::string_view name) { return name == "input" || name == "a"; }

  void add(const Reached& place, const UseSite& site, ValueNeed need) {
    for (std::string& reason : need.reasons)
      reason = fmt::format("{} ({} at {}{})", reason, site.op, place.path, site.node.name());
    m_need.meet(place.from.exact ? need.before(place.from.scale, place.from.offset) : need);
  }

  void follow(const Reached& place, const UseSite& site, const ValueStep& step) {
    Reached next{place.module, site.node.id(), {}, -1, place.depth, place.path};
    next.from.scale = place.from.scale * step.scale;
    next.from.offset = place.from.offset * step.scale + step.offset;
    next.from.exact = place.from.exact && step.exact;
    const bool isForeach = site.node.target().find("_foreach_") != std::string::npos;
    next.item = isForeach ? site.item : -1;
    // What decreases with the input does not become positive with it.
    if (!next.from.exact && (place.from.scale < 0 || step.scale < 0)) return;
    push(std::move(next));
  }

  void enter(const Reached& place, const Node& user) {
    if (place.depth >= maximumDepth) return;
    for (const NestedOperand& operand : nestedOperands(*place.module, user, place.node)) {
      const std::vector<NodeId> placeholders = operand.module->graph.placeholders();
      if (operand.position >= placeholders.size()) continue;
      push({operand.module, placeholders[operand.position], place.from, -1, place.depth + 1,
            place.path + operand.path + "/"});
    }
    if (!operandsOfCalledOp(user).empty()) visitCalledOp(place, user);
  }

  /// auto_functionalized(op, x=…): the op's own arguments, by name.
  void visitCalledOp(const Reached& place, const Node& user) {
    for (const auto& [name, value] : user.kwargs()) {
      UseSite site{place.module->graph, user, operandsOfCalledOp(user), name, place.node, {}, -1};
      visitArgument(place, site, value);
    }
  }

  /// Whether anything computed from `start` indexes something; comparisons end the way, for they give masks.
  static bool indexesSomehow(const GraphModule& module, NodeId start) {
    const Graph& graph = module.graph;
    std::unordered_set<NodeId> seen{start};
    std::vector<NodeId> open{start};
    while (!open.empty() && seen.size() < maximumPlaces) {
      const NodeId value = open.back();
      open.pop_back();
      for (const NodeId id : graph.node(value).users()) {
        if (indexes(graph, graph.node(id), value)) return true;
        const TensorMeta* meta = graph.node(id).meta().value.tensor();
        const bool ends = meta != nullptr && (meta->dtype == DType::Bool || isFloating(meta->dtype));
        if (!ends && seen.insert(id).second) open.push_back(id);
      }
    }
    return false;
  }

  static bool indexes(const Graph& graph, const Node& user, NodeId value) {
    const std::vector<std::string_view> names = argumentNames(user);
    for (std::size_t i = 0; i < std::min(names.size(), user.args().size()); ++i) {
      const bool isIndex = names[i] == "index" || names[i] == "indices" || names[i] == "target";
      bool mentioned = false;
      forEachNode(user.args()[i], [&](NodeId id) { mentioned = mentioned || id == value; });
      if (isIndex && mentioned) return true;
    }
    (void)graph;
    return false;
  }

  ListPlaces& m_lists;
  ValueNeed m_need;
  std::deque<Reached> m_open;
  std::set<std::tuple<const GraphModule*, std::uint32_t, std::ptrdiff_t>> m_seen;
  std::size_t m_count = 0;
  bool m_isIndexLike = false;
};

}  // namespace

ValueNeed needOfNode(const GraphModule& module, NodeId node) {
  ListPlaces lists;
  return needOfNode(module, node, lists);
}

ValueNeed needOfNode(const GraphModule& module, NodeId node, ListPlaces& lists) {
  return NeedSearch(lists).run(module, node);
}

}  // namespace kerf::inline capture
