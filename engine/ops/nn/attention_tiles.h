// Attention a block of queries at a time, so that their scores stay in the cache: products, masks, softmax and dropout
// of one block after the other instead of whole matrices of scores.
//
//   before: S = q kᵀ; P = softmax(S + mask); O = P v      after: for block of queries: S, P, O of these rows
#pragma once

#include <optional>
#include <vector>

#include "engine/ops/nn/attention_dropout.h"
#include "engine/support/result.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline ops {

/// Of [B * H, Q, D] queries, [B * H / groups, K, D] keys and [B * H / groups, K, E] values, all float32 or all float64.
struct TiledAttention {
  std::int64_t batch = 0, heads = 0, queries = 0, keys = 0, width = 0, valueWidth = 0;
  std::int64_t groups = 1;           ///< heads that share a key head
  std::optional<DType> narrow = {};  ///< what weights and gradients of scores are rounded to before their products
  double scale = 1;
  bool causal = false;
  Tensor q, k, v;
  Tensor mask;  ///< to be added, [B, H, Q, K] of any strides; undefined: none
  ScoreDropout dropout;

  std::int64_t matrices() const { return batch * heads; }
};

/// Whether there is anything to attend to, and sums need not be exact. The answer does not depend on threads.
bool attentionFitsTiles(const TiledAttention& attention);

/// out [B, H, Q, E] of any strides = softmax(scale q kᵀ + mask) v; gives the logarithm of every row's sum of
/// exponentials, by row. A row without a key is 0.
Result<std::vector<double>> attendInTiles(const TiledAttention& attention, const Tensor& out);

/// What is known of the softmax in a backward pass. Without the saved values both are computed again.
struct SavedSoftmax {
  std::vector<double> logSumExp;  ///< by row; empty: not saved
  Tensor out;                     ///< [B * H, Q, E], with `logSumExp`
};

/// [B * H, Q, D], [B * H, K, D], [B * H, K, E]; contiguous. Those of shared key heads are not added up yet.
struct TiledGradients {
  Tensor query, key, value;
};
Result<TiledGradients> attentionGradientsInTiles(const TiledAttention& attention, const Tensor& grad,
                                                 const SavedSoftmax& saved);

}  // namespace kerf::inline ops
