#include "engine/capture/trace/fusion.h"

#include <unordered_map>
#include <unordered_set>

#include "engine/capture/common/json.h"

namespace kerf::inline capture::trace {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t nameCost = 48;    ///< bytes of a name in a list, beside its text
constexpr std::size_t lookupCost = 16;  ///< what looking at a name that is known counts

/// Lists of names by key, in the order of the keys' first appearance.
class NameMap {
 public:
  Names& list(std::string key) {
    const auto [slot, fresh] = m_places.try_emplace(std::move(key), m_lists.size());
    if (fresh) m_lists.emplace_back(slot->first, Names());
    return m_lists[slot->second].second;
  }
  auto begin() const { return m_lists.begin(); }
  auto end() const { return m_lists.end(); }

 private:
  std::vector<std::pair<std::string, Names>> m_lists;
  std::unordered_map<std::string, std::size_t> m_places;
};

/// Appends names that are not there yet, in order.
class Appender {
 public:
  Appender(Names& names, NameByteBudget& budget)
      : m_names(names), m_budget(budget), m_known(names.begin(), names.end()) {
    m_fits = budget.take(names.size() * lookupCost);
  }
  /// False when the budget is used up.
  bool add(const Names& more) {
    for (const std::string& name : more) {
      m_fits = m_fits && m_budget.take(lookupCost);
      if (!m_fits) return false;
      if (!m_known.insert(name).second) continue;
      m_fits = m_budget.take(nameCost + name.size());
      if (!m_fits) return false;
      m_names.push_back(name);
    }
    return true;
  }

 private:
  Names& m_names;
  NameByteBudget& m_budget;
  std::unordered_set<std::string> m_known;
  bool m_fits = true;
};

/// {"a": ["b", "c"], …}; false if it has another shape.
bool readMap(std::string_view json, NameMap& map) {
  JsonWalker members(json);
  while (members.nextMember()) {
    Names& names = map.list(jsonString(members.key()).value_or(""));
    JsonWalker elements(members.value());
    while (elements.nextElement())
      if (auto name = jsonString(elements.value())) names.push_back(std::move(*name));
    if (!elements.complete()) return false;
  }
  return members.complete();
}

bool mergeInto(const NameMap& map, const std::string& keyPrefix, std::map<std::string, Names>& all,
               NameByteBudget& budget) {
  for (const auto& [node, names] : map)
    if (!budget.take(nameCost + keyPrefix.size() + node.size()) || !Appender(all[keyPrefix + node], budget).add(names))
      return false;
  return true;
}

/// One group per kernel; its pre-grad nodes are those of its post-grad nodes.
bool addKernels(const NameMap& kernels, const GraphOrigin& origin, const std::string& keyPrefix,
                CaptureDetails& details, NameByteBudget& budget) {
  for (const auto& [kernel, nodes] : kernels) {
    RecordedFusionGroup group;
    group.kernel = kernel;
    group.origin = origin;
    bool fits =
        budget.take(sizeof(RecordedFusionGroup) + kernel.size()) && Appender(group.postGradNodes, budget).add(nodes);
    Appender before(group.preGradNodes, budget);
    for (auto node = group.postGradNodes.begin(); fits && node != group.postGradNodes.end(); ++node)
      if (const auto found = details.postToPre.find(keyPrefix + *node); found != details.postToPre.end())
        fits = before.add(found->second);
    details.fusionGroups.push_back(std::move(group));
    if (!fits) return false;
  }
  return true;
}

}  // namespace

bool isProvenanceArtifact(std::string_view name) {
  return name == "inductor_provenance_tracking_node_mappings" || name == "inductor_post_to_pre_grad_nodes" ||
         name == "inductor_triton_kernel_to_post_grad_nodes";
}

bool addNodeMappings(std::string_view json, const GraphOrigin& origin, const std::string& keyPrefix,
                     CaptureDetails& details, NameByteBudget& budget) {
  budget.begin(json.size());
  NameMap kernels;
  JsonWalker members(json);
  bool good = true;
  while (members.nextMember()) {
    const std::string key = jsonString(members.key()).value_or("");
    if (key == "preToPost" || key == "postToPre") {
      NameMap map;
      good = readMap(members.value(), map) && good;
      good = mergeInto(map, keyPrefix, key == "preToPost" ? details.preToPost : details.postToPre, budget) && good;
    } else if (key.ends_with("CodeToPost")) {
      good = readMap(members.value(), kernels) && good;
    }
  }
  return addKernels(kernels, origin, keyPrefix, details, budget) && good && members.complete();
}

bool addProvenance(std::string_view json, std::string_view name, const GraphOrigin& origin,
                   const std::string& keyPrefix, CaptureDetails& details, NameByteBudget& budget) {
  if (name != "inductor_triton_kernel_to_post_grad_nodes")
    return addNodeMappings(json, origin, keyPrefix, details, budget);
  budget.begin(json.size());
  NameMap kernels;
  const bool good = readMap(json, kernels);
  return addKernels(kernels, origin, keyPrefix, details, budget) && good;
}

}  // namespace kerf::inline capture::trace
