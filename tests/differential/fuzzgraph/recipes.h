// Recipes: for families of ops whose arguments must fit each other, how to make such arguments. One table per file.
#pragma once

#include <span>
#include <string_view>

#include "tests/differential/fuzzgraph/call_draft.h"

namespace kerf::fuzzgraph {

struct RecipeRow {
  std::string_view names;  ///< plainName()s, with spaces between
  CallRecipe recipe;
};

std::span<const RecipeRow> layerRecipes();  ///< convolutions, pooling, normalization, embedding, attention
std::span<const RecipeRow> lossRecipes();
std::span<const RecipeRow> indexRecipes();     ///< gather, scatter, index, slices, views with sizes
std::span<const RecipeRow> productRecipes();   ///< matrix products and linear algebra
std::span<const RecipeRow> backwardRecipes();  ///< the backward of an op, with gradients of its result's sizes

/// Result of an op on what a draft has set so far, as the shape rule tells it; nothing if it refuses.
std::optional<Value> shapeOf(std::string_view target, const ValueList& args, const KeywordValues& kwargs = {});

}  // namespace kerf::fuzzgraph
