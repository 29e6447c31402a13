// SharedRandom: gives the random ops of all stages of one compile the same numbers. The stages draw in the same order,
// but say it in other words (dropout, rand and gt, inductor_seeds and inductor_random), and every kernel draws in its
// own way.
#pragma once

#include <string>

#include "engine/ir/op_caller.h"

namespace kerf::inline verification {

/// How many draws a run has made; a backward graph goes on where its forward graph ended.
struct RandomDraws {
  std::int64_t next = 0;    ///< of uniform and normal numbers
  std::int64_t others = 0;  ///< of ops that draw for themselves, which Inductor does not count among the former
  /// "torch.ops.aten._scaled_dot_product_efficient_attention.default": what attention with dropout becomes in the ATen
  /// graphs, where it stays one op with numbers of its own. Empty: it is decomposed.
  std::string fusedAttention = {};
};

/// Everything that is not random goes to `inner`. The n-th draw of uniform numbers is the same function of n and the
/// element's index everywhere, the n-th draw of normal ones another. Inductor's seeds are numbers of draws, so that a
/// node that looks up another seed gets other numbers. Random ops that are none of these (randperm, multinomial) draw
/// from PyTorch's generator, seeded with the number of the draw.
class SharedRandom : public OpCaller {
 public:
  SharedRandom(const OpCaller& inner, RandomDraws& draws) : m_inner(inner), m_draws(draws) {}
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override;
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override;

  const OpCaller& inner() const { return m_inner; }
  RandomDraws& draws() const { return m_draws; }

 private:
  const OpCaller& m_inner;
  RandomDraws& m_draws;
};

}  // namespace kerf::inline verification
