#include "engine/dynamo/input_aliases.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kerf::inline dynamo {
namespace {

/// Which inputs are one tensor now.
std::string duplicatesText(const std::vector<SourcePtr>& sources, const FrameScope& scope) {
  std::vector<std::pair<PyObject*, std::vector<std::string>>> names;
  for (const SourcePtr& source : sources) {
    PyObject* now = source->evaluate(scope).get();
    auto at = std::ranges::find(names, now, [](const auto& entry) { return entry.first; });
    if (at == names.end()) at = names.insert(names.end(), {now, {}});
    at->second.push_back("\"" + source->name() + "\"");
  }
  std::vector<std::string> lists;
  for (const auto& [object, list] : names)
    if (list.size() > 1) lists.push_back(fmt::format("[{}]", fmt::join(list, ", ")));
  return fmt::format("Duplicate tensors found: {}", fmt::join(lists, ", "));
}

}  // namespace

std::optional<Guard> aliasGuard(const std::vector<FrameInput>& inputs) {
  std::vector<SourcePtr> sources;
  for (const FrameInput& input : inputs)
    if (input.symbol.empty() && input.source->kind() != Source::Kind::Random &&
        input.source->name().find("._parameters[") == std::string::npos)
      sources.push_back(input.source);
  if (sources.size() < 2) return std::nullopt;
  Guard guard;
  guard.kind = "NO_TENSOR_ALIASING";
  guard.leaf = "NO_TENSOR_ALIASING: check_no_aliasing(";
  for (std::size_t k = 0; k < sources.size(); ++k) guard.leaf += (k > 0 ? ", " : "") + sources[k]->name();
  guard.leaf += ")";
  guard.check = [sources](PyObject*, const FrameScope& scope) {
    std::unordered_set<PyObject*> seen;
    for (const SourcePtr& source : sources)
      if (!seen.insert(source->evaluate(scope).get()).second) return false;
    return true;
  };
  guard.failure = [sources](PyObject*, const FrameScope& scope) { return duplicatesText(sources, scope); };
  return guard;
}

}  // namespace kerf::inline dynamo
