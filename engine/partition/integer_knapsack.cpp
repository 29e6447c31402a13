// The knapsack as an integer program, by GLPK; the only includer of its header.
#include <glpk.h>

#include <memory>

#include "engine/partition/knapsack.h"

namespace kerf::inline partition {

Result<std::vector<bool>> integerKnapsack(const std::vector<KnapsackItem>& items, double budget) {
  std::vector<bool> saved(items.size());
  if (items.empty()) return saved;
  const std::unique_ptr<glp_prob, void (*)(glp_prob*)> problem(glp_create_prob(), glp_delete_prob);
  glp_set_obj_dir(problem.get(), GLP_MAX);
  glp_add_rows(problem.get(), 1);
  glp_set_row_bnds(problem.get(), 1, GLP_UP, 0, budget);
  glp_add_cols(problem.get(), int(items.size()));
  std::vector<int> columns = {0};  // GLPK counts from one
  std::vector<double> memories = {0};
  for (std::size_t i = 0; i < items.size(); ++i) {
    const int column = int(i) + 1;
    glp_set_col_kind(problem.get(), column, GLP_BV);
    glp_set_obj_coef(problem.get(), column, items[i].runtime);
    columns.push_back(column);
    memories.push_back(items[i].memory);
  }
  glp_set_mat_row(problem.get(), 1, int(items.size()), columns.data(), memories.data());
  glp_iocp settings;
  glp_init_iocp(&settings);
  settings.presolve = GLP_ON;
  settings.msg_lev = GLP_MSG_OFF;
  settings.mip_gap = 1e-4;  // what SciPy's milp is content with
  settings.tm_lim = 10'000;
  glp_term_out(GLP_OFF);
  if (const int code = glp_intopt(problem.get(), &settings); code != 0 && code != GLP_EMIPGAP && code != GLP_ETMLIM)
    return fail(ErrorCode::RuntimeFailed, "GLPK could not solve the knapsack of {} items (code {})", items.size(),
                code);
  if (const int status = glp_mip_status(problem.get()); status != GLP_OPT && status != GLP_FEAS)
    return fail(ErrorCode::RuntimeFailed, "GLPK found no solution of the knapsack of {} items", items.size());
  for (std::size_t i = 0; i < items.size(); ++i) saved[i] = glp_mip_col_val(problem.get(), int(i) + 1) > 0.5;
  return saved;
}

}  // namespace kerf::inline partition
