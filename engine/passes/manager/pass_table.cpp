// One line per pass, with the reason for its place. Within a stage they run in this order.
#include "engine/passes/manager/pass_table.h"

#include <span>

#include "engine/passes/constant_folding.h"
#include "engine/passes/cse.h"
#include "engine/passes/dce.h"
#include "engine/passes/joint/joint_passes.h"
#include "engine/passes/post_grad/collective_bucketing.h"
#include "engine/passes/post_grad/post_grad_passes.h"
#include "engine/passes/pre_grad/pre_grad_passes.h"
#include "engine/passes/remove_noop_ops.h"
#include "engine/passes/stable_sort.h"

namespace kerf::inline passes {

namespace {

/// A pass, and the reason for its place.
struct Row {
  Pass (*make)();
  std::string_view place;
};

constexpr Row preGradTable[] = {
    {inlineModulePass, "first: no other pass looks into the graph of a module"},
    {normalizationPass, "before all that matches calls, as in Inductor: what they write has one spelling"},
    {removeIdentityPass, "before patterns: an idle dropout would stand between their calls"},
    {fuseConvBnPass, "after remove_identity: the batch norm must read the layer itself"},
    {mergeSplitsPass, "before split_cat_pass: one split cuts all pieces"},
    {splitCatPass, "after merge_splits_pass: all pieces come from one split"},
    {unbindStackPass, "after split_cat_pass: of nested cats one is left, with all pieces in it"},
    {linearPermuteFusionPass, "before fuse_parallel_linear_pass: it looks for single layers"},
    {matmulPermuteFusionPass, "after linear_permute_fusion, which writes products"},
    {fuseParallelLinearPass, "after what looks for single layers"},
    {shapePropPass, "last: gives shapes to what the stage has written"},
};

constexpr Row jointTable[] = {
    {jointRemoveNoopOpsPass, "first: a no-op would stand between the calls of a pattern"},
    {constantFoldUniformValuePass, "before the patterns that look for aten.full"},
    {pointlessViewPass, "after the patterns of attention and layers, which have views of their own"},
    {pointlessConvertPass, "after the patterns of attention and layers, which have conversions of their own"},
    {pointlessCumsumReplacementPass, "after constant_fold_uniform_value, which writes the aten.full it looks for"},
    {bmmToMmPass, "before pad_mm, which may pad the mm"},
    {scatterUponConstTensorPass, "after constant_fold_uniform_value, which writes the aten.full it looks for"},
    {mulSoftmaxPatternPass, "after fuse_attention, which looks for scores that are scaled first"},
    {padMmPass, "after fuse_attention, which looks for products without padding"},
    {replaceBernoulliPass, "before replace_random, which replaces the uniform numbers that it draws"},
    {replaceRandomPass, "after fuse_attention, whose patterns have aten's dropout"},
    {jointSortPass, "last: what a user's pass wrote may stand above its inputs"},
};

constexpr Row postGradTable[] = {
    {removeNoopOpsPass, "first: the partition and decompositions leave no-ops behind"},
    {constantFoldingPass, "before cse, which then has less to compare"},
    {csePass, "before the patterns: each of them meets a value once"},
    {removeAssertOpsPass, "before unfuse_bias_add_to_pointwise: an assertion is a reader that is not pointwise"},
    {decomposeMmPass, "before addmm_fusion, which would take the product"},
    {woqInt8Pass, "before addmm_fusion, which would take the product"},
    {fusedIntMmMulPass, "with woq_int8: both look for a product and its scales"},
    {onlineSoftmaxPass, "not in the joint graph, as in Inductor, where it cost memory"},
    {splitwithsizesCatReplacePass, "after cse: equal splits are one"},
    {sliceScattersPass, "after remove_noop_ops: slices of everything are gone"},
    {unfuseBiasAddToPointwisePass, "before addmm_fusion, which leaves its sums alone"},
    {addmmFusionPass, "after unfuse_bias_add_to_pointwise, so that it takes only biases that stay"},
    {reusePartialPass, "with the last patterns, as in Inductor; its neighbours do not touch reductions"},
    {moveViewAfterCatPass, "after splitwithsizes_cat_replace: a cat that goes needs no views moved"},
    {dcePass, "after the patterns: drops what they left unread"},
    {reorderForLocalityPass, "after dce: an unread value has no first use"},
    {postGradSortPass, "after the last pass that moves nodes; what follows asks which memory is read later"},
    {moveConstructorsToGpuPass, "after the sort, as in Inductor: it moves values, not nodes"},
    {reinplaceInplaceableOpsPass, "near the end: no other pass works on memory that is written"},
    {decomposeAutoFunctionalizedPass, "near the end, for the same reason"},
    {collectiveBucketingPass, "last: hooks see the graph that is compiled"},
};

void add(std::vector<Pass>& passes, std::span<const Row> table) {
  for (const Row& row : table) {
    passes.push_back(row.make());
    passes.back().place = row.place;
  }
}

}  // namespace

std::vector<Pass> preGradPasses() {
  std::vector<Pass> passes;
  add(passes, preGradTable);
  return passes;
}

std::vector<Pass> defaultPasses() {
  std::vector<Pass> passes;
  for (const std::span<const Row> table :
       {std::span<const Row>(preGradTable), std::span<const Row>(jointTable), std::span<const Row>(postGradTable)})
    add(passes, table);
  return passes;
}

}  // namespace kerf::inline passes
