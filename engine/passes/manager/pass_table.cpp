// One line per pass. Within a stage they run in this order.
#include "engine/passes/manager/pass_table.h"

#include <algorithm>

#include "engine/passes/constant_folding.h"
#include "engine/passes/cse.h"
#include "engine/passes/dce.h"
#include "engine/passes/joint/bmm_to_mm.h"
#include "engine/passes/joint/constant_fold_uniform_value.h"
#include "engine/passes/joint/mul_softmax_pattern.h"
#include "engine/passes/joint/pad_mm.h"
#include "engine/passes/joint/pointless_convert.h"
#include "engine/passes/joint/pointless_cumsum_replacement.h"
#include "engine/passes/joint/pointless_view.h"
#include "engine/passes/joint/replace_bernoulli.h"
#include "engine/passes/joint/replace_random.h"
#include "engine/passes/joint/scatter_upon_const_tensor.h"
#include "engine/passes/post_grad/addmm_fusion.h"
#include "engine/passes/post_grad/collective_bucketing.h"
#include "engine/passes/post_grad/decompose_auto_functionalized.h"
#include "engine/passes/post_grad/decompose_mm.h"
#include "engine/passes/post_grad/fused_int_mm_mul.h"
#include "engine/passes/post_grad/move_constructors_to_gpu.h"
#include "engine/passes/post_grad/move_view_after_cat.h"
#include "engine/passes/post_grad/online_softmax.h"
#include "engine/passes/post_grad/reinplace_inplaceable_ops.h"
#include "engine/passes/post_grad/remove_assert_ops.h"
#include "engine/passes/post_grad/reorder_for_locality.h"
#include "engine/passes/post_grad/reuse_partial.h"
#include "engine/passes/post_grad/slice_scatters.h"
#include "engine/passes/post_grad/splitwithsizes_cat_replace.h"
#include "engine/passes/post_grad/unfuse_bias_add_to_pointwise.h"
#include "engine/passes/post_grad/woq_int8.h"
#include "engine/passes/pre_grad/fuse_conv_bn.h"
#include "engine/passes/pre_grad/fuse_parallel_linear.h"
#include "engine/passes/pre_grad/inline_module.h"
#include "engine/passes/pre_grad/linear_permute_fusion.h"
#include "engine/passes/pre_grad/matmul_permute_fusion.h"
#include "engine/passes/pre_grad/merge_splits.h"
#include "engine/passes/pre_grad/normalization.h"
#include "engine/passes/pre_grad/remove_identity.h"
#include "engine/passes/pre_grad/shape_prop.h"
#include "engine/passes/pre_grad/split_cat.h"
#include "engine/passes/pre_grad/unbind_stack.h"
#include "engine/passes/remove_noop_ops.h"
#include "engine/passes/stable_sort.h"

namespace kerf::inline passes {

namespace {

constexpr Pass (*preGradTable[])() = {
    inlineModulePass,        normalizationPass,      removeIdentityPass, fuseConvBnPass,
    mergeSplitsPass,         splitCatPass,           unbindStackPass,    linearPermuteFusionPass,
    matmulPermuteFusionPass, fuseParallelLinearPass, shapePropPass,
};

constexpr Pass (*table[])() = {
    // joint
    jointRemoveNoopOpsPass,
    constantFoldUniformValuePass,
    pointlessViewPass,
    pointlessConvertPass,
    pointlessCumsumReplacementPass,
    bmmToMmPass,
    scatterUponConstTensorPass,
    mulSoftmaxPatternPass,
    padMmPass,
    replaceBernoulliPass,
    replaceRandomPass,
    jointSortPass,
    // post_grad
    removeNoopOpsPass,
    constantFoldingPass,
    csePass,
    removeAssertOpsPass,
    decomposeMmPass,
    woqInt8Pass,
    fusedIntMmMulPass,
    onlineSoftmaxPass,
    splitwithsizesCatReplacePass,
    sliceScattersPass,
    unfuseBiasAddToPointwisePass,
    addmmFusionPass,
    reusePartialPass,
    moveViewAfterCatPass,
    dcePass,
    reorderForLocalityPass,
    postGradSortPass,
    moveConstructorsToGpuPass,
    reinplaceInplaceableOpsPass,
    decomposeAutoFunctionalizedPass,
    collectiveBucketingPass,
};

}  // namespace

std::vector<Pass> preGradPasses() {
  std::vector<Pass> passes;
  for (const auto make : preGradTable) passes.push_back(make());
  return passes;
}

std::vector<Pass> defaultPasses() {
  std::vector<Pass> passes = preGradPasses();
  for (const auto make : table) passes.push_back(make());
  std::ranges::stable_sort(passes, {}, &Pass::stage);
  return passes;
}

}  // namespace kerf::inline passes
