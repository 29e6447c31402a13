#include "engine/pipeline/node_mutations.h"

#include <algorithm>

#include "engine/pipeline/node_rows.h"

namespace kerf::inline pipeline {
namespace {

constexpr std::string_view mutates = "mutates ";

}  // namespace

std::vector<NodeDivergence> mutationRows(const ResultNames& names, const RunResults& before, const RunResults& ref,
                                         const RunResults& res, const RunResults* fp64, const SameOptions& options) {
  std::vector<NodeDivergence> rows;
  const auto values = mutatedValues(names, before, {&ref, &res, fp64 != nullptr ? fp64 : &ref});
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    const std::string name = std::string(mutates) + values[0][i].name;
    const Value truth = fp64 != nullptr ? values[2][i].value : Value();
    rows.push_back(rowOf(name, {}, sameNamed(name, values[0][i].value, values[1][i].value, truth, options)));
  }
  return rows;
}

void markFirstBadMutation(std::vector<NodeDivergence>& nodes) {
  if (std::ranges::any_of(nodes, &NodeDivergence::firstBad)) return;
  for (NodeDivergence& row : nodes) row.firstBad = !row.same && row.node.starts_with(mutates);
}

}  // namespace kerf::inline pipeline
