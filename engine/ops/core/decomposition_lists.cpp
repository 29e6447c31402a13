#include "engine/ops/core/decomposition_lists.h"

namespace kerf::inline ops {
namespace {

/// What PyTorch's dispatcher itself writes as other ops, though Kerf has kernels for it.
constexpr std::string_view implicitOps[] = {
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "chunk", "log_sigmoid", "log_softmax.int", "max.other", "min.other",
    "narrow", "native_batch_norm", "positive", "relu6", "reshape", "softmax.int", "square", "where.Scalar",
    "where.ScalarOther", "where.ScalarSelf",
};

/// torch._decomp.core_aten_decompositions(), without in-place forms: they are gone when graphs are decomposed.
constexpr std::string_view coreOps[] = {
    "addcdiv", "addcmul", "addr", "all", "aminmax", "arange.default", "arange.start", "baddbmm",
    "binary_cross_entropy", "binary_cross_entropy_backward", "binary_cross_entropy_with_logits", "celu", "clamp_max",
    "clamp_min", "col2im", "count_nonzero", "deg2rad", "detach", "diagonal_backward", "dot", "elu", "elu_backward",
    "embedding_dense_backward", "empty_like", "_euclidean_dist", "eye", "fill", "floor_divide", "frac",
    "gelu_backward", "glu", "glu_backward", "hardshrink", "hardsigmoid", "hardsigmoid_backward", "hardswish",
    "hardswish_backward", "hardtanh_backward", "heaviside", "huber_loss", "huber_loss_backward", "im2col",
    "index_add", "index_copy", "index_fill", "isin", "isneginf", "isposinf", "leaky_relu_backward", "lerp",
    "lift_fresh_copy", "linspace", "log_sigmoid_backward", "log_sigmoid_forward", "_log_softmax_backward_data",
    "logaddexp", "logaddexp2", "logit", "logit_backward", "logspace", "logsumexp.default", "masked_fill", "mish",
    "mse_loss", "mse_loss_backward", "multi_margin_loss", "multilabel_margin_loss_forward", "mv", "mvlgamma",
    "nan_to_num", "nansum", "native_batch_norm_backward", "native_group_norm_backward", "native_layer_norm_backward",
    "new_empty", "new_full", "new_ones", "new_zeros", "nll_loss2d_backward", "nll_loss2d_forward",
    "nll_loss_backward", "nll_loss_forward", "norm", "ones", "ones_like", "_prelu_kernel", "_prelu_kernel_backward",
    "rad2deg", "reflection_pad1d", "reflection_pad1d_backward", "reflection_pad2d", "reflection_pad2d_backward",
    "reflection_pad3d", "reflection_pad3d_backward", "renorm", "replication_pad1d", "replication_pad2d",
    "replication_pad3d", "roll", "rrelu_with_noise_functional", "rsub", "_safe_softmax",
    "_scaled_dot_product_flash_attention_for_cpu", "select_backward", "select_scatter", "sgn", "sigmoid_backward",
    "silu", "silu_backward", "sinc", "slice_backward", "smooth_l1_loss", "smooth_l1_loss_backward",
    "soft_margin_loss", "soft_margin_loss_backward", "_softmax_backward_data", "softplus", "softplus_backward",
    "softshrink", "special_entr", "special_log_ndtr", "special_xlog1py", "split.Tensor", "squeeze.default",
    "squeeze.dim", "stack", "std", "std_mean", "sum.default", "t", "take", "tanh_backward", "threshold",
    "threshold_backward", "transpose.int", "tril", "triu", "unbind", "unfold_backward", "_unsafe_index",
    "_unsafe_index_put", "unsafe_split.Tensor", "unsafe_split_with_sizes", "_unsafe_view", "upsample_bilinear2d",
    "upsample_linear1d", "upsample_trilinear3d", "vdot", "xlogy", "zero", "zeros", "zeros_like",
};

/// What Inductor's table has beside: by get_decompositions(), by its own functions, and for random numbers.
constexpr std::string_view inductorOps[] = {
    "addmv", "angle", "arange", "batch_norm_backward", "_batch_norm_no_update", "_batch_norm_with_update", "cauchy",
    "exponential", "fmax", "fmin", "gelu", "geometric", "grid_sampler_2d", "hardtanh", "index_select", "lcm",
    "leaky_relu", "lift", "linalg_vector_norm", "log_normal", "_log_softmax", "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training", "native_dropout", "native_group_norm", "native_layer_norm",
    "normal_functional", "put", "round.decimals", "rrelu_with_noise_backward", "_softmax", "_to_copy", "tril_indices",
    "triu_indices", "uniform",
};

/// Kerf's programs that are kernels of their own to PyTorch, which no table replaces; "x*" is every op that starts so.
constexpr std::string_view kernels[] = {
    "_batch_norm_with_update_functional", "_foreach_*", "_native_batch_norm_legit_functional",
    "_scaled_dot_product_cudnn_attention*", "_scaled_dot_product_flash_attention*",
    "_scaled_dot_product_fused_attention_overrideable*", "_thnn_fused_lstm_cell",
};

/// The same, which both tables replace.
constexpr std::string_view keptByNone[] = {
    "_addmm_activation", "affine_grid_generator", "block_diag", "channel_shuffle", "_chunk_cat", "diag_embed",
    "_fused_rms_norm", "_fused_rms_norm_backward", "linalg_cross", "native_dropout_backward", "pixel_shuffle",
    "pixel_unshuffle", "rot90", "split_with_sizes_copy", "trace", "unfold_copy", "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate", "_weight_norm_interface", "xlogy.Scalar_Other", "xlogy.Scalar_Self",
};

/// The same, which only Inductor's replaces.
constexpr std::string_view keptByCore[] = {
    "dist", "permute_copy", "unbind_copy.int",
};

/// What of the core table Inductor keeps.
constexpr std::string_view keptByInductor[] = {
    "baddbmm", "clamp_max", "clamp_min", "glu", "lift_fresh_copy", "_scaled_dot_product_flash_attention_for_cpu",
    "select_scatter", "split.Tensor", "squeeze.default", "squeeze.dim", "sum.default", "unbind", "_unsafe_index",
    "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate",
};

constexpr DecompositionList lists[] = {{DecompositionTable::None, "none", implicitOps, keptByNone},
                                       {DecompositionTable::Core, "core", coreOps, keptByCore},
                                       {DecompositionTable::Inductor, "inductor", inductorOps, keptByInductor}};

}  // namespace

std::span<const DecompositionList> decompositionLists() { return lists; }
std::span<const std::string_view> neverDecomposed() { return kernels; }

}  // namespace kerf::inline ops
