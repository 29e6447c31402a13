// One line on each form of attention.
#include "engine/patterns/attention_forms.h"

namespace kerf::inline patterns {

namespace {

constexpr std::string_view scaleTexts[] = {"q kᵀ", "q kᵀ / inv_scale", "q kᵀ · scale_factor", "(q / inv_scale) kᵀ",
                                           "q kᵀ / full(inv_scale)"};
constexpr std::string_view maskTexts[] = {"{}", "{} + attn_mask", "masked_fill({}, attn_mask == 0, -inf)",
                                          "where(causal_mask, {}, min)", "where(causal_mask, {}, min) + attn_mask"};
constexpr std::string_view weightTexts[] = {"",
                                            "float32 softmax, float16 weights",
                                            "scores rounded, float32 softmax",
                                            "float32 softmax",
                                            "weights as the query",
                                            "weights as the value"};
constexpr std::string_view layoutTexts[] = {"[batch, heads, length, size]", "[batch, length, heads, size]",
                                            "[batch, length, size]", "[batch, heads, length, size] by bmm"};

}  // namespace

std::string describe(const AttentionForm& form) {
  const std::string_view mask = maskTexts[std::size_t(form.mask)];
  const std::size_t hole = mask.find("{}");
  std::string text = fmt::format("softmax({}{}{}) v of {}", mask.substr(0, hole), scaleTexts[std::size_t(form.scale)],
                                 mask.substr(hole + 2), layoutTexts[std::size_t(form.layout)]);
  if (const std::string_view weights = weightTexts[std::size_t(form.weights)]; !weights.empty())
    text += fmt::format(", {}", weights);
  if (form.dropout) text += ", dropout";
  if (form.keepsKeyValue) text += ", with k and v as results";
  if (!form.models.empty()) text += fmt::format(" ({})", form.models);
  return text;
}

}  // namespace kerf::inline patterns
