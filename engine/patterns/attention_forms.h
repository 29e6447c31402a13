// The ways in which models write attention that Inductor 2.11 knows (fuse_attention.py), one row each, and from a row
// the function that a graph is searched for and the one that takes its place.
#pragma once

#include <span>
#include <string>

#include "engine/patterns/pattern_trace.h"

namespace kerf::inline patterns {

/// softmax(query · keyᵀ …) · value, and what is done to it on the way.
struct AttentionForm {
  enum class Layout : std::uint8_t {
    HeadsFirst,   ///< [batch, heads, length, size] as it is multiplied
    HeadsSecond,  ///< [batch, length, heads, size], permuted before it is multiplied
    ThreeDims,    ///< [batch, length, size]
    Flattened,    ///< heads first, batch and heads become one dimension for bmm
  };
  enum class Scale : std::uint8_t { None, DivideScores, MultiplyScores, DivideQuery, DivideByTensor };
  enum class Mask : std::uint8_t {
    None,
    Added,           ///< attn_mask is added to the scores
    Filled,          ///< scores are -inf where the [batch, keys] attn_mask is 0
    Causal,          ///< scores are the smallest number where causal_mask is false
    CausalAndAdded,  ///< and attn_mask is added then
  };
  enum class Weights : std::uint8_t {
    AsScores,
    Float32ThenHalf,  ///< scores to float32, weights and values to float16
    RoundedScores,    ///< scores to the query's dtype, to float32, weights to the query's dtype
    Float32,          ///< scores to float32, weights to the query's dtype
    OfQuery,          ///< weights to the query's dtype, after dropout
    OfValue,          ///< weights to the value's dtype
  };
  /// What Inductor asks of a match beyond its shape.
  enum class Check : std::uint8_t { None, Parameters, ScaleIsNumber };

  int number = 0;
  std::string_view models;  ///< who writes it so
  Layout layout = Layout::HeadsFirst;
  Scale scale = Scale::None;
  Mask mask = Mask::None;
  Weights weights = Weights::AsScores;
  bool dropout = false;
  bool keepsKeyValue = false;  ///< the permuted key and value are results too
  bool contiguous = false;     ///< the fused call gets contiguous inputs
  Check check = Check::Parameters;
  bool scaleIsNumber = false;  ///< the trace's example of the scale is a number; else a tensor
  bool notOnCuda = false;
};

/// Patterns 1 to 28 in order.
std::span<const AttentionForm> attentionForms();
/// "softmax(q kᵀ / inv_scale + attn_mask) v of [batch, length, heads, size]; dropout (BertLarge)"
std::string describe(const AttentionForm& form);
/// Name of the argument that scales: "inv_scale", "scale_factor"; empty: none.
std::string_view scaleName(const AttentionForm& form);

/// Arguments: query, key, value, causal_mask, attn_mask, the scale, dropout_p, as the form has them.
PatternFunction attentionSearch(const AttentionForm& form);
PatternFunction attentionReplacement(const AttentionForm& form);

}  // namespace kerf::inline patterns
