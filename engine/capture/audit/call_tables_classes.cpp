// Methods and attributes of tensors, and modules of torch.nn.
#include "engine/capture/audit/call_tables.h"

namespace kerf::inline capture {

/// Beside those that ATen has; also of sizes and of what Dynamo passes around.
const CallNames& tensorMethods() {
  static const CallNames names(R"(
    size stride dim ndimension numel nelement element_size storage_offset is_contiguous is_floating_point is_complex
    is_signed is_pinned get_device data_ptr item tolist to cpu cuda xpu float double half bfloat16 int long short
    char byte bool cfloat cdouble chalf type type_as view reshape reshape_as expand_as view_as contiguous
    requires_grad_ retain_grad detach detach_ new new_tensor norm split unflatten repeat permute unique
    unique_consecutive stft istft backward is_set_to is_same_size is_shared has_names ndim dense_dim sparse_dim
    index_put clone lu where count index append extend clear keys values items get copy copy_ __getitem__ __add__
    __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __pow__ __rpow__ __neg__ __eq__ __ne__
    __lt__ __le__ __gt__ __ge__ __and__ __or__ __xor__ __invert__ __matmul__ __rmatmul__ __floordiv__ __mod__
    __setitem__ __len__ __bool__ __int__ __float__ __contains__ __iadd__ __isub__ __imul__ __itruediv__ __rand__
    __ror__ __lshift__ __rshift__ __abs__)");
  return names;
}

/// What a guard of an exported program asks its inputs for.
const CallNames& guardMethods() {
  static const CallNames names(R"(
    size stride dim ndimension numel nelement element_size storage_offset is_contiguous is_floating_point is_complex
    item get_device)");
  return names;
}

/// Attributes that hold data: of tensors and their kinds, of what functions of torch return, of dtypes' limits, devices,
/// slices and layers. Names with "is_" in front are allowed without being here.
const CallNames& readAttributes() {
  static const CallNames names(R"(
    shape dtype device layout ndim itemsize nbytes requires_grad retains_grad grad data real imag T mT H mH names
    output_nr grad_dtype _version _base _grad name_ qscheme indices values crow_indices col_indices ccol_indices
    row_indices sign logabsdet logdet Q R L U S V P Vh LU B tau pivots info eigenvalues eigenvectors solution
    residuals rank singular_values mantissa exponent output output_mask log_sumexp hist bin_edges inverse_indices
    inverse counts
    count mode median mean std var max min eps tiny smallest_normal bits resolution type index start stop step
    placements device_mesh mesh mesh_dim_names _local_tensor _spec _values _offsets _lengths _ragged_idx _max_seqlen
    _min_seqlen _max_seqlen_tensor _min_seqlen_tensor _metadata_cache _size _strides
    block_mask kv_num_blocks kv_indices full_kv_num_blocks full_kv_indices q_num_blocks q_indices full_q_num_blocks
    full_q_indices BLOCK_SIZE seq_lengths weight bias scale zero_point in_proj_weight in_proj_bias out_proj
    running_mean running_var num_batches_tracked weight_g weight_v parametrizations original original0 original1
    in_features out_features num_heads embed_dim head_dim hidden_size num_embeddings embedding_dim padding_idx
    normalized_shape kernel_size stride padding dilation groups in_channels out_channels inplace momentum affine
    track_running_stats num_features p a b elem inner inner_tensor tensor value constant float_data int_data
    layout_tensor tensor_impl quantizer seed offset philox_seed philox_offset)");
  return names;
}

/// Classes of torch.nn that __init__ may construct.
const CallNames& moduleClasses() {
  static const CallNames names(R"(
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
    AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d
    Bilinear CELU CTCLoss ChannelShuffle ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d
    ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss Dropout
    Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten Fold GELU GLU GRU GRUCell
    GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh HuberLoss Identity InstanceNorm1d InstanceNorm2d
    InstanceNorm3d KLDivLoss L1Loss LPPool1d LPPool2d LSTM LSTMCell LayerNorm LeakyReLU Linear LocalResponseNorm
    LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d
    MaxUnpool3d Mish ModuleDict ModuleList MultiheadAttention NLLLoss PReLU PairwiseDistance ParameterDict
    ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNCell RReLU ReLU ReLU6 ReflectionPad1d
    ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU Sequential SiLU Sigmoid
    SmoothL1Loss Softmax Softmax2d Softmin Softplus Softshrink Softsign SyncBatchNorm Tanh Tanhshrink Threshold
    Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
    TripletMarginLoss Unflatten Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d
    ZeroPad3d)");
  return names;
}

/// Names that every torch.nn.Module has itself, so that none of its attributes has one of them.
const CallNames& moduleMembers() {
  static const CallNames names(R"(
    add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval extra_repr
    float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict modules mtia
    named_buffers named_children named_modules named_parameters parameters register_backward_hook register_buffer
    register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
    register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module register_parameter
    register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule
    share_memory state_dict to to_empty train training type xpu zero_grad _apply _backward_hooks
    _backward_pre_hooks _buffers _call_impl _compiled_call_impl _forward_hooks _forward_hooks_always_called
    _forward_hooks_with_kwargs _forward_pre_hooks _forward_pre_hooks_with_kwargs _get_backward_hooks
    _get_backward_pre_hooks _get_name _is_full_backward_hook _load_from_state_dict _load_state_dict_post_hooks
    _load_state_dict_pre_hooks _maybe_warn_non_full_backward_hook _modules _named_members _non_persistent_buffers_set
    _parameters _register_load_state_dict_pre_hook _register_state_dict_hook _replicate_for_data_parallel
    _save_to_state_dict _slow_forward _state_dict_hooks _state_dict_pre_hooks _version _wrapped_call_impl)");
  return names;
}

}  // namespace kerf::inline capture
