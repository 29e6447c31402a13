"""Names of PyTorch 2.11's public API that Kerf's torch does not have, by module: each is an AttributeError that says so."""

NAMES = {
    "torch": """
BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage DisableTorchFunction
DispatchKey DispatchKeySet DoubleStorage FloatStorage HalfStorage IntStorage LongStorage QInt32Storage QInt8Storage
QUInt2x4Storage QUInt4x2Storage QUInt8Storage ShortStorage Storage Stream TypedStorage UntypedStorage ao
batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats ccol_indices_copy choose_qparams_optimized
col_indices_copy crow_indices_copy cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution
cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable
dsmm empty_quantized fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation
fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix from_dlpack from_file fused_moving_avg_obs_fake_quant
hsmm hspmm hub indices_copy int_repr is_anomaly_check_nan_enabled is_vulkan_available masked
miopen_batch_norm miopen_convolution miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose
miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights
mkldnn_max_pool2d mkldnn_max_pool3d monitor mtia native_norm nested onnx package
per_channel_affine per_channel_affine_float_qparams per_channel_symmetric per_tensor_affine per_tensor_symmetric
q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qint32 qint8 qscheme quantization
quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm quantized_gru
quantized_gru_cell quantized_lstm quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_rnn_relu_cell
quantized_rnn_tanh_cell quint2x4 quint4x2 quint8 resize_as_sparse_ row_indices_copy saddmm set_autocast_cpu_dtype
set_autocast_cpu_enabled set_autocast_gpu_dtype signal smm sparse sparse_bsc_tensor sparse_bsr_tensor
sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor spmm sspaddmm thread_safe_generator
to_dlpack values_copy xpu
    """.split(),
    "torch.Tensor": """
__dlpack__ __dlpack_device__ align_as align_to ccol_indices coalesce col_indices crow_indices
dense_dim
has_names indices int_repr is_coalesced is_vulkan map2_ q_per_channel_axis q_per_channel_scales
q_per_channel_zero_points q_scale q_zero_point qscheme refine_names rename rename_ resize resize_as resize_as_sparse_
row_indices set_ smm sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm storage_type to_mkldnn
to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr values xpu
    """.split(),
    "torch.autograd": """
DeviceType ProfilerActivity SavedTensor
    """.split(),
    "torch.compiler": """
load_cache_artifacts save_cache_artifacts
    """.split(),
    "torch.cuda": """
BFloat16Storage BFloat16Tensor BoolStorage BoolTensor ByteStorage ByteTensor CUDAGraph CharStorage CharTensor
ComplexDoubleStorage ComplexFloatStorage DoubleStorage DoubleTensor ExternalStream FloatStorage FloatTensor HalfStorage
HalfTensor IntStorage IntTensor LongStorage LongTensor ShortStorage ShortTensor StreamContext caching_allocator_alloc
caching_allocator_delete can_device_access_peer cudart current_blas_handle default_generators get_gencode_flags
get_sync_debug_mode graph graph_pool_handle green_contexts has_half has_magma jiterator list_gpu_processes
make_graphed_callables memory memory_snapshot memory_stats_as_nested_dict memory_usage reset_max_memory_cached
set_per_process_memory_fraction set_sync_debug_mode tunable utilization
    """.split(),
    "torch.distributed": """
FileStore HashStore PrefixStore Store TCPStore checkpoint pipelining rpc shrink_group
    """.split(),
    "torch.distributed.fsdp": """
BackwardPrefetch CPUOffload FullOptimStateDictConfig FullStateDictConfig FullyShardedDataParallel LocalOptimStateDictConfig
LocalStateDictConfig MixedPrecision OptimStateDictConfig OptimStateKeyType ShardedOptimStateDictConfig
ShardedStateDictConfig ShardingStrategy StateDictConfig StateDictSettings StateDictType
    """.split(),
    "torch.distributed.optim": """
DistributedOptimizer PostLocalSGDOptimizer
    """.split(),
    "torch.distributed.tensor.experimental": """
context_parallel register_sharding
    """.split(),
    "torch.distributions": """
CatTransform ContinuousBernoulli CorrCholeskyTransform CumulativeDistributionTransform ExponentialFamily
GeneralizedPareto LKJCholesky LowRankMultivariateNormal StackTransform VonMises Wishart biject_to transform_to
    """.split(),
    "torch.distributions.constraints": """
cat corr_cholesky dependent dependent_property greater_than greater_than_eq half_open_interval independent
integer_interval interval is_dependent less_than lower_cholesky lower_triangular multinomial one_hot positive_definite
positive_integer positive_semidefinite square stack symmetric
    """.split(),
    "torch.distributions.transforms": """
CatTransform CorrCholeskyTransform CumulativeDistributionTransform StackTransform
    """.split(),
    "torch.export": """
unflatten
    """.split(),
    "torch.fx.passes": """
graph_drawer split_module
    """.split(),
    "torch.library": """
fallthrough_kernel get_ctx register_torch_dispatch register_vmap
    """.split(),
    "torch.nn": """
LinearCrossEntropyLoss
    """.split(),
    "torch.nn.Module": """
xpu
    """.split(),
    "torch.nn.attention": """
bias varlen
    """.split(),
    "torch.nn.functional": """
grouped_mm scaled_mm
    """.split(),
    "torch.nn.parallel": """
DistributedDataParallelCPU data_parallel gather parallel_apply replicate scatter
    """.split(),
    "torch.nn.utils.prune": """
BasePruningMethod CustomFromMask Identity L1Unstructured LnStructured PruningContainer RandomStructured
RandomUnstructured global_unstructured random_structured
    """.split(),
    "torch.optim": """
SparseAdam
    """.split(),
    "torch.overrides": """
get_ignored_functions get_overridable_functions get_testing_overrides
    """.split(),
    "torch.profiler": """
DeviceType ExecutionGraphObserver ExecutionTraceObserver RecordScope itt
    """.split(),
    "torch.utils": """
bundled_inputs cpp_extension dlpack generate_methods_for_privateuse1_backend get_cpp_backtrace mobile_optimizer
model_zoo tensorboard
    """.split(),
    "torch.utils.checkpoint": """
check_backward_validity get_device_states set_device_states
    """.split(),
    "torch.utils.data": """
IterDataPipe MapDataPipe
    """.split(),
    "torch.utils.dlpack": """
DLDeviceType from_dlpack to_dlpack
    """.split(),
}


def message(module, name):
    """What an AttributeError says of a name."""
    owner = "type object 'Tensor'" if module == "torch.Tensor" else f"module '{module}'"
    if name in NAMES.get(module, ()):
        return (f"{owner} has no attribute '{name}': PyTorch has it, but Kerf's torch does not "
                "(resources/torch/_absent.py lists what is missing)")
    return f"{owner} has no attribute '{name}'"


def getter(module):
    """A module's __getattr__."""

    def __getattr__(name):
        raise AttributeError(message(module, name))

    return __getattr__


class Missing:
    """Stands in a class for a name that is not there: asking for it raises AttributeError."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __get__(self, instance, owner=None):
        raise AttributeError(message(self.module, self.name))


def install(cls, module):
    """Make the names that are missing in a class say so."""
    for name in NAMES[module]:
        setattr(cls, name, Missing(module, name))
