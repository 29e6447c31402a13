// Functions of torch and torch.nn.functional that only compute, beside those that ATen has under the same name.
#include "engine/capture/audit/call_tables.h"

namespace kerf::inline capture {

/// Behind "torch.". No function that reads or writes files, loads libraries, imports, compiles, or gives out a module.
/// Those that call what they are given are in callbackRules() too.
const CallNames& torchFunctions() {
  static const CallNames names(R"(
    Generator Size _assert _assert_async _assert_scalar _check _check_index _check_is_size _check_tensor_all
    _check_value _sym_sqrt are_deterministic_algorithms_enabled as_tensor asarray atleast_1d atleast_2d atleast_3d
    block_diag broadcast_shapes broadcast_tensors can_cast cartesian_prod cdist chain_matmul device einsum
    empty_like enable_grad finfo from_numpy get_autocast_dtype get_autocast_gpu_dtype get_default_dtype get_device
    iinfo inference_mode is_autocast_enabled is_grad_enabled is_inference_mode_enabled is_storage
    is_tensor istft lobpcg lu manual_seed meshgrid no_grad norm numel pca_lowrank promote_types result_type seed
    set_default_dtype set_deterministic_debug_mode set_float32_matmul_precision set_grad_enabled set_warn_always
    split stft svd_lowrank sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum
    tensor tensordot typename unique unique_consecutive unravel_index vmap _C._functorch._add_batch_dim
    _C._functorch._grad_decrement_nesting _C._functorch._grad_increment_nesting _C._functorch._jvp_decrement_nesting
    _C._functorch._jvp_increment_nesting _C._functorch._remove_batch_dim _C._functorch._unwrap_for_grad
    _C._functorch._vmap_decrement_nesting _C._functorch._vmap_increment_nesting _C._functorch._wrap_for_grad
    _C._functorch.get_unwrapped _C._functorch.set_inplace_requires_grad_allowed _C._get_tracing_state
    _C._are_functorch_transforms_active _C._autograd._saved_tensors_hooks_disable
    _C._autograd._saved_tensors_hooks_enable _C._autograd._saved_tensors_hooks_get_disabled_error_message
    _C._autograd._saved_tensors_hooks_is_enabled _C._enter_dual_level _C._exit_dual_level
    _C._functorch.set_single_level_autograd_function_allowed _C._is_fwd_grad_enabled
    _C._is_multithreading_enabled _C._log_api_usage_once _C._set_autograd_fallback_mode _C._set_cublas_allow_tf32
    _C._set_cudnn_allow_tf32 _C._set_cudnn_benchmark _C._set_cudnn_deterministic _C._set_cudnn_enabled
    _C._set_deterministic_algorithms _C._set_deterministic_fill_uninitialized_memory _C._set_float32_matmul_precision
    _C._set_fwd_grad_enabled _C._set_grad_enabled _C._set_mkldnn_enabled _C._set_multithreading_enabled
    _C._set_sdp_use_cudnn _C._set_sdp_use_flash _C._set_sdp_use_math _C._set_sdp_use_mem_efficient
    _C._set_view_replay_enabled _C.autocast_decrement_nesting _C.autocast_increment_nesting
    _C.clear_autocast_cache _C.set_autocast_cache_enabled _C.set_autocast_dtype _C.set_autocast_enabled
    _dynamo.testing.rand_strided
    _functorch.eager_transforms._autograd_grad _functorch.eager_transforms._create_differentiable
    _functorch.eager_transforms._set_tensor_requires_grad _functorch.predispatch._add_batch_dim
    _functorch.predispatch._remove_batch_dim _functorch.predispatch._vmap_decrement_nesting
    _functorch.predispatch._vmap_increment_nesting _functorch.predispatch.lazy_load_decompositions
    _functorch.vmap.lazy_load_decompositions _higher_order_ops.auto_functionalize.auto_functionalized
    amp.autocast_mode._enter_autocast amp.autocast_mode._exit_autocast autograd.forward_ad.enter_dual_level
    autograd.forward_ad.exit_dual_level autograd.grad autograd.grad_mode._enter_inference_mode
    autograd.grad_mode._exit_inference_mode autograd.grad_mode.set_grad_enabled
    backends.mha.get_fastpath_enabled compiler.is_compiling compiler.is_dynamo_compiling cuda.current_device
    cuda.device_count cuda.get_device_capability cuda.is_available distributed.get_rank distributed.get_world_size
    fx.experimental.symbolic_shapes.guard_or_false fx.experimental.symbolic_shapes.guard_or_true
    fx.experimental.symbolic_shapes.guard_scalar fx.experimental.symbolic_shapes.guard_size_oblivious
    jit.is_scripting jit.is_tracing nn.Buffer nn.Parameter nn.parameter.Buffer nn.parameter.Parameter
    overrides.is_tensor_method_or_property use_deterministic_algorithms utils.checkpoint.checkpoint)");
  return names;
}

/// Behind "torch.nn.functional.".
const CallNames& functionalFunctions() {
  static const CallNames names(R"(
    adaptive_avg_pool1d adaptive_max_pool1d affine_grid assert_int_or_pair avg_pool1d bilinear conv_tbc
    cross_entropy dropout1d dropout2d dropout3d embedding_bag fold fractional_max_pool2d fractional_max_pool3d
    gaussian_nll_loss grid_sample gumbel_softmax hardtanh_ interpolate kl_div leaky_relu_ local_response_norm
    lp_pool1d lp_pool2d max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d
    multi_head_attention_forward multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nll_loss
    normalize one_hot pad pairwise_distance relu6 scaled_dot_product_attention scaled_mm sigmoid smooth_l1_loss
    softmin softsign tanhshrink triplet_margin_loss unfold upsample upsample_bilinear upsample_nearest)");
  return names;
}

}  // namespace kerf::inline capture
