#include "engine/diff/op_landmarks.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kerf::inline diff {

namespace {

using Names = std::vector<std::string_view>;

const std::unordered_map<std::string_view, Names>& table() {
  static const Names products = {"addmm", "mm", "bmm", "baddbmm", "dot", "mv", "linear", "matmul"};
  static const Names convolutions = {"convolution", "_convolution", "cudnn_convolution", "mkldnn_convolution", "conv1d",
                                     "conv2d",      "conv3d"};
  static const Names moments = {"var_mean",
                                "native_layer_norm",
                                "native_group_norm",
                                "_native_batch_norm_legit",
                                "_native_batch_norm_legit_functional",
                                "native_batch_norm",
                                "sqrt",
                                "rsqrt"};
  static const Names attention = {"_scaled_dot_product_flash_attention",
                                  "_scaled_dot_product_efficient_attention",
                                  "_scaled_dot_product_flash_attention_for_cpu",
                                  "_scaled_dot_product_cudnn_attention",
                                  "scaled_dot_product_attention",
                                  "bmm"};
  static const std::unordered_map<std::string_view, Names> landmarks = {
      {"linear", products},
      {"matmul", products},
      {"mm", products},
      {"bmm", products},
      {"addmm", products},
      {"baddbmm", products},
      {"einsum", products},
      {"bilinear", products},
      {"conv1d", convolutions},
      {"conv2d", convolutions},
      {"conv3d", convolutions},
      {"conv_transpose1d", convolutions},
      {"conv_transpose2d", convolutions},
      {"conv_transpose3d", convolutions},
      {"convolution", convolutions},
      {"batch_norm", moments},
      {"layer_norm", moments},
      {"group_norm", moments},
      {"instance_norm", moments},
      {"native_layer_norm", moments},
      {"rms_norm", {"rsqrt", "_fused_rms_norm"}},
      {"scaled_dot_product_attention", attention},
      {"multi_head_attention_forward", attention},
      {"embedding", {"embedding", "index", "index_select"}},
      {"embedding_bag", {"_embedding_bag", "_embedding_bag_forward_only", "embedding"}},
      {"max_pool2d",
       {"max_pool2d_with_indices", "_low_memory_max_pool_with_offsets", "_low_memory_max_pool2d_with_offsets"}},
      {"gelu", {"erf", "tanh", "gelu"}},
      {"softmax", {"exp", "_softmax", "prepare_softmax_online"}},
      {"log_softmax", {"log", "_log_softmax"}},
      {"cumsum", {"cumsum"}},
  };
  return landmarks;
}

/// Ops that do little but one thing: outside of the ops that name them, they are a sign of a wrong cut.
const std::unordered_set<std::string_view>& exclusive() {
  static const std::unordered_set<std::string_view> names = {"addmm",
                                                             "mm",
                                                             "bmm",
                                                             "baddbmm",
                                                             "convolution",
                                                             "var_mean",
                                                             "embedding",
                                                             "cumsum",
                                                             "erf",
                                                             "native_layer_norm",
                                                             "_scaled_dot_product_flash_attention",
                                                             "_scaled_dot_product_efficient_attention",
                                                             "linear",
                                                             "conv2d",
                                                             "_scaled_dot_product_flash_attention_for_cpu",
                                                             "max_pool2d_with_indices",
                                                             "_low_memory_max_pool_with_offsets"};
  return names;
}

constexpr std::string_view glue[] = {"view",         "reshape",
                                     "_unsafe_view", "permute",
                                     "transpose",    "t",
                                     "expand",       "squeeze",
                                     "unsqueeze",    "clone",
                                     "slice",        "select",
                                     "getitem",      "alias",
                                     "detach",       "convert_element_type",
                                     "_to_copy",     "contiguous",
                                     "as_strided",   "flatten",
                                     "device_put",   "full",
                                     "empty",        "arange",
                                     "iota",         "scalar_tensor",
                                     "sym_size",     "lift_fresh_copy"};

constexpr std::string_view plain[] = {
    "linear",           "matmul",           "mm",          "bmm",       "addmm",
    "baddbmm",          "conv1d",           "conv2d",      "conv3d",    "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "convolution", "embedding", "cumsum"};

constexpr std::string_view vanishing[] = {"_log_api_usage_once",
                                          "dropout",
                                          "dropout1d",
                                          "dropout2d",
                                          "feature_dropout",
                                          "alpha_dropout",
                                          "contiguous",
                                          "to",
                                          "alias",
                                          "detach",
                                          "clone",
                                          "float",
                                          "type_as",
                                          "view_as",
                                          "expand",
                                          "flatten",
                                          "reshape",
                                          "view",
                                          "identity",
                                          "_assert_scalar",
                                          "_set_grad_enabled",
                                          "size",
                                          "getattr",
                                          "lift_fresh_copy",
                                          "getitem",
                                          "is_grad_enabled",
                                          "half",
                                          "bfloat16",
                                          "type",
                                          "stochastic_depth"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::span<const std::string_view> landmarksOf(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? std::span<const std::string_view>() : found->second;
}

bool isLandmark(std::string_view name) { return exclusive().contains(name); }
bool isPlain(std::string_view name) { return contains(plain, name); }
bool isGlue(std::string_view name) { return contains(glue, name); }
bool isMade(std::string_view name) { return name.starts_with("new_") || name.ends_with("_like"); }
bool mayVanish(std::string_view name) { return contains(vanishing, name); }

}  // namespace kerf::inline diff
