#include "engine/capture/plausible/value_steps.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture {
namespace {

using MakeStep = std::optional<ValueStep> (*)(const UseSite& site);

/// One line: what op does to the elements of its argument. "" is whichever argument.
struct StepRow {
  std::string_view op, argument;
  MakeStep make;
};

constexpr ValueStep grows{1, 0, false};

std::optional<ValueStep> same(const UseSite&) { return ValueStep(); }
std::optional<ValueStep> growing(const UseSite&) { return grows; }
std::optional<ValueStep> negated(const UseSite&) { return ValueStep{-1, 0, true}; }
std::optional<ValueStep> inverted(const UseSite&) { return ValueStep{-1, 1, true}; }

std::string_view otherArgument(const UseSite& site) {
  return site.argument == "self" || site.argument == "a" ? "other" : "self";
}

std::optional<ValueStep> sum(const UseSite& site) {
  const auto number = site.number(otherArgument(site));
  const double alpha = site.number("alpha").value_or(1);
  if (!number) return grows;
  return otherArgument(site) == "other" ? ValueStep{1, alpha * *number, true} : ValueStep{alpha, *number, true};
}

std::optional<ValueStep> difference(const UseSite& site) {
  const auto number = site.number(otherArgument(site));
  const double alpha = site.number("alpha").value_or(1);
  if (!number) return {};
  const bool isLeft = (otherArgument(site) == "other") != (site.op == "rsub");
  if (isLeft) return ValueStep{site.op == "rsub" ? alpha : 1, -(site.op == "rsub" ? 1 : alpha) * *number, true};
  return ValueStep{site.op == "rsub" ? -alpha : -1, site.op == "rsub" ? *number : *number * 1.0, true};
}

/// x * x is positive whatever x is: it says nothing of it.
std::optional<ValueStep> product(const UseSite& site) {
  const auto number = site.number(otherArgument(site));
  if (number) return *number != 0 && std::isfinite(*number) ? std::optional(ValueStep{*number, 0, true}) : std::nullopt;
  const Argument* other = site.find(otherArgument(site));
  if (other == nullptr || *other == Argument(site.value)) return {};
  return grows;
}

std::optional<ValueStep> quotient(const UseSite& site) {
  if (otherArgument(site) != "other") return {};
  const auto number = site.number("other");
  if (!number) return grows;
  return *number != 0 && std::isfinite(*number) ? std::optional(ValueStep{1 / *number, 0, true}) : std::nullopt;
}

/// Odd and fractional powers grow; even ones are positive anyway.
std::optional<ValueStep> power(const UseSite& site) {
  const auto exponent = site.number("exponent");
  const bool isEven = exponent && std::fmod(*exponent, 2) == 0;
  return !exponent || isEven || *exponent <= 0 ? std::nullopt : std::optional(grows);
}

/// A mask of whole numbers compared with 0: x != 0 is x itself where x is 0 or 1.
template <bool holdsAtOne>
std::optional<ValueStep> maskComparison(const UseSite& site) {
  const TensorMeta* meta = site.graph.node(site.value).meta().value.tensor();
  const auto number = site.number("other");
  if (meta == nullptr || !number || (*number != 0 && *number != 1)) return {};
  const bool flips = (*number == 0) == holdsAtOne;
  return flips ? ValueStep() : ValueStep{-1, 1, true};
}

constexpr StepRow rows[] = {
    // the same elements, moved, copied or converted
    {"view", "self", same},
    {"_unsafe_view", "self", same},
    {"reshape", "self", same},
    {"contiguous", "self", same},
    {"clone", "self", same},
    {"clone_preserve_strides", "self", same},
    {"lift_fresh_copy", "self", same},
    {"convert_element_type", "self", same},
    {"_to_copy", "self", same},
    {"to", "self", same},
    {"type_as", "self", same},
    {"type", "self", same},
    {"float", "self", same},
    {"double", "self", same},
    {"half", "self", same},
    {"bfloat16", "self", same},
    {"long", "self", same},
    {"int", "self", same},
    {"bool", "self", same},
    {"cuda", "self", same},
    {"cpu", "self", same},
    {"device_put", "self", same},
    {"broadcast_in_dim", "self", same},
    {"repeat", "self", same},
    {"tile", "self", same},
    {"flip", "self", same},
    {"rev", "self", same},
    {"roll", "self", same},
    {"unbind", "self", same},
    {"split", "self", same},
    {"split_with_sizes", "self", same},
    {"chunk", "self", same},
    {"getitem", "self", same},
    {"index", "self", same},
    {"_unsafe_index", "self", same},
    {"index_select", "self", same},
    {"gather", "self", same},
    {"cat", "tensors", same},
    {"concat", "tensors", same},
    {"stack", "tensors", same},
    {"where", "self", same},
    {"where", "other", same},
    {"masked_fill", "self", same},
    {"masked_fill", "value", same},
    {"copy", "src", same},
    {"slice_scatter", "self", same},
    {"slice_scatter", "src", same},
    {"select_scatter", "src", same},
    {"index_put", "values", same},
    {"constant_pad_nd", "self", same},
    {"pad", "self", same},
    {"tril", "self", same},
    {"triu", "self", same},
    {"atleast_1d", "self", same},
    {"atleast_2d", "self", same},
    {"_local_scalar_dense", "self", same},
    {"item", "self", same},
    {"sym_float", "a", same},
    {"sym_int", "a", same},
    {"_assert_tensor_metadata", "a", same},
    // a x + b
    {"add", "self", sum},
    {"add", "other", sum},
    {"sub", "self", difference},
    {"sub", "other", difference},
    {"subtract", "self", difference},
    {"subtract", "other", difference},
    {"rsub", "self", difference},
    {"mul", "self", product},
    {"mul", "other", product},
    {"multiply", "self", product},
    {"multiply", "other", product},
    {"div", "self", quotient},
    {"divide", "self", quotient},
    {"true_divide", "self", quotient},
    {"truediv", "self", quotient},
    {"neg", "self", negated},
    {"negative", "self", negated},
    {"logical_not", "self", inverted},
    {"invert", "self", inverted},
    {"bitwise_not", "self", inverted},  // of masks: bool and 0 or 1
    {"eq", "self", maskComparison<false>},
    {"ne", "self", maskComparison<true>},
    {"gt", "self", maskComparison<true>},
    // grows with it
    {"sqrt", "self", growing},
    {"log1p", "self", growing},
    {"expm1", "self", growing},
    {"pow", "self", power},
    {"sum", "self", growing},
    {"mean", "self", growing},
    {"prod", "self", growing},
    {"amax", "self", growing},
    {"amin", "self", growing},
    {"cumsum", "self", growing},
    {"maximum", "self", growing},
    {"maximum", "other", growing},
    {"minimum", "self", growing},
    {"minimum", "other", growing},
    {"addcmul", "self", growing},
    {"addcdiv", "self", growing},
    {"lerp", "self", growing},
    {"lerp", "end", growing},
};

std::optional<ValueStep> viewStep(const UseSite& site) {
  static constexpr std::string_view otherwise[] = {"getitem"};
  if (site.argument != "self" || site.op == otherwise[0]) return {};
  const OpInfo* info = findOp(site.node);
  if (info != nullptr && has(info->traits, OpTrait::View)) return ValueStep();
  return {};
}

/// Views by the names that tensor methods have.
constexpr std::string_view viewNames[] = {
    "unsqueeze", "squeeze", "expand",   "expand_as", "permute",  "transpose",  "t",       "slice",
    "select",    "alias",   "detach",   "flatten",   "T",        "mT",         "view_as", "narrow",
    "unflatten", "movedim", "swapaxes", "ravel",     "diagonal", "as_strided", "numpy_T", "squeeze_copy"};

}  // namespace

std::optional<ValueStep> stepThrough(const UseSite& site) {
  static const auto byOp = [] {
    std::unordered_multimap<std::string_view, const StepRow*> table;
    for (const StepRow& row : rows) table.emplace(row.op, &row);
    return table;
  }();
  const auto [begin, end] = byOp.equal_range(site.op);
  for (auto at = begin; at != end; ++at) {
    const StepRow& row = *at->second;
    const bool isSelf = row.argument == "self" && (site.argument == "input" || site.argument == "a");
    const bool isOther = row.argument == "other" && site.argument == "b";
    if (row.argument == site.argument || isSelf || isOther) return row.make(site);
  }
  const bool first = site.argument == "self" || site.argument.empty();
  if (first && std::ranges::find(viewNames, site.op) != std::end(viewNames)) return ValueStep();
  return viewStep(site);
}

}  // namespace kerf::inline capture
