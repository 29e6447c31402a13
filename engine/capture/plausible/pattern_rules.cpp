// Uses that need values of a certain pattern: masks, sorted boundaries, offsets and lengths, saved softmaxes.
#include <algorithm>
#include <cmath>

#include "engine/capture/plausible/use_rules.h"

namespace kerf::inline capture {
namespace {

using Pattern = ValueNeed::Pattern;
constexpr double hiding = 1000;  ///< what is added or filled in to hide a score is larger than this

ValueNeed patterned(Pattern pattern, std::string reason) {
  ValueNeed need;
  need.pattern = pattern;
  need.reasons.push_back(std::move(reason));
  return need;
}

ValueNeed mask(bool mostlyOnes, std::string reason) {
  ValueNeed need = patterned(Pattern::Binary, std::move(reason));
  need.ones = mostlyOnes ? 0.75 : 0.25;
  need.whole = true;
  need.hard = need.likely = {0, 1};
  return need;
}

bool hides(std::optional<double> number) { return number && *number <= -hiding; }

/// masked_fill(x, mask, -inf) hides where the mask holds.
std::optional<ValueNeed> hidingMask(const UseSite& site, const UseRule&) {
  if (hides(site.number("value"))) return mask(false, "a mask that hides");
  return {};
}

/// where(mask, x, -inf) keeps where it holds.
std::optional<ValueNeed> choosingMask(const UseSite& site, const UseRule&) {
  if (hides(site.number("other"))) return mask(true, "a mask that keeps");
  if (hides(site.number("self"))) return mask(false, "a mask that hides");
  return {};
}

/// (1 - mask) * -1e38: a factor of 1 hides.
std::optional<ValueNeed> hidingFactor(const UseSite& site, const UseRule&) {
  const auto factor = site.number(site.argument == "self" ? "other" : "self");
  if (!factor || (*factor > -1e4 && *factor < 1e30)) return {};
  return mask(false, "a mask that hides");
}

std::optional<ValueNeed> attentionMask(const UseSite& site, const UseRule&) {
  const TensorMeta* meta = site.graph.node(site.value).meta().value.tensor();
  if (meta == nullptr || meta->dtype != DType::Bool) return {};
  return mask(true, "a mask that keeps");
}

std::optional<ValueNeed> sorted(const UseSite&, const UseRule&) {
  return patterned(Pattern::Sorted, "sorted boundaries");
}

std::optional<ValueNeed> softmaxRows(const UseSite& site, const UseRule&) {
  ValueNeed need = patterned(Pattern::Softmax, "a saved softmax");
  need.dim = site.integer("dim").value_or(-1);
  return need;
}

std::optional<ValueNeed> logSoftmaxRows(const UseSite& site, const UseRule& rule) {
  ValueNeed need = patterned(Pattern::LogSoftmax, "logarithms of probabilities");
  need.dim = site.integer("dim").value_or(rule.dim);
  return need;
}

const Argument* reducedDims(const Graph& graph, const Node& sum) {
  (void)graph;
  return sum.args().size() > 1 ? &sum.args()[1] : nullptr;
}

/// What the decomposed backward of softmax does: grad * y, its sum along one dimension, and that times y again.
std::optional<std::int64_t> softmaxDimension(const UseSite& site) {
  for (const NodeId id : site.node.users()) {
    const Node& sum = site.graph.node(id);
    if (baseOpName(sum) != "sum") continue;
    const Argument* dims = reducedDims(site.graph, sum);
    const ListArgument* list = dims ? dims->asList() : nullptr;
    if (list == nullptr || list->items.size() != 1 || !list->items[0].as<std::int64_t>()) continue;
    for (const NodeId userId : sum.users()) {
      const std::vector<NodeId> inputs = site.graph.node(userId).inputs();
      const bool again = std::ranges::any_of(inputs, [&](NodeId input) {
        if (input == site.value) return true;
        const Node& node = site.graph.node(input);
        return baseOpName(node) == "neg" && node.args()[0] == Argument(site.value);
      });
      if (again && inputs.size() > 1) return *list->items[0].as<std::int64_t>();
    }
  }
  return {};
}

std::optional<ValueNeed> decomposedSoftmax(const UseSite& site, const UseRule&) {
  const auto dim = softmaxDimension(site);
  if (!dim) return {};
  ValueNeed need = patterned(Pattern::Softmax, "a saved softmax");
  need.dim = *dim;
  return need;
}

/// Where bags begin among the indices.
std::optional<ValueNeed> bagOffsets(const UseSite& site, const UseRule& rule) {
  const auto total = site.numel(rule.of);
  ValueNeed need = patterned(Pattern::Offsets, "ascending offsets");
  need.total = total.value_or(0);
  need.endsAtTotal = site.flag("include_last_offset");
  if (!need.endsAtTotal && need.total > 0) --need.total;
  return need;
}

std::optional<ValueNeed> rowOffsets(const UseSite& site, const UseRule& rule) {
  const std::int64_t axis = site.integer("axis").value_or(rule.dim);
  ValueNeed need = patterned(Pattern::Offsets, "offsets of rows");
  need.total = site.size(rule.of, axis).value_or(0);
  need.endsAtTotal = true;
  return need;
}

std::optional<ValueNeed> rowLengths(const UseSite& site, const UseRule& rule) {
  ValueNeed need = patterned(Pattern::Lengths, "lengths of rows");
  need.total = site.size(rule.of, site.integer("axis").value_or(rule.dim)).value_or(0);
  return need;
}

std::optional<ValueNeed> bagSizes(const UseSite& site, const UseRule& rule) {
  ValueNeed need = patterned(Pattern::Lengths, "sizes of bags");
  need.total = site.numel(rule.of).value_or(0);
  return need;
}

std::optional<ValueNeed> repeats(const UseSite& site, const UseRule&) {
  ValueNeed need = patterned(Pattern::Lengths, "numbers of repeats");
  if (const auto total = site.integer("output_size")) {
    need.total = *total;
    return need;
  }
  need.pattern = Pattern::Free;
  need.whole = true;
  need.hard = {0, 64};
  need.likely = {1, 3};
  return need;
}

/// All rows as long as the recording has time steps; labels at most half as many.
std::optional<ValueNeed> ctcLengths(const UseSite& site, const UseRule& rule) {
  const auto steps = site.size("log_probs", 0);
  if (!steps) return {};
  ValueNeed need = patterned(Pattern::Free, "lengths of sequences");
  need.whole = true;
  if (rule.argument == "input_lengths") {
    need.hard = need.likely = {double(*steps), double(*steps)};
    return need;
  }
  const auto sizes = site.sizes("targets");
  const std::int64_t most = sizes && sizes->size() == 2 ? (*sizes)[1] : *steps / 2;
  need.hard = need.likely = {1, double(std::max<std::int64_t>(1, std::min(most, *steps / 2)))};
  if (sizes && sizes->size() == 1) {
    need = patterned(Pattern::Lengths, "lengths of sequences");
    need.total = (*sizes)[0];
  }
  return need;
}

std::optional<ValueNeed> positiveDefinite(const UseSite&, const UseRule&) {
  return patterned(Pattern::PositiveDefinite, "a matrix with a strong diagonal");
}

std::optional<ValueNeed> bins(const UseSite& site, const UseRule&) {
  ValueNeed need = patterned(Pattern::Free, "numbers of bins");
  need.whole = true;
  need.hard = {0, 1e6};
  need.likely = {0, double(std::max<std::int64_t>(site.integer("minlength").value_or(8), 1) - 1)};
  return need;
}

constexpr UseRule patternRulesRows[] = {
    {"masked_fill", "mask", hidingMask},
    {"where", "condition", choosingMask},
    {"mul", "self", hidingFactor},
    {"mul", "other", hidingFactor},
    {"scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu", "attn_mask", attentionMask},
    {"_scaled_dot_product_efficient_attention", "attn_bias", attentionMask},
    {"bucketize", "boundaries", sorted},
    {"searchsorted", "sorted_sequence", sorted},
    {"_histogramdd_from_bin_tensors", "bins", sorted},
    {"_softmax_backward_data", "output", softmaxRows},
    {"_log_softmax_backward_data", "output", logSoftmaxRows},
    {"mul", "self", decomposedSoftmax},
    {"mul", "other", decomposedSoftmax},
    {"nll_loss nll_loss_nd nll_loss_forward nll_loss2d_forward", "self", logSoftmaxRows, {}, 1},
    {"kl_div", "self", logSoftmaxRows, {}, -1},
    {"ctc_loss _ctc_loss _ctc_loss_backward", "log_probs", logSoftmaxRows, {}, -1},
    {"ctc_loss _ctc_loss _ctc_loss_backward", "input_lengths", ctcLengths},
    {"ctc_loss _ctc_loss _ctc_loss_backward", "target_lengths", ctcLengths},
    {"embedding_bag _embedding_bag _embedding_bag_forward_only _embedding_bag_backward "
     "_embedding_bag_per_sample_weights_backward",
     "offsets", bagOffsets, "indices"},
    {"_embedding_bag_backward _embedding_bag_dense_backward", "bag_size", bagSizes, "indices"},
    {"segment_reduce _segment_reduce_backward", "offsets", rowOffsets, "data", 0},
    {"segment_reduce _segment_reduce_backward", "lengths", rowLengths, "data", 0},
    {"_jagged_to_padded_dense_forward _padded_dense_to_jagged_forward", "offsets", rowOffsets, "values", 0},
    {"_flash_attention_forward", "cum_seq_q", rowOffsets, "query", 0},
    {"_flash_attention_forward", "cum_seq_k", rowOffsets, "key", 0},
    {"_efficient_attention_forward", "cu_seqlens_q", rowOffsets, "query", 1},
    {"_efficient_attention_forward", "cu_seqlens_k", rowOffsets, "key", 1},
    {"repeat_interleave", "repeats", repeats},
    {"bincount", "self", bins},
    {"cholesky linalg_cholesky linalg_cholesky_ex cholesky_inverse inverse linalg_solve_triangular", "self",
     positiveDefinite},
    {"cholesky_solve", "input2", positiveDefinite},
    {"linalg_inv linalg_inv_ex linalg_solve _linalg_solve_ex triangular_solve", "A", positiveDefinite},
};

}  // namespace

UseRules patternRules() { return patternRulesRows; }

}  // namespace kerf::inline capture
