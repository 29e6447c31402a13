// One line per pass. Within a stage they run in this order.
#include "engine/passes/pass_table.h"

#include <algorithm>

#include "engine/passes/constant_folding.h"
#include "engine/passes/cse.h"
#include "engine/passes/dce.h"
#include "engine/passes/no_op_removal.h"

namespace kerf::inline passes {

namespace {

constexpr Pass (*table[])() = {
    noOpRemovalPass,
    constantFoldingPass,
    csePass,
    dcePass,
};

}  // namespace

std::vector<Pass> defaultPasses() {
  std::vector<Pass> passes;
  for (const auto make : table) passes.push_back(make());
  std::ranges::stable_sort(passes, {}, &Pass::stage);
  return passes;
}

}  // namespace kerf::inline passes
