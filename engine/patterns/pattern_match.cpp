// The matcher: one try of one pattern at one node, operands left to right.
#include "engine/patterns/pattern_match.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/printer.h"
#include "engine/patterns/call_arguments.h"

namespace kerf::inline patterns {

namespace {

std::optional<double> numberOf(const Argument& argument) {
  if (const auto* boolean = argument.as<bool>()) return *boolean ? 1.0 : 0.0;
  if (const auto* integer = argument.as<std::int64_t>()) return double(*integer);
  if (const auto* real = argument.as<double>()) return *real;
  return std::nullopt;
}

bool sameItems(const ArgumentList& a, const ArgumentList& b) { return std::ranges::equal(a, b, sameLiteral); }

std::string opNames(const PatternExpr& pattern) {
  std::vector<std::string_view> names;
  for (const OpId op : pattern.ops) names.push_back(opName(op));
  return fmt::format("{}", fmt::join(names, " or "));
}

class Matcher {
 public:
  Matcher(const Graph& graph, const Pattern& pattern) : m_graph(graph), m_pattern(*pattern) {
    const bool several = m_pattern.kind == PatternKind::MultiOutput;
    for (const Pattern& result : several ? m_pattern.operands : std::vector<Pattern>{pattern})
      if (result) m_results.insert(result.get());
  }

  std::expected<MatchedPattern, Mismatch> at(NodeId node) {
    m_at = node;
    m_deepest = {node, "", 0};
    if (!expression(m_pattern, node)) return std::unexpected(std::move(m_deepest));
    MatchedPattern match = std::move(m_state.match);
    if (m_pattern.kind == PatternKind::MultiOutput)
      for (const Pattern& result : m_pattern.operands) match.outputs.push_back(result ? standsFor(*result) : NodeId());
    else
      match.outputs.push_back(node);
    return match;
  }

 private:
  /// What was found so far; kept to go back to where there are several ways to go on.
  struct State {
    MatchedPattern match;
    std::unordered_map<const PatternExpr*, Argument> known;
    std::unordered_set<NodeId> exclusive;
    std::size_t entered = 0;  ///< calls of the right op, whether or not their operands were seen to fit
  };

  NodeId standsFor(const PatternExpr& pattern) const {
    const auto known = m_state.known.find(&pattern);
    const NodeId* node = known == m_state.known.end() ? nullptr : known->second.as<NodeId>();
    return node == nullptr ? NodeId() : *node;
  }

  std::string shown(const Argument& value) const { return printArgument(m_graph, value, ArgumentStyle::Python); }

  /// Keeps the mismatch that came after most calls.
  bool mismatch(NodeId node, std::string reason) {
    const std::size_t entered = m_state.entered;
    if (m_deepest.reason.empty() || entered > m_deepest.matched) m_deepest = {node, std::move(reason), entered};
    return false;
  }

  bool expression(const PatternExpr& pattern, const Argument& value) {
    if (pattern.kind == PatternKind::Ignored) return true;
    if (const auto known = m_state.known.find(&pattern); known != m_state.known.end()) {
      if (known->second == value) return true;
      return mismatch(m_at,
                      fmt::format("{} stands where the pattern has {} again", shown(value), shown(known->second)));
    }
    if (!ofKind(pattern, value)) return false;
    m_state.known.insert_or_assign(&pattern, value);
    return true;
  }

  bool ofKind(const PatternExpr& pattern, const Argument& value) {
    switch (pattern.kind) {
      case PatternKind::Call:
        return call(pattern, value);
      case PatternKind::Keyword:
        return keyword(pattern, value);
      case PatternKind::Positional:
        m_state.match.positional.push_back(value);
        return true;
      case PatternKind::Ignored:
        return true;
      case PatternKind::Literal:
        return literalValue(pattern, value);
      case PatternKind::List:
        return list(pattern, value);
      case PatternKind::ListOf:
        return listOfItems(pattern, value);
      case PatternKind::MultiOutput:
        return severalResults(pattern, value);
      case PatternKind::Repeated:
        return repeated(pattern, value);
    }
    return false;
  }

  bool keyword(const PatternExpr& pattern, const Argument& value) {
    const NodeId* node = value.as<NodeId>();
    if (pattern.exclusive && node != nullptr && !m_state.exclusive.insert(*node).second)
      return mismatch(m_at,
                      fmt::format("{} would be {}, which must be a value of its own", shown(value), pattern.name));
    if (const Argument* before = m_state.match.find(pattern.name)) {
      if (*before == value) return true;
      return mismatch(m_at, fmt::format("{} is {} here and {} elsewhere", pattern.name, shown(value), shown(*before)));
    }
    m_state.match.named.emplace_back(pattern.name, value);
    return true;
  }

  bool literalValue(const PatternExpr& pattern, const Argument& value) {
    if (sameLiteral(pattern.literal, value)) return true;
    return mismatch(m_at, fmt::format("{}{} is {}, the pattern has {}", m_graph.node(m_at).name(),
                                      m_argument.empty() ? "" : fmt::format(": {}", m_argument), shown(value),
                                      shown(pattern.literal)));
  }

