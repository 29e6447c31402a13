#include "engine/ir/submodules.h"

#include <algorithm>
#include <functional>
#include <set>

namespace kerf::inline ir {
namespace {

/// Lists of modules number their items: "layers.0.fc".
bool isNamePart(std::string_view part) {
  const bool isNumber = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  return isNumber || isPythonIdentifier(part);
}

bool isPath(std::string_view path) {
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    if (!isNamePart(path.substr(0, dot))) return false;
    path.remove_prefix(dot + 1);
  }
  return isNamePart(path);
}

/// Whether `path` is `module` or lies below it.
bool isWithin(std::string_view path, std::string_view module) {
  return path.starts_with(module) && (path.size() == module.size() || path[module.size()] == '.');
}

using Paths = std::set<std::string, std::less<>>;

void addPaths(const Argument& argument, Paths& paths) {
  if (const auto* subgraph = argument.as<SubgraphRef>()) paths.insert(subgraph->path);
  if (const auto* list = argument.asList())
    for (const Argument& item : list->items) addPaths(item, paths);
  if (const auto* dict = argument.asDict())
    for (const auto& [key, item] : dict->items) addPaths(item, paths);
}

/// What the graph names: modules, nested graphs, and of what get_attr reads that for which `isMeant` holds.
Paths namedPaths(const GraphModule& module, const std::function<bool(const std::string&)>& isMeant) {
  Paths paths;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    const bool isRead = node.op() == Opcode::GetAttr && isMeant(node.target());
    if (node.op() == Opcode::CallModule || isRead) paths.insert(node.target());
    for (const Argument& argument : node.args()) addPaths(argument, paths);
    for (const auto& [key, argument] : node.kwargs()) addPaths(argument, paths);
  }
  return paths;
}

}  // namespace

Result<void> addSubmodule(GraphModule& module, std::string_view path, Submodule submodule) {
  if (!isPath(path)) return fail(ErrorCode::BadUsage, "'{}' is not a path of a submodule", path);
  if (module.attribute(path)) return fail(ErrorCode::BadUsage, "'{}' is an attribute that holds a tensor", path);
  if (!module.submodule(path)) {
    module.submodules.add(std::string(path), std::move(submodule));
    return {};
  }
  for (auto& [name, held] : module.submodules.edit())
    if (name == path) held = std::move(submodule);
  return {};
}

bool deleteSubmodule(GraphModule& module, std::string_view path) {
  return module.submodules.eraseIf([&](const auto& entry) { return isWithin(entry.first, path); }) != 0;
}

std::size_t deleteAllUnusedSubmodules(GraphModule& module) {
  if (module.submodules.empty()) return 0;
  const Paths used = namedPaths(module, [&](const std::string& path) { return module.attribute(path) == nullptr; });
  return module.submodules.eraseIf([&](const auto& entry) {
    return std::ranges::none_of(
        used, [&](const std::string& path) { return isWithin(path, entry.first) || isWithin(entry.first, path); });
  });
}

std::size_t deleteAllUnusedAttributes(GraphModule& module) {
  if (module.attributes.empty()) return 0;
  const Paths used = namedPaths(module, [](const std::string&) { return true; });
  const auto isUsed = [&](std::string_view path) {  // "block.weight" belongs to the module "block"
    for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1))
      if (used.contains(path.substr(0, dot))) return true;
    return used.contains(path);
  };
  return module.attributes.eraseIf([&](const auto& entry) { return !isUsed(entry.first); });
}

}  // namespace kerf::inline ir
