#include "engine/partition/ban_rules.h"

#include <algorithm>
#include <queue>
#include <set>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline partition {

namespace {

constexpr int longestChain = 100;  ///< of fusible nodes, in forward order
constexpr int smallerBy = 4;       ///< a result this much smaller than its operands is a reduction

class Banning {
 public:
  Banning(const JointGraph& joint, const BanRules& rules, const std::vector<bool>& allowed)
      : m_joint(joint), m_rules(rules), m_allowed(allowed) {
    m_bans.rules.resize(joint.nodes.size());
  }

  Bans run() {
    for (int place = 0; place < int(m_joint.nodes.size()); ++place) banByItself(place);
    if (m_rules.usedFarApart)
      for (int place = 0; place < int(m_joint.nodes.size()); ++place)
        if (at(place).neededForward()) banFarUsers(place);
    if (m_rules.longChains) banLongChains();
    return std::move(m_bans);
  }

 private:
  const JointNode& at(int place) const { return m_joint.nodes[std::size_t(place)]; }
  bool isView(int place) const { return has(at(place).classes, OpClass::View); }

  void ban(int place, std::string_view rule) {
    const JointNode& node = at(place);
    if (isView(place) || node.tags.recompute() || node.kind == SavedKind::SymFloat || m_bans.banned(place)) return;
    const bool isAllowed = !m_allowed.empty() && m_allowed[std::size_t(place)];
    if (isAllowed && !has(node.classes, OpClass::Collective)) return;
    m_bans.rules[std::size_t(place)] = rule;
    m_bans.order.push_back(place);
  }

  /// Whatever it is: the backward graph may not have it.
  void banFromBackward(int place) {
    m_bans.rules[std::size_t(place)] = "must_be_in_forward";
    m_bans.order.push_back(place);
  }

  void banByItself(int place) {
    const JointNode& node = at(place);
    if (node.tags.inForward) return banFromBackward(place);
    if (node.ofTangents || node.tags.recompute()) return;
    if (node.isInput) ban(place, "input");
    if (!node.neededForward() || m_joint.node(place).op() != Opcode::CallFunction) return;
    const std::string_view rule = ruleOf(place);
    if (!rule.empty()) ban(place, rule);
  }

  std::string_view ruleOf(int place) const {
    const JointNode& node = at(place);
    if (has(node.classes, OpClass::Getitem)) return {};
    if (node.tags.mustSave()) return "must_save";
    if ((m_rules.recomputesViews && isView(place)) || has(node.classes, OpClass::Lift)) return {};
    const bool random = has(node.classes, OpClass::Random);
    if (m_rules.allowList && (random || !has(node.classes, OpClass::Recomputable)))
      return random ? "random" : "allow_list";
    if (!m_rules.allowList && random) return "random";
    if (!m_rules.allowList && has(node.classes, OpClass::Heavy)) return "compute_intensive";
    if (m_rules.materialized && materializedInBackward(place)) return "materialized";
    if (node.distance < 1000 && node.distance > m_rules.farthestFromBackward) return "distance";
    if (m_rules.reductions && reduces(place)) return "reduction";
    return {};
  }

  /// Computing it again is free where it fuses; a backward user that needs it in memory, itself or a view of it, does
  /// not.
  bool materializedInBackward(int place) const {
    if (isView(place)) return false;
    std::vector<int> waiting = {place};
    while (!waiting.empty()) {
      const int current = waiting.back();
      waiting.pop_back();
      if (at(current).isReturned) return true;
      for (const int user : at(current).users) {
        if (!at(user).neededForward() && !fuses(m_joint, current, user)) return true;
        if (isView(user)) waiting.push_back(user);
      }
    }
    return false;
  }

  bool reduces(int place) const {
    std::int64_t operands = 0;
    for (const Argument& argument : m_joint.node(place).args())
      if (const NodeId* id = argument.as<NodeId>())
        for (const int input : at(place).inputs)
          if (at(input).id == *id) operands += at(input).bytes;
    return at(place).bytes * smallerBy < operands;
  }

  /// A value with a near and a far user: computing both users again would read it twice. Far is behind the first user,
  /// through fusible ones, that does not fuse.
  void banFarUsers(int place) {
    int last = -1;
    for (const int user : at(place).users) last = std::max(last, at(user).forwardOrder);
    if (last < 0) return;
    const int unfusible = firstUnfusible(place, last);
    for (const int user : at(place).users)
      if (at(user).forwardOrder > unfusible && fuses(m_joint, place, user)) ban(user, "used_far_apart");
  }

  /// Forward order of the first node that does not fuse, on ways from the users of `place`; `last` where all fuse.
  int firstUnfusible(int place, int last) const {
    std::set<std::tuple<int, bool, int>> waiting;  // order, fuses, place
    for (const int user : at(place).users)
      if (at(user).neededForward()) waiting.emplace(at(user).forwardOrder, true, user);
    while (!waiting.empty()) {
      const auto [order, fusible, current] = *waiting.begin();
      waiting.erase(waiting.begin());
      if (!fusible) return order;
      for (const int user : at(current).users)
        if (at(user).neededForward() && at(user).forwardOrder <= last)
          waiting.emplace(at(user).forwardOrder, fuses(m_joint, current, user), user);
    }
    return last;
  }

