#include "engine/capture/plausible/use_rules.h"

#include <ranges>
#include <unordered_map>

namespace kerf::inline capture {

std::span<const UseRule* const> rulesOf(std::string_view op) {
  static const auto byOp = [] {
    std::unordered_map<std::string_view, std::vector<const UseRule*>> table;
    for (const UseRules rules : {domainRules(), indexRules(), patternRules(), numberRules(), scaleRules()})
      for (const UseRule& rule : rules)
        for (const auto op : std::views::split(rule.ops, ' ')) table[std::string_view(op)].push_back(&rule);
    return table;
  }();
  const auto found = byOp.find(op);
  return found == byOp.end() ? std::span<const UseRule* const>() : std::span<const UseRule* const>(found->second);
}

}  // namespace kerf::inline capture
