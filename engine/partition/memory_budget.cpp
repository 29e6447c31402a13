#include "engine/partition/memory_budget.h"

#include <algorithm>
#include <unordered_set>

namespace kerf::inline partition {

namespace {

constexpr double giga = 1e9;

/// Why a node must never be computed again, whatever the budget: another draw gives other numbers. Empty: it may be.
std::string_view ruleForever(const JointNode& node) {
  if (node.tags.recompute()) return {};
  if (node.tags.inForward) return "must_be_in_forward";
  if (node.tags.mustSave()) return "must_save";
  return has(node.classes, OpClass::Random | OpClass::Collective) ? "random" : std::string_view();
}

/// By place: whether the backward part, or what it returns, depends on the node.
std::vector<bool> leadsToBackward(const JointGraph& joint) {
  std::vector<bool> leads(joint.nodes.size());
  for (std::size_t i = joint.nodes.size(); i-- > 0;) {
    const JointNode& node = joint.nodes[i];
    leads[i] = node.forBackward || std::ranges::any_of(node.users, [&](int user) { return leads[std::size_t(user)]; });
  }
  return leads;
}

CutSolution inputsAlone(const JointGraph& joint) {
  const std::vector<bool> leads = leadsToBackward(joint);
  CutSolution solution{.saved = joint.inputs, .bans = {}};
  std::vector<std::string_view>& rules = solution.bans.rules;
  rules.resize(joint.nodes.size());
  for (const int place : joint.inputs) rules[std::size_t(place)] = "input";
  for (int place = 0; place < int(joint.nodes.size()); ++place) {
    const JointNode& node = joint.nodes[std::size_t(place)];
    const std::string_view rule = ruleForever(node);
    if (rule.empty() || !node.neededForward() || node.isInput) continue;
    if (!leads[std::size_t(place)]) continue;
    std::vector<int> values = node.kind == SavedKind::Other ? node.users : std::vector<int>{place};
    for (const int value : values) {
      if (!rules[std::size_t(value)].empty()) continue;  // an element of a tuple may be asked for by itself too
      solution.saved.push_back(value);
      rules[std::size_t(value)] = rule;
    }
  }
  return solution;
}

}  // namespace

double BudgetChooser::activations(const std::vector<int>& saved) const { return double(m_joint.bytesOf(saved)) / giga; }

Result<const CutSolution*> BudgetChooser::solved(std::optional<CutSolution>& place, const BanRules& rules) {
  if (!place) {
    KERF_TRY(place, solveCut(m_joint, rules));
  }
  return &*place;
}

Result<CutSolution> BudgetChooser::choose(double budget) {
  if (!(budget >= 0 && budget <= 1))
    return fail(ErrorCode::BadUsage, "a memory budget lies between 0 (save the inputs alone) and 1; {} does not",
                budget);
  if (budget == 0) return inputsAlone(m_joint);
  const BanRules rules = m_options.aggressive ? m_options.rules.aggressive() : m_options.rules;
  KERF_TRY(const CutSolution* fastest, solved(m_fastest, rules));
  if (budget == 1) return *fastest;
  m_least = activations(m_joint.inputs);
  m_range = activations(fastest->saved) - m_least;
  if (m_range <= 0) return *fastest;
  const auto part = [&](const CutSolution& cut) { return (activations(cut.saved) - m_least) / m_range; };
  KERF_TRY(const CutSolution* more, solved(m_moreAggressive, rules.moreAggressive()));
  if (part(*more) < budget) return *more;
  KERF_TRY(const CutSolution* most, solved(m_aggressive, rules.aggressive()));
  if (part(*most) < budget) return *most;
  return chooseByKnapsack(budget, rules.aggressive());
}

/// Banned nodes that the backward part depends on, by size; not what an input's memory holds, nor what must be saved.
std::vector<int> BudgetChooser::knapsackNodes() const {
  std::unordered_set<int> inputStorages;
  for (const int place : m_joint.inputs) inputStorages.insert(m_joint.nodes[std::size_t(place)].storage);
  std::vector<int> places;
  for (const int place : m_aggressive->bans.order) {
    const JointNode& node = m_joint.nodes[std::size_t(place)];
    // A random draw made again is another one; PyTorch lets the budget do that to ops beside its three random ones.
    if (node.distance >= neverInBackward || inputStorages.contains(node.storage)) continue;
    if (!node.tags.mustSave() && !node.tags.inForward && !has(node.classes, OpClass::Random)) places.push_back(place);
  }
  std::ranges::stable_sort(places, std::greater<>(),
                           [&](int place) { return m_joint.nodes[std::size_t(place)].bytes; });
  return places;
}

Result<CutSolution> BudgetChooser::chooseByKnapsack(double budget, const BanRules& rules) {
  const std::vector<int> places = knapsackNodes();
  if (places.empty()) return inputsAlone(m_joint);
  if (!m_runtimes) {
    m_runtimes.emplace();
    for (const int place : places) m_runtimes->push_back(estimateRuntime(m_joint, place, m_options.estimator));
  }
  std::vector<KnapsackItem> items;
  for (std::size_t i = 0; i < places.size(); ++i)
    items.push_back({double(m_joint.nodes[std::size_t(places[i])].bytes) / giga / m_range, (*m_runtimes)[i]});
  KERF_TRY(const std::vector<bool> saved, solveKnapsack(m_options.solver, items, budget));
  std::vector<bool> allowed(m_joint.nodes.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!saved[i]) allowed[std::size_t(places[i])] = true;
  return solveCut(m_joint, rules, allowed);
}

}  // namespace kerf::inline partition