  bool list(const PatternExpr& pattern, const Argument& value) {
    const ListArgument* items = value.asList();
    if (items == nullptr || items->items.size() != pattern.operands.size())
      return mismatch(m_at, fmt::format("{}: {} stands where the pattern has a list of {}", m_graph.node(m_at).name(),
                                        shown(value), pattern.operands.size()));
    for (std::size_t i = 0; i < pattern.operands.size(); ++i)
      if (!expression(*pattern.operands[i], items->items[i])) return false;
    return true;
  }

  bool listOfItems(const PatternExpr& pattern, const Argument& value) {
    const ListArgument* items = value.asList();
    if (items == nullptr || items->items.empty())
      return mismatch(
          m_at, fmt::format("{}: {} stands where the pattern has a list", m_graph.node(m_at).name(), shown(value)));
    const State before = m_state;
    std::vector<std::pair<std::string, ArgumentList>> bundled;
    std::vector<NodeId> nodes = before.match.nodes;
    std::size_t fitting = 0, entered = before.entered;
    for (const Argument& item : items->items) {
      m_state = before;
      m_state.match.nodes = nodes;
      m_state.entered = entered;
      if (!expression(*pattern.operands[0], item)) {
        if (pattern.partial) continue;
        return false;
      }
      ++fitting;
      nodes = m_state.match.nodes;
      entered = m_state.entered;
      bundle(bundled, before.match);
    }
    m_state = before;
    m_state.match.nodes = std::move(nodes);
    m_state.entered = entered;
    for (auto& [name, values] : bundled) m_state.match.named.emplace_back(name, Argument::list(std::move(values)));
    return fitting > 0;
  }

  /// Collects what the last item bound beyond `before`.
  void bundle(std::vector<std::pair<std::string, ArgumentList>>& bundled, const MatchedPattern& before) const {
    for (const auto& [name, value] : m_state.match.named) {
      if (before.find(name) != nullptr) continue;
      auto found = std::ranges::find(bundled, name, &std::pair<std::string, ArgumentList>::first);
      if (found == bundled.end()) found = bundled.insert(bundled.end(), {name, {}});
      found->second.push_back(value);
    }
  }

  bool isCallOf(const PatternExpr& pattern, const Node& node) const {
    return node.op() == Opcode::CallFunction &&
           std::ranges::any_of(pattern.ops, [&](OpId op) { return node.isCall(op); });
  }

  bool call(const PatternExpr& pattern, const Argument& value) {
    const NodeId* id = value.as<NodeId>();
    if (id == nullptr)
      return mismatch(m_at, fmt::format("{} has {} where the pattern has {}", m_graph.node(m_at).name(), shown(value),
                                        opNames(pattern)));
    const Node& node = m_graph.node(*id);
    if (!isCallOf(pattern, node)) {
      const bool isOp = node.op() == Opcode::CallFunction && node.opId();
      const std::string what = node.op() == Opcode::Placeholder ? "an input of the graph"
                               : isOp                           ? std::string(opName(node.opId()))
                                                                : node.target();
      return mismatch(*id, fmt::format("{} is {}, the pattern has {}", node.name(), what, opNames(pattern)));
    }
    if (!fewEnoughUsers(pattern, node)) return false;
    ++m_state.entered;
    if (!operands(pattern, node)) return false;
    if (std::ranges::find(m_state.match.nodes, *id) == m_state.match.nodes.end()) m_state.match.nodes.push_back(*id);
    return true;
  }

  bool fewEnoughUsers(const PatternExpr& pattern, const Node& node) {
    if (!pattern.users || m_results.contains(&pattern) || node.users().size() == *pattern.users) return true;
    std::vector<std::string_view> names;
    for (const NodeId user : node.users()) names.push_back(m_graph.node(user).name());
    return mismatch(node.id(), fmt::format("{} has {} user{} ({}), the pattern allows {}", node.name(), names.size(),
                                           names.size() == 1 ? "" : "s", fmt::join(names, ", "), *pattern.users));
  }

  bool operands(const PatternExpr& pattern, const Node& node) {
    const OpInfo* op = findOp(node);
    for (std::size_t i = 0; i < pattern.operands.size(); ++i)
      if (!operand(*pattern.operands[i], node, op, i, argumentName(op, i))) return false;
    for (const auto& [name, expected] : pattern.kwargs)
      if (!operand(*expected, node, op, argumentPlace(op, name), name)) return false;
    return nothingElse(pattern, node, op);
  }

  bool operand(const PatternExpr& pattern, const Node& node, const OpInfo* op, std::size_t place,
               std::string_view name) {
    const std::optional<Argument> value = argumentOf(node, op, place, name);
    if (pattern.kind == PatternKind::Ignored) return true;
    if (!value)
      return mismatch(node.id(),
                      fmt::format("{} has no argument {}", node.name(), name.empty() ? std::to_string(place) : name));
    const NodeId at = std::exchange(m_at, node.id());
    const std::string argument = std::exchange(m_argument, name);
    const bool fits = expression(pattern, *value);
    m_at = at;
    m_argument = argument;
    return fits;
  }

