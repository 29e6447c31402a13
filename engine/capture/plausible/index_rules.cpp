// Uses as an index: whole numbers within the bounds of what they pick from.
#include <functional>
#include <numeric>

#include "engine/capture/plausible/use_rules.h"

namespace kerf::inline capture {
namespace {

/// What is left where a size is unknown: zero, which is in every range that is not empty.
ValueNeed onlyZero(std::string reason) {
  ValueNeed need;
  need.pattern = ValueNeed::Pattern::Zero;
  need.reasons.push_back(std::move(reason));
  return need;
}

std::optional<ValueNeed> within(std::optional<std::int64_t> size, std::string_view of) {
  if (!size) return onlyZero(fmt::format("an index into {} of unknown size", of));
  ValueNeed need;
  need.whole = true;
  need.hard = need.likely = {0, double(std::max<std::int64_t>(*size, 1) - 1)};
  need.reasons.push_back(fmt::format("an index below {}", *size));
  return need;
}

std::optional<ValueNeed> distinct(std::optional<ValueNeed> need, std::int64_t dim) {
  if (!need || need->pattern != ValueNeed::Pattern::Free) return need;
  need->pattern = ValueNeed::Pattern::Distinct;
  need->dim = dim;
  return need;
}

/// Along the rule's dimension.
std::optional<ValueNeed> alongFixed(const UseSite& site, const UseRule& rule) {
  return within(site.size(rule.of, rule.dim), rule.of);
}

/// Classes are the second dimension, or the only one.
std::optional<ValueNeed> alongClasses(const UseSite& site, const UseRule& rule) {
  const auto sizes = site.sizes(rule.of);
  const TensorMeta* meta = site.graph.node(site.value).meta().value.tensor();
  if (meta != nullptr && !isIntegral(meta->dtype)) return {};  // class probabilities
  return within(site.size(rule.of, sizes && sizes->size() == 1 ? 0 : 1), rule.of);
}

/// Along the dimension that the call names.
std::optional<ValueNeed> alongNamed(const UseSite& site, const UseRule& rule) {
  const auto dim = site.integer("dim");
  if (!dim) return within(site.numel(rule.of), rule.of);
  return within(site.size(rule.of, *dim), rule.of);
}

/// The same where two equal indices would write one place in an order that nobody promises.
std::optional<ValueNeed> distinctAlongNamed(const UseSite& site, const UseRule& rule) {
  const Argument* reduce = site.find("reduce");
  auto need = alongNamed(site, rule);
  return reduce != nullptr && !reduce->isNone() ? need : distinct(std::move(need), site.integer("dim").value_or(0));
}

std::optional<ValueNeed> amongAll(const UseSite& site, const UseRule& rule) {
  return within(site.numel(rule.of), rule.of);
}

/// Positions within one plane of the last `rule.dim` dimensions.
std::optional<ValueNeed> inPlane(const UseSite& site, const UseRule& rule) {
  std::int64_t count = 1;
  for (int i = 1; i <= rule.dim; ++i) {
    const auto size = site.size(rule.of, -i);
    if (!size) return onlyZero("an index into a plane of unknown size");
    count *= *size;
  }
  return within(count, rule.of);
}

/// Concrete numbers of a list that the call gives; none where one of them is unknown.
std::optional<Sizes> listed(const UseSite& site, std::string_view name) {
  const Argument* argument = site.find(name);
  const ListArgument* list = argument ? argument->asList() : nullptr;
  if (list == nullptr) return {};
  Sizes numbers;
  for (const Argument& item : list->items) {
    const auto number = numberOf(site.graph, item);
    if (!number) return {};
    numbers.push_back(std::int64_t(*number));
  }
  return numbers;
}

/// The same where the call gives the plane as a list of sizes.
std::optional<ValueNeed> inListedPlane(const UseSite& site, const UseRule& rule) {
  const auto sizes = listed(site, rule.of);
  if (!sizes) return onlyZero("an index into a plane of unknown size");
  return within(std::accumulate(sizes->begin(), sizes->end(), std::int64_t(1), std::multiplies<>()), rule.of);
}

/// Offsets within the window of a pooling, row by row: those that lie inside of the input at every place of the window,
/// also where it hangs over the padding. One row of the window, because a range of offsets is no rectangle.
std::optional<ValueNeed> insideWindow(const UseSite& site, const UseRule& rule) {
  const auto kernel = listed(site, "kernel_size"), input = listed(site, "input_size"), stride = listed(site, "stride"),
             padding = listed(site, "padding"), dilation = listed(site, "dilation");
  const auto windows = site.sizes("self");
  const std::size_t dims = kernel ? kernel->size() : 0;
  for (const auto& list : {input, stride, padding, dilation})
    if (!list || list->size() != dims || dims == 0) return inListedPlane(site, rule);
  if (!windows || windows->size() < dims) return inListedPlane(site, rule);
  std::int64_t first = 0, last = 0;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t step = std::max<std::int64_t>(1, (*dilation)[d]);
    const std::int64_t lastPlace = ((*windows)[windows->size() - dims + d] - 1) * (*stride)[d] - (*padding)[d];
    const std::int64_t most =
        std::max<std::int64_t>(0, std::min((*kernel)[d] - 1, ((*input)[d] - 1 - lastPlace) / step));
    const std::int64_t least = std::min(((*padding)[d] + step - 1) / step, most);
    first = first * (*kernel)[d] + least;
    last = d + 1 == dims ? first + most - least : first;
  }
  ValueNeed need;
  need.whole = true;
  need.hard = need.likely = {double(first), double(last)};
  need.reasons.push_back(fmt::format("an offset from {} to {} that lies inside in every window", first, last));
  return need;
}

/// Below a number that the call gives.
std::optional<ValueNeed> belowNumber(const UseSite& site, const UseRule& rule) {
  const auto count = site.integer(rule.of);
  if (rule.of == "num_classes" && count.value_or(-1) < 0)
    return within(8, rule.of);  // one_hot that finds the number of classes itself
  return within(count, rule.of);
}

/// Dimensions of the indexed tensor that items before `item` take: a mask takes as many as it has.
std::optional<std::int64_t> dimensionOf(const UseSite& site, const ListArgument& list, std::int64_t rank) {
  std::int64_t dim = 0;
  for (std::ptrdiff_t i = 0; i < site.item; ++i) {
    const Argument& item = list.items[std::size_t(i)];
    if (item.as<Ellipsis>()) return rank - (std::ssize(list.items) - site.item);
    if (site.op != "index" && !site.op.ends_with("index_put") && item.isNone()) continue;  // a new axis
    const auto* id = item.as<NodeId>();
    const TensorMeta* meta = id ? site.graph.node(*id).meta().value.tensor() : nullptr;
    dim += meta != nullptr && meta->dtype == DType::Bool ? std::int64_t(meta->sizes.size()) : 1;
  }
  return dim;
}

/// self[mask] = values, where there is a value for each place: the mask has as many places.
std::optional<ValueNeed> placesForValues(const UseSite& site, const TensorMeta& mask) {
  const bool writes = site.op.ends_with("index_put") || site.op == "setitem";
  if (!writes || site.node.args().size() < 3) return {};
  const auto values = sizesOf(site.graph, site.node.args()[2]), self = site.sizes("self");
  const bool each = values && self && !values->empty() && values->front() > 1 &&
                    values->size() + mask.sizes.size() == self->size() + 1;
  const ListArgument* list = site.node.args()[1].asList();
  if (!each || (list != nullptr && list->items.size() > 1)) return {};
  ValueNeed need;
  need.pattern = ValueNeed::Pattern::Binary;
  need.total = values->front();
  need.reasons.push_back(fmt::format("a mask of {} places", need.total));
  return need;
}

/// aten.index(self, [i, None, j]) and self[i, :, j].
std::optional<ValueNeed> byList(const UseSite& site, const UseRule& rule) {
  const TensorMeta* meta = site.graph.node(site.value).meta().value.tensor();
  if (meta != nullptr && meta->dtype == DType::Bool) return placesForValues(site, *meta);
  if (meta != nullptr && (meta->dtype == DType::Bool || !isIntegral(meta->dtype))) return {};
  const Argument* indices = site.find(rule.argument);
  const ListArgument* list = indices ? indices->asList() : nullptr;
  const auto sizes = site.sizes("self");
  if (!sizes)
    return site.meta("self") ? std::optional(onlyZero("an index into a tensor of unknown size")) : std::nullopt;
  const auto dim = list && site.item >= 0 ? dimensionOf(site, *list, std::ssize(*sizes)) : std::optional(0L);
  auto need = within(dim ? site.size("self", *dim) : std::nullopt, "self");
  const bool writes = site.op.ends_with("index_put") || site.op == "setitem";
  const bool alone = !list || list->items.size() == 1;
  return writes && alone && !site.flag("accumulate") ? distinct(std::move(need), -1) : need;
}

/// Number of a segment: in ascending order.
std::optional<ValueNeed> segmentNumber(const UseSite& site, const UseRule& rule) {
  auto need = within(site.size(rule.of, rule.dim), rule.of);
  if (need->pattern == ValueNeed::Pattern::Free) need->pattern = ValueNeed::Pattern::Sorted;
  return need;
}

/// Labels of CTC: any class but the blank one, which mostly is the first.
std::optional<ValueNeed> ctcLabel(const UseSite& site, const UseRule& rule) {
  auto need = within(site.size(rule.of, -1), rule.of);
  if (need->pattern == ValueNeed::Pattern::Free && need->hard.upper >= 1) need->hard.lower = need->likely.lower = 1;
  return need;
}

/// LAPACK's row exchanges count from 1.
std::optional<ValueNeed> pivot(const UseSite& site, const UseRule& rule) {
  const auto rows = site.size(rule.of, -2);
  ValueNeed need;
  need.whole = true;
  need.hard = need.likely = {1, double(std::max<std::int64_t>(rows.value_or(1), 1))};
  need.reasons.emplace_back("a pivot from 1 on");
  return need;
}

constexpr UseRule indexRulesRows[] = {
    {"embedding embedding_bag _embedding_bag _embedding_bag_forward_only _embedding_bag_per_sample_weights_backward",
     "indices", alongFixed, "weight", 0},
    {"embedding_renorm", "indices", alongFixed, "self", 0},
    {"embedding_dense_backward _embedding_bag_backward _embedding_bag_dense_backward", "indices", belowNumber,
     "num_weights"},
    {"_embedding_bag_backward _embedding_bag_dense_backward _embedding_bag_per_sample_weights_backward", "offset2bag",
     segmentNumber, "grad", 0},
    {"_embedding_bag_dense_backward", "maximum_indices", belowNumber, "num_weights"},
    {"one_hot", "self", belowNumber, "num_classes"},
    {"gather gather_backward index_select index_add index_reduce index_fill scatter_add scatter_reduce select "
     "select_scatter",
     "index", alongNamed, "self"},
    {"take_along_dim", "indices", alongNamed, "self"},
    {"take put", "index", amongAll, "self"},
    {"index_copy scatter", "index", distinctAlongNamed, "self"},
    {"index _unsafe_index index_put _unsafe_index_put", "indices", byList},
    {"getitem setitem", "index", byList},
    {"nll_loss nll_loss_nd nll_loss_forward nll_loss2d_forward nll_loss_backward nll_loss2d_backward cross_entropy "
     "cross_entropy_loss multi_margin_loss multi_margin_loss_backward",
     "target", alongClasses, "self"},
    {"ctc_loss _ctc_loss _ctc_loss_backward", "targets", ctcLabel, "log_probs"},
    {"max_pool2d_with_indices_backward adaptive_max_pool2d_backward fractional_max_pool2d_backward", "indices", inPlane,
     "self", 2},
    {"max_pool3d_with_indices_backward adaptive_max_pool3d_backward fractional_max_pool3d_backward", "indices", inPlane,
     "self", 3},
    {"lu_unpack", "LU_pivots", pivot, "LU_data"},
    {"linalg_lu_solve", "pivots", pivot, "LU"},
    {"max_unpool2d max_unpool3d", "indices", inListedPlane, "output_size"},
    {"_low_memory_max_pool_offsets_to_indices", "self", insideWindow, "kernel_size"},
    {"_low_memory_max_pool2d_offsets_to_indices", "self", belowNumber, "kernel_width"},
};

}  // namespace

UseRules indexRules() { return indexRulesRows; }

}  // namespace kerf::inline capture
