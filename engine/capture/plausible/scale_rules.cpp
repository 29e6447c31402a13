// Uses that decide on the scale: weights by their fan-in, gains near 1, shifts near 0, so that activations stay near 1
// through deep graphs, also in half precision.
#include <algorithm>
#include <cmath>

#include "engine/capture/plausible/use_rules.h"

namespace kerf::inline capture {
namespace {

constexpr double deviation = 0.1;  ///< of gains and shifts

std::optional<ValueNeed> around(double centre, double spread, std::string reason) {
  ValueNeed need;
  need.centre = centre;
  need.spread = spread;
  need.reasons.push_back(std::move(reason));
  return need;
}

std::optional<ValueNeed> scaledBy(std::optional<std::int64_t> fanIn) {
  if (!fanIn || *fanIn < 1) return {};
  return around(0, 1 / std::sqrt(double(*fanIn)), fmt::format("a weight with fan-in {}", *fanIn));
}

/// The contracted dimension of the right factor.
std::optional<ValueNeed> rightFactor(const UseSite& site, const UseRule&) {
  const auto sizes = sizesOf(site.graph, Argument(site.value));
  if (!sizes || sizes->empty()) return {};
  return scaledBy((*sizes)[sizes->size() == 1 ? 0 : sizes->size() - 2]);
}

/// The last dimension: of linear's weight, or of a left factor beside which stands no other input.
std::optional<ValueNeed> lastDimension(const UseSite& site, const UseRule&) {
  const auto sizes = sizesOf(site.graph, Argument(site.value));
  return sizes && !sizes->empty() ? scaledBy(sizes->back()) : std::nullopt;
}

bool comesFromInput(const Graph& graph, const Argument* argument) {
  const auto* id = argument ? argument->as<NodeId>() : nullptr;
  for (int steps = 0; id != nullptr && steps < 8; ++steps) {
    const Node& node = graph.node(*id);
    if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr) return true;
    id = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
    static constexpr std::string_view views[] = {"view",      "permute", "t",           "transpose",
                                                 "expand",    "reshape", "_to_copy",    "convert_element_type",
                                                 "unsqueeze", "clone",   "_unsafe_view"};
    if (std::ranges::find(views, baseOpName(node)) == std::end(views)) return false;
  }
  return false;
}

std::optional<ValueNeed> leftFactor(const UseSite& site, const UseRule& rule) {
  const Argument* other = site.find("mat2");
  if (other == nullptr) other = site.find("other");
  return comesFromInput(site.graph, other) ? std::nullopt : lastDimension(site, rule);
}

/// All dimensions of a filter but the first.
std::optional<ValueNeed> filter(const UseSite& site, const UseRule&) {
  const auto sizes = sizesOf(site.graph, Argument(site.value));
  if (!sizes || sizes->size() < 2) return {};
  std::int64_t fanIn = 1;
  for (std::size_t i = 1; i < sizes->size(); ++i) fanIn = std::min<std::int64_t>(fanIn * (*sizes)[i], 1 << 20);
  if (site.flag("transposed")) {  // there the first dimension is the one that is summed over
    const auto groups = std::max<std::int64_t>(site.integer("groups").value_or(1), 1);
    fanIn = fanIn / std::max<std::int64_t>((*sizes)[1], 1) * std::max<std::int64_t>((*sizes)[0] / groups, 1);
  }
  return scaledBy(fanIn);
}

std::optional<ValueNeed> gain(const UseSite&, const UseRule&) { return around(1, deviation, "a gain near 1"); }
std::optional<ValueNeed> shift(const UseSite&, const UseRule&) { return around(0, deviation, "a shift near 0"); }

bool isFloat(const UseSite& site) {
  const TensorMeta* meta = site.graph.node(site.value).meta().value.tensor();
  return meta != nullptr && isFloating(meta->dtype);
}

/// Whether the value is spread over a larger operand.
bool isBroadcast(const UseSite& site) {
  const Argument* other = site.find(site.argument == "self" ? "other" : "self");
  const auto mine = numelOf(site.graph, Argument(site.value));
  const auto theirs = other ? numelOf(site.graph, *other) : std::nullopt;
  return mine && theirs && *mine < *theirs;
}

/// Layer norm's backward multiplies a saved rsqrt / n with n * x - sum - …: n, read off the other factor.
std::optional<std::int64_t> normalizedBy(const UseSite& site) {
  const Argument* other = site.find(site.argument == "self" ? "other" : "self");
  const NodeId* id = other ? other->as<NodeId>() : nullptr;
  for (int step = 0; step < 3 && id != nullptr; ++step) {
    const Node& node = site.graph.node(*id);
    const std::string_view name = baseOpName(node);
    if (name != "sub" && name != "mul") return {};
    if (name == "mul") {
      const auto factor = node.args().size() > 1 ? numberOf(site.graph, node.args()[1]) : std::nullopt;
      const bool count = factor && *factor > 1 && *factor < (1 << 24) && *factor == std::floor(*factor);
      return count ? std::optional(std::int64_t(*factor)) : std::nullopt;
    }
    id = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
  }
  return {};
}

/// Whether the node's value, through views, is spread over a larger factor: what batch norm's backward does with a
/// saved inverse deviation times a weight.
bool isBroadcastLater(const Graph& graph, NodeId product) {
  NodeId value = product;
  for (int step = 0; step < 8; ++step) {
    NodeId next;
    for (const NodeId id : graph.node(value).users()) {
      const Node& user = graph.node(id);
      const std::string_view name = baseOpName(user);
      if (name == "unsqueeze" || name == "expand" || name == "view" || name == "reshape") next = id;
      if (name != "mul" || user.args().size() < 2) continue;
      const Argument& other = user.args()[user.args()[0] == Argument(value) ? 1 : 0];
      const auto mine = numelOf(graph, Argument(value)), theirs = numelOf(graph, other);
      if (mine && theirs && *mine < *theirs) return true;
    }
    if (!next.valid()) return false;
    value = next;
  }
  return false;
}

std::optional<ValueNeed> factor(const UseSite& site, const UseRule& rule) {
  if (!isFloat(site)) return {};
  if (!isBroadcast(site)) {
    const auto sizes = sizesOf(site.graph, Argument(site.value));
    const bool isRow = sizes && sizes->size() == 1 && site.number("other") == std::nullopt;
    return isRow && isBroadcastLater(site.graph, site.node.id()) ? gain(site, rule) : std::nullopt;
  }
  if (const auto n = normalizedBy(site))
    return around(1 / double(*n), deviation / double(*n), fmt::format("a norm's saved factor over {}", *n));
  return gain(site, rule);
}

std::optional<ValueNeed> summand(const UseSite& site, const UseRule& rule) {
  if (!isFloat(site) || !isBroadcast(site)) return {};
  return shift(site, rule);
}

std::optional<ValueNeed> additiveMask(const UseSite& site, const UseRule& rule) {
  return isFloat(site) ? shift(site, rule) : std::nullopt;
}

/// log(sum(exp(scores))) over that many keys.
std::optional<ValueNeed> logSumExp(const UseSite& site, const UseRule&) {
  const auto keys = site.size("key", -2);
  return keys ? around(std::log(double(std::max<std::int64_t>(*keys, 1))) + 0.5, deviation, "a saved logsumexp")
              : std::nullopt;
}

constexpr UseRule scaleRulesRows[] = {
    {"mm bmm addmm _addmm_activation _scaled_mm _int_mm", "mat2", rightFactor},
    {"mm matmul", "self", leftFactor},
    {"matmul", "other", rightFactor},
    {"mv addmv", "vec", rightFactor},
    {"addmm", "mat1", leftFactor},
    {"addmm", "self", shift},
    {"baddbmm", "batch2", rightFactor},
    {"linear bilinear", "weight", lastDimension},
    {"linear convolution _convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d "
     "native_layer_norm layer_norm group_norm native_group_norm batch_norm native_batch_norm "
     "_native_batch_norm_legit _native_batch_norm_legit_no_training _native_batch_norm_legit_functional",
     "bias", shift},
    {"convolution _convolution convolution_backward conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
     "conv_transpose3d",
     "weight", filter},
    {"gru lstm rnn_tanh rnn_relu", "params", lastDimension},
    {"native_layer_norm native_layer_norm_backward layer_norm rms_norm _fused_rms_norm group_norm native_group_norm "
     "native_group_norm_backward batch_norm instance_norm native_batch_norm _native_batch_norm_legit "
     "_native_batch_norm_legit_no_training _native_batch_norm_legit_functional native_batch_norm_backward",
     "weight", gain},
    {"native_layer_norm_backward", "mean", shift},
    {"batch_norm instance_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training "
     "_native_batch_norm_legit_functional",
     "running_mean", shift},
    {"native_batch_norm_backward", "save_mean", shift},
    {"mul", "self", factor},
    {"mul", "other", factor},
    {"add", "self", summand},
    {"add sub", "other", summand},
    {"scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu", "attn_mask", additiveMask},
    {"_scaled_dot_product_efficient_attention", "attn_bias", additiveMask},
    {"_scaled_dot_product_flash_attention_backward _scaled_dot_product_flash_attention_for_cpu_backward "
     "_scaled_dot_product_efficient_attention_backward _scaled_dot_product_cudnn_attention_backward "
     "_scaled_dot_product_fused_attention_overrideable_backward",
     "logsumexp", logSumExp},
};

}  // namespace

UseRules scaleRules() { return scaleRulesRows; }

}  // namespace kerf::inline capture
