// Two tables: names that passes had in earlier versions, and what else PyTorch calls what a pass does.
#include "engine/passes/pass_names.h"

#include <algorithm>

#include "engine/support/near_names.h"

namespace kerf::inline passes {

namespace {

struct OtherName {
  std::string_view name, pass;
};

/// Taken for the pass wherever a name is read: a store or a script may hold them.
constexpr OtherName earlierNames[] = {{"addmm_unfusing", "unfuse_bias_add_to_pointwise"},
                                      {"assert_removal", "remove_assert_ops"},
                                      {"auto_functionalized", "decompose_auto_functionalized"},
                                      {"batch_norm_folding", "fuse_conv_bn"},
                                      {"bernoulli_comparison", "replace_bernoulli"},
                                      {"call_normalization", "normalization_pass"},
                                      {"constructor_moves", "move_constructors_to_gpu"},
                                      {"conversion_chains", "pointless_convert"},
                                      {"identity_removal", "remove_identity"},
                                      {"int8_weight_products", "woq_int8"},
                                      {"int_mm_scaling", "fused_int_mm_mul"},
                                      {"joint_no_op_removal", "joint_remove_noop_ops"},
                                      {"linear_permute", "linear_permute_fusion"},
                                      {"locality_order", "reorder_for_locality"},
                                      {"matmul_padding", "pad_mm"},
                                      {"matmul_permute", "matmul_permute_fusion"},
                                      {"module_inlining", "inline_module"},
                                      {"no_op_removal", "remove_noop_ops"},
                                      {"parallel_linear", "fuse_parallel_linear_pass"},
                                      {"partial_reductions", "reuse_partial"},
                                      {"random_replacement", "replace_random"},
                                      {"randperm_indexing", "randperm_index"},
                                      {"reinplacing", "reinplace_inplaceable_ops"},
                                      {"scatter_to_where", "scatter_upon_const_tensor"},
                                      {"shape_propagation", "shape_prop"},
                                      {"single_batch_matmul", "bmm_to_mm"},
                                      {"small_matmul", "decompose_mm_pass"},
                                      {"softmax_rescaling", "mul_softmax_pattern"},
                                      {"split_cat", "splitwithsizes_cat_replace"},
                                      {"split_cat_merging", "split_cat_pass"},
                                      {"split_merging", "merge_splits_pass"},
                                      {"stack_unbind_merging", "unbind_stack_pass"},
                                      {"uniform_cumsum", "pointless_cumsum_replacement"},
                                      {"uniform_folding", "constant_fold_uniform_value"},
                                      {"view_cleanup", "pointless_view"},
                                      {"view_moves", "move_view_after_cat_aten_pass"}};

/// Parts of what a pass does, as torch._inductor names them. Suggested, not taken: the pass does more.
constexpr OtherName inductorNames[] = {{"addmm", "addmm_fusion"},
                                       {"bucket_all_gathers", "collective_bucketing"},
                                       {"bucket_all_reduce", "collective_bucketing"},
                                       {"bucket_reduce_scatters", "collective_bucketing"},
                                       {"cat_slice_cat", "splitwithsizes_cat_replace"},
                                       {"cat_splitwithsizes_replace", "splitwithsizes_cat_replace"},
                                       {"decompose_mem_bound_mm", "decompose_mm_pass"},
                                       {"div_softmax_pattern", "mul_softmax_pattern"},
                                       {"fuse_seed_creation_pass", "replace_random"},
                                       {"fx_graph_cse", "cse"},
                                       {"inductor_cse", "cse"},
                                       {"joint_graph_constant_folding", "constant_folding"},
                                       {"move_constructors_to_cuda", "move_constructors_to_gpu"},
                                       {"pointless_permute_pair", "pointless_view"},
                                       {"pointless_view_pair", "pointless_view"},
                                       {"prepare_softmax_pattern", "online_softmax"},
                                       {"randperm_index_add", "randperm_index"},
                                       {"remove_no_ops", "remove_noop_ops"},
                                       {"remove_profiler_ops", "remove_assert_ops"},
                                       {"remove_split_with_size_one_pass", "merge_splits_pass"},
                                       {"replace_random_passes", "replace_random"},
                                       {"replace_randint", "replace_random"}};

/// Empty where no row has `name`.
std::string_view passOf(std::span<const OtherName> names, std::string_view name) {
  const auto row = std::ranges::find(names, name, &OtherName::name);
  return row == names.end() ? std::string_view() : row->pass;
}

}  // namespace

std::string_view currentPassName(std::string_view name) {
  const std::string_view pass = passOf(earlierNames, name);
  return pass.empty() ? name : pass;
}

std::vector<std::string> suggestedPasses(std::string_view name, std::span<const std::string> passes) {
  const std::string pass(passOf(inductorNames, name));
  if (!pass.empty() && std::ranges::find(passes, pass) != passes.end()) return {pass};
  return nearNames(name, passes);
}

std::unexpected<Error> noSuchPass(std::string_view name, std::span<const std::string> passes) {
  const auto near = suggestedPasses(name, passes);
  const std::string suggestion =
      near.empty() ? "; the passes are " : fmt::format("; did you mean {}? The passes are ", fmt::join(near, " or "));
  return fail(ErrorCode::BadUsage, "there is no pass '{}'{}{}", name, suggestion, fmt::join(passes, ", "));
}

}  // namespace kerf::inline passes
