// The knapsack as an integer program, by GLPK; the only includer of its header.
#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "engine/partition/knapsack.h"
#include "engine/support/log.h"

namespace kerf::inline partition {

namespace {

constexpr int solveTime = 10'000;  ///< milliseconds
constexpr double solveGap = 1e-4;  ///< of the best sum of runtimes: what SciPy's milp is content with

/// Equal items by (memory, runtime), with their indices. Blocks of a model that repeat have equal values; with a
/// variable for each, branch and bound tries one choice of k among them after the other: gpt2's 88 items are not done
/// after 10 s, the 9 kinds that they are take a millisecond.
using EqualItems = std::map<std::pair<double, double>, std::vector<std::size_t>>;

EqualItems equalItems(const std::vector<KnapsackItem>& items) {
  EqualItems equal;
  for (std::size_t i = 0; i < items.size(); ++i) equal[{items[i].memory, items[i].runtime}].push_back(i);
  return equal;
}

using Problem = std::unique_ptr<glp_prob, void (*)(glp_prob*)>;

/// One integer variable for each kind of item: how many of them are saved.
Problem integerProgram(const EqualItems& kinds, double budget) {
  Problem problem(glp_create_prob(), glp_delete_prob);
  glp_set_obj_dir(problem.get(), GLP_MAX);
  glp_add_rows(problem.get(), 1);
  glp_set_row_bnds(problem.get(), 1, GLP_UP, 0, budget);
  glp_add_cols(problem.get(), int(kinds.size()));
  std::vector<int> columns = {0};  // GLPK counts from one
  std::vector<double> memories = {0};
  for (const auto& [item, places] : kinds) {
    const int column = int(columns.size());
    glp_set_col_kind(problem.get(), column, GLP_IV);
    glp_set_col_bnds(problem.get(), column, GLP_DB, 0, double(places.size()));
    glp_set_obj_coef(problem.get(), column, item.second);
    columns.push_back(column);
    memories.push_back(item.first);
  }
  glp_set_mat_row(problem.get(), 1, int(kinds.size()), columns.data(), memories.data());
  return problem;
}

/// Room that the tolerances left is for what fits.
void fillUp(const std::vector<KnapsackItem>& items, double budget, std::vector<bool>& saved) {
  double used = 0;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (saved[i]) used += items[i].memory;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (saved[i] || used + items[i].memory > budget) continue;
    used += items[i].memory;
    saved[i] = true;
  }
}

}  // namespace

Result<std::vector<bool>> integerKnapsack(const std::vector<KnapsackItem>& items, double budget) {
  std::vector<bool> saved(items.size());
  if (items.empty()) return saved;
  const EqualItems kinds = equalItems(items);
  const Problem problem = integerProgram(kinds, budget);
  glp_iocp settings;
  glp_init_iocp(&settings);
  settings.presolve = GLP_ON;
  settings.msg_lev = GLP_MSG_OFF;
  settings.mip_gap = solveGap;
  settings.tm_lim = solveTime;
  glp_term_out(GLP_OFF);
  const int code = glp_intopt(problem.get(), &settings);
  if (code != 0 && code != GLP_EMIPGAP && code != GLP_ETMLIM)
    return fail(ErrorCode::RuntimeFailed, "GLPK could not solve the knapsack of {} items (code {})", items.size(),
                code);
  if (const int status = glp_mip_status(problem.get()); status != GLP_OPT && status != GLP_FEAS)
    return fail(ErrorCode::RuntimeFailed, "GLPK found no solution of the knapsack of {} items", items.size());
  if (code == GLP_ETMLIM)
    logAt(LogCategory::Compile, LogLevel::Warning,
          "the knapsack of {} items is not solved within {} s: the best choice found until then is taken", items.size(),
          solveTime / 1000);
  int column = 0;
  for (const auto& [item, places] : kinds) {
    const auto count = std::size_t(std::llround(glp_mip_col_val(problem.get(), ++column)));
    for (std::size_t i = 0; i < std::min(count, places.size()); ++i) saved[places[i]] = true;
  }
  fillUp(items, budget, saved);
  return saved;
}

}  // namespace kerf::inline partition
