// One line per pass. Within a stage they run in this order.
#include "engine/passes/pass_table.h"

#include <algorithm>

#include "engine/passes/constant_folding.h"
#include "engine/passes/cse.h"
#include "engine/passes/dce.h"
#include "engine/passes/joint/conversion_chains.h"
#include "engine/passes/joint/scatter_to_where.h"
#include "engine/passes/joint/single_batch_matmul.h"
#include "engine/passes/joint/softmax_rescaling.h"
#include "engine/passes/joint/uniform_cumsum.h"
#include "engine/passes/joint/uniform_folding.h"
#include "engine/passes/joint/view_cleanup.h"
#include "engine/passes/no_op_removal.h"
#include "engine/passes/post_grad/addmm_fusion.h"
#include "engine/passes/post_grad/addmm_unfusing.h"
#include "engine/passes/post_grad/assert_removal.h"
#include "engine/passes/post_grad/auto_functionalized.h"
#include "engine/passes/post_grad/constructor_moves.h"
#include "engine/passes/post_grad/locality_order.h"
#include "engine/passes/post_grad/online_softmax.h"
#include "engine/passes/post_grad/partial_reductions.h"
#include "engine/passes/post_grad/reinplacing.h"
#include "engine/passes/post_grad/small_matmul.h"
#include "engine/passes/post_grad/split_cat.h"
#include "engine/passes/post_grad/view_moves.h"
#include "engine/passes/stable_sort.h"

namespace kerf::inline passes {

namespace {

constexpr Pass (*table[])() = {
    // joint
    jointNoOpRemovalPass,
    uniformFoldingPass,
    viewCleanupPass,
    conversionChainsPass,
    uniformCumsumPass,
    singleBatchMatmulPass,
    scatterToWherePass,
    softmaxRescalingPass,
    jointSortPass,
    // post_grad
    noOpRemovalPass,
    constantFoldingPass,
    csePass,
    assertRemovalPass,
    smallMatmulPass,
    onlineSoftmaxPass,
    splitCatPass,
    addmmUnfusingPass,
    addmmFusionPass,
    partialReductionsPass,
    viewMovesPass,
    dcePass,
    localityOrderPass,
    postGradSortPass,
    constructorMovesPass,
    reinplacingPass,
    autoFunctionalizedPass,
};

}  // namespace

std::vector<Pass> defaultPasses() {
  std::vector<Pass> passes;
  for (const auto make : table) passes.push_back(make());
  std::ranges::stable_sort(passes, {}, &Pass::stage);
  return passes;
}

}  // namespace kerf::inline passes
