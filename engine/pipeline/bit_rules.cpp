#include "engine/pipeline/bit_rules.h"

#include <algorithm>
#include <string>

#include "engine/capture/common/wrapper_code.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline pipeline {

namespace {

struct BitRuleRow {
  BitRule rule;
  std::string_view ops;  ///< base names, with a blank on both sides
};

/// What the traits of an op do not say. The first row that has the name counts.
constexpr BitRuleRow bitRuleRows[] = {
    {BitRule::Exact,
     " abs neg relu relu6 maximum minimum fmax fmin clamp clamp_min clamp_max "
     "hardtanh where "
     "masked_fill positive alias clone copy copy_ detach contiguous lift_fresh_copy cat stack constant_pad_nd pad flip "
     "roll rot90 tril triu diag_embed index index_select gather embedding select_scatter slice_scatter "
     "diagonal_scatter as_strided_scatter scatter repeat full full_like fill zeros zeros_like ones ones_like empty "
     "empty_like empty_strided new_zeros new_ones new_full new_empty new_empty_strided scalar_tensor iota eye "
     "count_nonzero "
     "getitem copysign isnan isinf isfinite amax amin aminmax max min any all argmax argmin sort topk msort kthvalue "
     "median cummax cummin eq ne lt le gt ge logical_and logical_or logical_not logical_xor signbit "
     "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices _low_memory_max_pool_with_offsets "
     "_low_memory_max_pool_offsets_to_indices upsample_nearest1d upsample_nearest2d upsample_nearest3d "
     "_upsample_nearest_exact1d _upsample_nearest_exact2d reflection_pad1d reflection_pad2d replication_pad1d "
     "replication_pad2d pixel_shuffle pixel_unshuffle channel_shuffle _assert_tensor_metadata "
     "nonzero masked_select unique _unique2 bucketize searchsorted sym_size sym_stride sym_numel "
     "inductor_force_stride_order "
     "force_stride_order "},
    {BitRule::Steps,
     " floor ceil round trunc frac fix sign sgn fmod heaviside nextafter frexp one_hot hardshrink threshold "
     "threshold_backward nan_to_num histc bincount "},
    {BitRule::Rounded,
     " add sub rsub mul square remainder convert_element_type _to_copy to dequantize softshrink "
     "leaky_relu prelu ldexp "},
    {BitRule::Divided, " div reciprocal sqrt true_divide rsqrt "},
    {BitRule::Several,
     " addcmul addcdiv lerp hardswish hardswish_backward hardsigmoid hardsigmoid_backward fma baddbmm_ mse_loss "
     "huber_loss smooth_l1_loss upsample_bilinear2d upsample_bicubic2d upsample_linear1d upsample_trilinear3d "
     "grid_sampler_2d grid_sampler_3d dist cross quantize_per_tensor quantize_per_channel fake_quantize "
     "leaky_relu_backward floor_divide arange linspace logspace "},
    {BitRule::Atomics,
     " scatter_add scatter_reduce index_add index_put _unsafe_index_put index_reduce embedding_dense_backward put "
     "max_pool2d_with_indices_backward max_pool3d_with_indices_backward adaptive_max_pool2d_backward "
     "upsample_nearest2d_backward upsample_bilinear2d_backward grid_sampler_2d_backward "
     "_embedding_bag_backward segment_reduce "},
    {BitRule::Random,
     " bernoulli rand randn randint rand_like randn_like randint_like randperm dropout native_dropout multinomial "
     "normal uniform exponential inductor_random inductor_randint inductor_seeds inductor_lookup_seed philox_rand "},
    {BitRule::Products,
     " mm bmm addmm baddbmm addbmm matmul linear einsum addmv mv dot vdot outer _int_mm _scaled_mm tensordot "
     "convolution _convolution convolution_backward conv1d conv2d conv3d conv_transpose2d mkldnn_convolution "
     "_linear_pointwise _convolution_pointwise "},
    {BitRule::Sums,
     " sum mean prod var std var_mean std_mean norm linalg_vector_norm logsumexp softmax _softmax log_softmax "
     "_log_softmax _softmax_backward_data _log_softmax_backward_data native_layer_norm layer_norm "
     "native_layer_norm_backward native_group_norm group_norm native_group_norm_backward native_batch_norm batch_norm "
     "_native_batch_norm_legit _native_batch_norm_legit_functional _native_batch_norm_legit_no_training "
     "native_batch_norm_backward rms_norm _fused_rms_norm _fused_rms_norm_backward cumsum cumprod logcumsumexp "
     "nansum nanmean avg_pool1d avg_pool2d avg_pool3d _adaptive_avg_pool2d adaptive_avg_pool2d avg_pool2d_backward "
     "_adaptive_avg_pool2d_backward trace _fft_r2c _fft_c2r _fft_c2c cross_entropy nll_loss nll_loss_forward "
     "nll_loss_backward binary_cross_entropy prepare_softmax_online _embedding_bag renorm cdist _cdist_forward "
     "_pdist_forward associative_scan sum_to_size _weight_norm_interface "},
};

/// "add" of "aten.add.Tensor", "getitem" of "operator.getitem".
std::string_view bitOpName(const OpInfo& op) {
  std::string_view name = op.schema.name;
  if (const auto colon = name.rfind(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
  return name;
}

std::string_view bitTargetName(std::string_view target) {
  for (const std::string_view head : {"torch.ops.", "aten.", "prims.", "operator.", "_operator."})
    if (target.starts_with(head)) target.remove_prefix(head.size());
  return target.substr(0, target.find('.'));
}

const BitRuleRow* bitRuleRow(std::string_view name) {
  if (name.size() > 1 && name.ends_with('_') && !name.ends_with("__")) name.remove_suffix(1);
  const std::string key = " " + std::string(name) + " ";
  const auto row =
      std::ranges::find_if(bitRuleRows, [&](const BitRuleRow& one) { return one.ops.find(key) != one.ops.npos; });
  return row == std::end(bitRuleRows) ? nullptr : row;
}

template <class Test>
bool anyTensorOf(const ValueMeta& meta, Test&& test) {
  if (const TensorMeta* tensor = meta.tensor()) return test(tensor->dtype);
  const auto* items = meta.list();
  return items != nullptr &&
         std::ranges::any_of(*items, [&](const ValueMeta& item) { return anyTensorOf(item, test); });
}

bool hasTensorMeta(const ValueMeta& meta) {
  return anyTensorOf(meta, [](DType) { return true; });
}

/// Everything that it takes and gives is whole numbers or bools.
bool isWholeCall(const Graph& graph, const Node& node) {
  const auto floats = [](DType dtype) { return isFloating(dtype) || isComplex(dtype); };
  if (!hasTensorMeta(node.meta().value) || anyTensorOf(node.meta().value, floats)) return false;
  return std::ranges::none_of(node.inputs(),
                              [&](NodeId input) { return anyTensorOf(graph.node(input).meta().value, floats); });
}

/// "alpha" of add and sub, where it is not 1.
bool scalesWithAlpha(const Node& node) {
  const auto found = std::ranges::find(node.kwargs(), std::string_view("alpha"),
                                       [](const auto& pair) { return std::string_view(pair.first); });
  if (found == node.kwargs().end()) return false;
  const auto* whole = found->second.template as<std::int64_t>();
  const auto* real = found->second.template as<double>();
  return !((whole != nullptr && *whole == 1) || (real != nullptr && *real == 1));
}

BitRule bitRuleOfTraits(const OpInfo& op) {
  if (has(op.traits, OpTrait::Random)) return BitRule::Random;
  if (has(op.traits, OpTrait::View)) return BitRule::Exact;
  if (has(op.traits, OpTrait::Matmul | OpTrait::Convolution)) return BitRule::Products;
  if (has(op.traits, OpTrait::Reduction)) return BitRule::Sums;
  if (has(op.traits, OpTrait::Pointwise)) return BitRule::Functions;
  return BitRule::Unknown;
}

constexpr CodeRules codeRows[] = {
    {"Triton", true, true, true, true},
    {"C++", true, false, false, true},
    {"Kerf", true, false, false, false},
    {"", false, false, false, false},
};

}  // namespace

BitRule bitRule(const Graph& graph, const Node& node) {
  if (node.op() != Opcode::CallFunction && node.op() != Opcode::CallMethod) return BitRule::Exact;
  const OpInfo* op = findOp(node);
  const BitRuleRow* row = bitRuleRow(op != nullptr ? bitOpName(*op) : bitTargetName(node.target()));
  const BitRule rule = row != nullptr ? row->rule : op != nullptr ? bitRuleOfTraits(*op) : BitRule::Unknown;
  if (rule == BitRule::Random || (rule == BitRule::Unknown && op == nullptr)) return rule;
  if (isWholeCall(graph, node)) return rule == BitRule::Steps ? rule : BitRule::Exact;
  if (rule == BitRule::Rounded && scalesWithAlpha(node)) return BitRule::Several;
  return rule;
}

bool isNarrowFloat(const Node& node) {
  const TensorMeta* tensor = node.meta().value.tensor();
  return tensor != nullptr && isFloating(tensor->dtype) && itemSize(tensor->dtype) <= 2;
}

const CodeRules& recordedCode(std::string_view kernel) {
  if (!isGeneratedKernel(kernel)) return existingCode();
  return codeRows[kernel.starts_with("triton_") ? 0 : 1];
}

const CodeRules& ownCode() { return codeRows[2]; }

const CodeRules& existingCode() { return codeRows[3]; }

}  // namespace kerf::inline pipeline