  /// Pointwise ops from one end of the model to the other (residual connections) are cut somewhere.
  void banLongChains() {
    std::vector<bool> visited(m_joint.nodes.size());
    for (int start = 0; start < int(m_joint.nodes.size()); ++start)
      if (at(start).neededForward()) banLongChain(start, visited);
  }

  void banLongChain(int start, std::vector<bool>& visited) {
    using Step = std::pair<int, int>;  // order, place
    std::priority_queue<Step, std::vector<Step>, std::greater<>> fusible;
    fusible.emplace(at(start).forwardOrder, start);
    while (!fusible.empty()) {
      const int current = fusible.top().second;
      fusible.pop();
      if (visited[std::size_t(current)]) continue;
      visited[std::size_t(current)] = true;
      if (at(current).forwardOrder > at(start).forwardOrder + longestChain && fusible.empty())
        return ban(current, "long_chain");
      for (const int user : at(current).users)
        if (at(user).neededForward() && fuses(m_joint, current, user) && !m_bans.banned(user))
          fusible.emplace(at(user).forwardOrder, user);
    }
  }

  const JointGraph& m_joint;
  const BanRules& m_rules;
  const std::vector<bool>& m_allowed;
  Bans m_bans;
};

bool mentions(const Argument& argument, NodeId id) {
  bool found = false;
  forEachNode(argument, [&](NodeId node) { found = found || node == id; });
  return found;
}

const Argument* keyword(const Node& node, std::string_view name) {
  for (const auto& [key, argument] : node.kwargs())
    if (key == name) return &argument;
  return nullptr;
}

/// A functionalized call of an op that writes: what it writes into fuses with it.
bool isWrittenBy(const Node& producer, const Node& call) {
  if (call.args().empty() || call.target() != "torch.ops.higher_order.auto_functionalized") return false;
  const PythonName* op = call.args()[0].as<PythonName>();
  const OpInfo* info = op != nullptr ? findOp(OpTarget(op->text)) : nullptr;
  if (info == nullptr) return false;
  return std::ranges::any_of(info->schema.arguments, [&](const SchemaArgument& argument) {
    const Argument* given = argument.alias.ends_with('!') ? keyword(call, argument.name) : nullptr;
    return given != nullptr && mentions(*given, producer.id());
  });
}

constexpr std::string_view tritonWrapper = "torch.ops.higher_order.triton_kernel_wrapper_functional";

/// The same of a user's Triton kernel: "tensors_to_clone" names those of "kwargs" that it writes.
bool isClonedBy(const Node& producer, const Node& call) {
  if (call.target() != tritonWrapper) return false;
  const Argument *names = keyword(call, "tensors_to_clone"), *values = keyword(call, "kwargs");
  if (names == nullptr || values == nullptr || names->asList() == nullptr || values->asDict() == nullptr) return false;
  return std::ranges::any_of(values->asDict()->items, [&](const auto& item) {
    return mentions(item.second, producer.id()) && std::ranges::count(names->asList()->items, Argument(item.first)) > 0;
  });
}

bool isTritonResult(const JointGraph& joint, const JointNode& node) {
  return has(node.classes, OpClass::Getitem) && !node.inputs.empty() &&
         joint.node(node.inputs[0]).target() == tritonWrapper;
}

}  // namespace

BanRules BanRules::moreAggressive() const {
  BanRules rules = *this;
  rules.usedFarApart = rules.longChains = rules.materialized = false;
  return rules;
}

BanRules BanRules::aggressive() const {
  BanRules rules = moreAggressive();
  rules.allowList = false;
  return rules;
}

bool fuses(const JointGraph& joint, int producer, int user) {
  const JointNode &a = joint.nodes[std::size_t(producer)], &b = joint.nodes[std::size_t(user)];
  if (has(b.classes, OpClass::Concat)) return true;
  if (isFusibleOp(a.classes) && isFusibleOp(b.classes)) return !isTritonResult(joint, a);
  if (isFusibleOp(b.classes)) return false;
  const Node& call = joint.node(user);
  if (!call.target().starts_with("torch.ops.higher_order.")) return false;
  return isWrittenBy(joint.node(producer), call) || isClonedBy(joint.node(producer), call);
}

bool isMaterialized(const JointGraph& joint, int place) {
  if (joint.node(place).op() == Opcode::Placeholder || joint.nodes[std::size_t(place)].isReturned) return true;
  const auto& users = joint.nodes[std::size_t(place)].users;
  return !std::ranges::all_of(users, [&](int user) { return fuses(joint, place, user); });
}

Bans banNodes(const JointGraph& joint, const BanRules& rules, const std::vector<bool>& allowed) {
  return Banning(joint, rules, allowed).run();
}

}  // namespace kerf::inline partition
