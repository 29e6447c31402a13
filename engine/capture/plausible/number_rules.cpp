// Uses as a number: sizes that a tensor holds, and what the graph asserts of them.
#include <algorithm>

#include "engine/capture/plausible/use_rules.h"

namespace kerf::inline capture {
namespace {

ValueNeed wholeNumber(std::string reason) {
  ValueNeed need;
  need.whole = true;
  need.reasons.push_back(std::move(reason));
  return need;
}

/// A size that a tensor holds: not negative, and small.
std::optional<ValueNeed> sizeInside(const UseSite& site, const UseRule&) {
  const TensorMeta* meta = site.graph.node(site.value).meta().value.tensor();
  if (meta == nullptr || !isIntegral(meta->dtype) || meta->dtype == DType::Bool) return {};
  ValueNeed need = wholeNumber("a size or position");
  need.likely = {1, 4};
  return need;
}

/// sym_constrain_range(u0, min, max).
std::optional<ValueNeed> constrained(const UseSite& site, const UseRule&) {
  ValueNeed need = wholeNumber("in the range that the graph asserts");
  need.hard.lower = site.number("min").value_or(site.op.ends_with("for_size") ? 0 : need.hard.lower);
  need.hard.upper = site.number("max").value_or(need.hard.upper);
  return need;
}

bool isAsserted(const UseSite& site) {
  return std::ranges::any_of(site.node.users(), [&](NodeId id) {
    const std::string_view name = baseOpName(site.graph.node(id));
    return name == "_assert_scalar" || name == "_check" || name == "_assert_async" || name == "_assert" ||
           name == "_assert_tensor_metadata";
  });
}

/// u0 <= 6 that the graph asserts.
template <int sign, int strict>
std::optional<ValueNeed> asserted(const UseSite& site, const UseRule&) {
  const bool left = site.argument == "self" || site.argument == "a";
  const auto bound = site.number(left ? "other" : "self");
  if (!bound || !isAsserted(site)) return {};
  ValueNeed need;
  need.reasons.emplace_back("in the range that the graph asserts");
  const int direction = left ? sign : -sign;
  if (direction <= 0) need.hard.upper = *bound - (direction != 0 ? strict : 0);
  if (direction >= 0) need.hard.lower = *bound + (direction != 0 ? strict : 0);
  return need;
}

constexpr UseRule numberRulesRows[] = {
    {"_local_scalar_dense item", "self", sizeInside},
    {"sym_constrain_range sym_constrain_range_for_size", "size", constrained},
    {"le", "self", asserted<-1, 0>},
    {"le", "other", asserted<-1, 0>},
    {"lt", "self", asserted<-1, 1>},
    {"lt", "other", asserted<-1, 1>},
    {"ge", "self", asserted<1, 0>},
    {"ge", "other", asserted<1, 0>},
    {"gt", "self", asserted<1, 1>},
    {"gt", "other", asserted<1, 1>},
    {"eq", "self", asserted<0, 0>},
    {"eq", "other", asserted<0, 0>},
};

}  // namespace

UseRules numberRules() { return numberRulesRows; }

}  // namespace kerf::inline capture
