#include "engine/ops/core/saved_results.h"

#include <algorithm>
#include <string_view>

namespace kerf::inline ops {
namespace {

struct SavedResults {
  std::string_view op;  ///< every overload
  std::size_t from;     ///< this result and those behind it
};

constexpr SavedResults saved[] = {
    {"aten::native_layer_norm", 1},      {"aten::native_group_norm", 1},
    {"aten::native_batch_norm", 1},      {"aten::_native_batch_norm_legit", 1},
    {"aten::_batch_norm_with_update", 1}, {"aten::_batch_norm_no_update", 1},
    {"aten::_embedding_bag", 1},         {"aten::_embedding_bag_forward_only", 1},
    {"aten::log_sigmoid_forward", 1},    {"aten::nll_loss_forward", 1},
    {"aten::nll_loss2d_forward", 1},     {"aten::multilabel_margin_loss_forward", 1},
    {"aten::_ctc_loss", 1},              {"aten::_scaled_dot_product_flash_attention_for_cpu", 1},
    {"aten::_scaled_dot_product_efficient_attention", 1},
};

constexpr std::string_view constants[] = {
    "aten::detach",
};

}  // namespace

bool isSavedResult(const OpInfo& op, std::size_t result) {
  const auto* found = std::ranges::find(saved, op.schema.name, &SavedResults::op);
  return found != std::end(saved) && result >= found->from;
}

bool isConstantByDefinition(const OpInfo& op) {
  return std::ranges::find(constants, op.schema.name) != std::end(constants);
}

}  // namespace kerf::inline ops
