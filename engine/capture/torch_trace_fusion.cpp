#include "engine/capture/torch_trace_fusion.h"

#include <unordered_map>
#include <unordered_set>

#include "engine/capture/torch_trace_json.h"

namespace kerf::trace {
namespace {

using Names = std::vector<std::string>;
using NameMap = std::vector<std::pair<std::string, Names>>;

/// Appends the names that are not there yet, in order.
void addUnique(Names& names, const Names& more) {
  std::unordered_set<std::string> known(names.begin(), names.end());
  for (const std::string& name : more)
    if (known.insert(name).second) names.push_back(name);
}

/// {"a": ["b", "c"], …} in its order; false if it has another shape.
bool readMap(std::string_view json, NameMap& map) {
  JsonWalker members(json);
  while (members.nextMember()) {
    Names names;
    JsonWalker elements(members.value());
    while (elements.nextElement())
      if (auto name = jsonString(elements.value())) names.push_back(std::move(*name));
    if (!elements.complete()) return false;
    map.emplace_back(jsonString(members.key()).value_or(""), std::move(names));
  }
  return members.complete();
}

void mergeInto(const NameMap& map, const std::string& keyPrefix, std::map<std::string, Names>& all) {
  for (const auto& [node, names] : map) addUnique(all[keyPrefix + node], names);
}

/// The pre-grad nodes of some post-grad nodes.
Names preGradNodes(const Names& nodes, const std::string& keyPrefix, const CaptureDetails& details) {
  Names all;
  for (const std::string& node : nodes) {
    const auto before = details.postToPre.find(keyPrefix + node);
    if (before != details.postToPre.end()) all.insert(all.end(), before->second.begin(), before->second.end());
  }
  return all;
}

/// One group per kernel; its pre-grad nodes are those of its post-grad nodes.
void addKernels(const NameMap& kernels, const GraphOrigin& origin, const std::string& keyPrefix,
                CaptureDetails& details) {
  std::unordered_map<std::string, std::size_t> own;
  for (const auto& [kernel, nodes] : kernels) {
    const auto [slot, fresh] = own.try_emplace(kernel, details.fusionGroups.size());
    if (fresh) {
      FusionGroup group;
      group.kernel = kernel;
      group.origin = origin;
      details.fusionGroups.push_back(std::move(group));
    }
    FusionGroup& group = details.fusionGroups[slot->second];
    addUnique(group.postGradNodes, nodes);
    addUnique(group.preGradNodes, preGradNodes(nodes, keyPrefix, details));
  }
}

}  // namespace

bool isProvenanceArtifact(std::string_view name) {
  return name == "inductor_provenance_tracking_node_mappings" || name == "inductor_post_to_pre_grad_nodes" ||
         name == "inductor_triton_kernel_to_post_grad_nodes";
}

bool addNodeMappings(std::string_view json, const GraphOrigin& origin, const std::string& keyPrefix,
                     CaptureDetails& details) {
  NameMap kernels;
  JsonWalker members(json);
  bool good = true;
  while (members.nextMember()) {
    const std::string key = jsonString(members.key()).value_or("");
    NameMap map;
    if (key == "preToPost" || key == "postToPre") {
      good = readMap(members.value(), map) && good;
      mergeInto(map, keyPrefix, key == "preToPost" ? details.preToPost : details.postToPre);
    } else if (key.ends_with("CodeToPost")) {
      good = readMap(members.value(), kernels) && good;
    }
  }
  addKernels(kernels, origin, keyPrefix, details);
  return good && members.complete();
}

bool addProvenance(std::string_view json, std::string_view name, const GraphOrigin& origin,
                   const std::string& keyPrefix, CaptureDetails& details) {
  if (name != "inductor_triton_kernel_to_post_grad_nodes") return addNodeMappings(json, origin, keyPrefix, details);
  NameMap kernels;
  const bool good = readMap(json, kernels);
  addKernels(kernels, origin, keyPrefix, details);
  return good;
}

}  // namespace kerf::trace
