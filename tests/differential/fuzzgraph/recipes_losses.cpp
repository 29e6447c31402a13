// Arguments of losses: targets that name classes, and targets of the input's sizes.
#include "tests/differential/fuzzgraph/op_nature.h"
#include "tests/differential/fuzzgraph/recipes.h"

namespace kerf::fuzzgraph {
namespace {

const Sizes& sizesOf(const Operand& operand) { return operand.value.tensor().sizes(); }

void setIfThere(CallDraft& draft, std::string_view name, const Value& value) {
  if (draft.has(name)) draft.set(name, value);
}

bool classLoss(CallDraft& draft) {
  const Operand input = draft.floatOfRank(2, {4, 5});
  const std::string_view name = draft.has("self") ? "self" : "input";
  draft.set(name, input);
  draft.set("target", draft.indices({sizesOf(input)[0]}, sizesOf(input)[1]));
  if (draft.dice.chance(50))
    draft.set("weight", draft.floats({sizesOf(input)[1]}, {0.2, 2}));
  else if (draft.has("weight"))
    draft.set("weight", Operand{});
  setIfThere(draft, "reduction", Value(draft.dice.between(0, 2)));
  setIfThere(draft, "ignore_index", Value(std::int64_t{-100}));
  return true;
}

bool planeLoss(CallDraft& draft) {
  const Operand input = draft.floatOfRank(4, {2, 3, 4, 4});
  const Sizes& sizes = sizesOf(input);
  draft.set("self", input);
  draft.set("target", draft.indices({sizes[0], sizes[2], sizes[3]}, sizes[1]));
  draft.set("weight", Operand{});
  draft.set("reduction", Value(draft.dice.between(0, 2)));
  draft.set("ignore_index", Value(std::int64_t{-100}));
  return true;
}

bool pairLoss(CallDraft& draft) {
  if (draft.has("reduction")) draft.set("reduction", Value(draft.dice.between(0, 2)));
  const Operand input = draft.floatOfRank(std::size_t(draft.dice.between(1, 3)));
  const bool probability = plainName(draft.op()) == "binary_cross_entropy";
  draft.set(draft.has("self") ? "self" : "input", probability ? draft.floats(sizesOf(input), {0.05, 0.95}) : input);
  draft.set("target", draft.floats(sizesOf(input), {0.05, 0.95}));
  if (draft.has("weight")) draft.set("weight", Operand{});
  if (draft.has("pos_weight")) draft.set("pos_weight", Operand{});
  return true;
}

constexpr RecipeRow rows[] = {
    {"nll_loss_forward nll_loss_nd nll_loss cross_entropy_loss multi_margin_loss", classLoss},
    {"nll_loss2d_forward", planeLoss},
    {"mse_loss l1_loss huber_loss smooth_l1_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div "
     "poisson_nll_loss soft_margin_loss hinge_embedding_loss",
     pairLoss},
};

}  // namespace

std::span<const RecipeRow> lossRecipes() { return rows; }

}  // namespace kerf::fuzzgraph
