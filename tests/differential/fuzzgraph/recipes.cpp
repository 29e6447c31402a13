#include "tests/differential/fuzzgraph/recipes.h"

#include <unordered_map>

#include "tests/differential/fuzzgraph/op_nature.h"

namespace kerf::fuzzgraph {
namespace {

using RecipeTable = std::unordered_map<std::string, CallRecipe>;

void addRows(RecipeTable& table, std::span<const RecipeRow> rows) {
  for (const RecipeRow& row : rows) {
    std::string_view rest = row.names;
    while (!rest.empty()) {
      const auto space = rest.find(' ');
      table.emplace(rest.substr(0, space), row.recipe);
      rest = space == rest.npos ? std::string_view() : rest.substr(space + 1);
    }
  }
}

RecipeTable makeTable() {
  RecipeTable table;
  for (const auto& rows : {layerRecipes(), lossRecipes(), indexRecipes(), productRecipes(), backwardRecipes()})
    addRows(table, rows);
  return table;
}

}  // namespace

CallRecipe findRecipe(const OpInfo& op) {
  static const RecipeTable table = makeTable();
  const auto found = table.find(plainName(op));
  return found == table.end() ? nullptr : found->second;
}

std::optional<Value> shapeOf(std::string_view target, const ValueList& args, const KeywordValues& kwargs) {
  auto shape = inferShapes(target, args, kwargs);
  if (!shape) return {};
  return std::move(*shape);
}

}  // namespace kerf::fuzzgraph