  /// Arguments that the pattern does not have must be at their defaults.
  bool nothingElse(const PatternExpr& pattern, const Node& node, const OpInfo* op) {
    const auto given = [&](std::string_view name, const Argument& value) {
      const bool named = std::ranges::any_of(pattern.kwargs, [&](const auto& one) { return one.first == name; });
      if (named || argumentPlace(op, name) < pattern.operands.size() || isDefault(op, name, value)) return true;
      return mismatch(node.id(),
                      fmt::format("{} is given {} = {}, the pattern leaves it out", node.name(), name, shown(value)));
    };
    for (std::size_t i = pattern.operands.size(); i < node.args().size(); ++i)
      if (!given(argumentName(op, i), node.args()[i])) return false;
    return std::ranges::all_of(node.kwargs(), [&](const auto& one) { return given(one.first, one.second); });
  }

  /// Further results are found from values that are known already: what they are computed from has them as users.
  bool severalResults(const PatternExpr& pattern, const Argument& value) {
    for (std::size_t i = 0; i < pattern.operands.size(); ++i) {
      const Pattern& result = pattern.operands[i];
      if (!result) continue;
      if (i == 0 ? !expression(*result, value) : !fromAnchors(*result)) return false;
    }
    return true;
  }

  bool fromAnchors(const PatternExpr& pattern) {
    if (const NodeId known = standsFor(pattern); known.valid()) return true;
    Candidates searched;
    std::vector<NodeId> candidates = anchors(pattern, searched);
    const auto& matched = m_state.match.nodes;  // of two equal calls, the one that stands for nothing yet
    std::ranges::stable_partition(candidates,
                                  [&](NodeId id) { return std::ranges::find(matched, id) == matched.end(); });
    for (const NodeId anchor : candidates) {
      const State before = m_state;
      if (expression(pattern, anchor)) return true;
      m_state = before;
    }
    return mismatch(m_at, fmt::format("no {} among the users of what is matched", opNames(pattern)));
  }

  /// Calls that may stand for a pattern, by its op and by what may stand for its operands.
  using Candidates = std::unordered_map<const PatternExpr*, std::vector<NodeId>>;

  std::vector<NodeId> anchors(const PatternExpr& pattern, Candidates& searched) const {
    if (const NodeId known = standsFor(pattern); known.valid()) return {known};
    if (pattern.kind != PatternKind::Call && pattern.kind != PatternKind::List) return {};
    if (const auto done = searched.find(&pattern); done != searched.end()) return done->second;
    std::vector<NodeId> found;
    std::unordered_set<NodeId> seen;
    std::vector<Pattern> operands = pattern.operands;
    for (const auto& [name, operand] : pattern.kwargs) operands.push_back(operand);
    for (const Pattern& operand : operands)
      for (const NodeId node : operand ? anchors(*operand, searched) : std::vector<NodeId>())
        for (const NodeId user : m_graph.node(node).users())
          if (pattern.kind == PatternKind::Call && isCallOf(pattern, m_graph.node(user)) && seen.insert(user).second)
            found.push_back(user);
    return searched[&pattern] = found;
  }

  /// Every other place is matched as if it were the first: only what was known before ties them together.
  bool repeated(const PatternExpr& pattern, const Argument& value) {
    const PatternExpr& inner = *pattern.operands[0];
    const auto knownBefore = m_state.known;
    if (!expression(inner, value)) return false;
    const auto knownAfter = m_state.known;
    m_state.known.erase(&inner);
    Candidates searched;
    for (const NodeId anchor : anchors(inner, searched)) {
      m_state.known = knownBefore;
      if (!expression(inner, anchor)) return false;
    }
    m_state.known = knownAfter;
    return true;
  }

  const Graph& m_graph;
  const PatternExpr& m_pattern;
  std::unordered_set<const PatternExpr*> m_results;
  State m_state;
  NodeId m_at;
  std::string m_argument;
  Mismatch m_deepest;
};

}  // namespace

const Argument* MatchedPattern::find(std::string_view name) const {
  const auto found = std::ranges::find(named, name, [](const auto& one) -> std::string_view { return one.first; });
  return found == named.end() ? nullptr : &found->second;
}

std::expected<MatchedPattern, Mismatch> matchPattern(const Graph& graph, const Pattern& pattern, NodeId node) {
  return Matcher(graph, pattern).at(node);
}

bool sameLiteral(const Argument& a, const Argument& b) {
  const auto x = numberOf(a), y = numberOf(b);
  if (x && y) return *x == *y || (std::isnan(*x) && std::isnan(*y));
  if (a.asList() != nullptr && b.asList() != nullptr) return sameItems(a.asList()->items, b.asList()->items);
  return a == b;
}

}  // namespace kerf::inline patterns
