"""Settings of Inductor, with the values of PyTorch 2.11. `torch/_inductor/compile_fx.py` says which of them act."""

import sys as _sys

from torch._dynamo._patch import patcher as _patcher
from torch._dynamo._settings import Group as _Group, Settings as _Settings

_fuse_ddp_bucket_size = 25
_fuse_ddp_communication = False
_fuse_ddp_communication_passes = ['fuse_ddp_with_concat_op', 'schedule_comm_wait']
_micro_pipeline_tp = False
_post_fusion_custom_pass = None
_pre_fusion_custom_pass = None
_profile_var = ""
_raise_error_for_testing = False
_save_config_ignore = [
    "trace.upload_tar",
    "joint_custom_pre_pass",
    "joint_custom_post_pass",
    "pre_grad_custom_pass",
    "aot_inductor.repro_level",
    "aot_inductor.dump_aoti_minifier",
    "post_grad_custom_pre_pass",
    "post_grad_custom_post_pass",
    "_fuse_ddp_communication_passes",
    "_pre_fusion_custom_pass",
]
_use_fp64_for_unbacked_floats = True
add_pre_grad_passes = None
aggressive_fusion = False
alignment_asserts = True
allow_buffer_reuse = True
always_complex_memory_overlap_TESTING_ONLY = False
always_keep_tensor_constants = False
annotate_training = False
apply_gumbel_max_trick = True
assert_indirect_indexing = True
assume_32bit_indexing = False
assume_aligned_inputs = False
assume_unaligned_fallback_output = False
autoheuristic_collect = ""
autoheuristic_log_path = "DEFAULT"
autoheuristic_use = "mixed_mm"
autotune_fallback_to_aten = False
autotune_in_subproc = False
autotune_local_cache = True
autotune_lookup_table = {}
autotune_multi_device = False
autotune_num_choices_displayed = 10
autotune_remote_cache = None
b2b_gemm_pass = False
batch_fusion = True
benchmark_combo_kernel = False
benchmark_epilogue_fusion = True
benchmark_fusion = False
benchmark_harness = True
benchmark_kernel = False
bucket_all_gathers_fx = "none"
bucket_all_gathers_fx_bucket_size_determinator = None
bucket_all_reduces_fx = "none"
bucket_all_reduces_fx_bucket_size_determinator = None
bucket_reduce_scatters_fx = "none"
bucket_reduce_scatters_fx_bucket_size_determinator = None
bundle_triton_into_fx_graph_cache = True
bundled_autotune_remote_cache = None
bw_outputs_user_visible = True
can_inplace_pad_graph_input = False
check_stack_no_cycles_TESTING_ONLY = False
collective_benchmark_nruns = 50
collective_benchmark_timeout = 30.0
combo_kernel_allow_mixed_sizes = 1
combo_kernel_foreach_dynamic_shapes = True
combo_kernel_max_num_args = 250
combo_kernel_per_subkernel_blocks = False
combo_kernels = False
combo_kernels_autotune = 1
combo_kernels_pointwise_only = False
comment_origin = False
compile_threads = 4
comprehensive_padding = True
compute_all_bounds = False
constant_and_index_propagation = True
conv_1x1_as_mm = False
coordinate_descent_check_all_directions = False
coordinate_descent_search_radius = 1
coordinate_descent_tuning = False
cpp_cache_precompile_headers = True
cpp_wrapper = False
cpp_wrapper_build_separate = False
cpu_backend = "cpp"
cpu_gpu_bw = 50.0
cuda_backend = "triton"
cudagraph_unsafe_unbacked_ops = []
custom_partitioner_fn = None
custom_should_partition_ops = []
cutedsl_enable_autotuning = False
dce = False
debug = False
debug_fusion = False
debug_index_asserts = False
debug_ir_traceback = False
decompose_mem_bound_mm = False
deterministic = False
developer_warnings = False
disable_cpp_codegen = False
disable_padding_cpu = True
disable_progress = True
disabled_passes = ""
distributed_max_autotune_gemm = False
dynamic_scale_rblock = True
efficient_conv_bn_eval_fx_passes = False
emulate_precision_casts = False
enable_auto_functionalized_v2 = True
enable_autograd_for_aot = False
enable_caching_generated_triton_templates = True
enable_linear_binary_folding = False
enabled_metric_tables = ""
epilogue_fusion = True
epilogue_fusion_first = False
estimate_op_runtime = "default"
expand_dimension_for_pointwise_nodes = False
external_matmul = []
fallback_by_default = False
fallback_embedding_bag_byte_unpack = False
fallback_random = False
file_lock_timeout = 600
force_disable_caches = False
force_fuse_int_mm_with_mul = False
force_layout_optimization = False
force_pointwise_cat = False
force_same_precision = False
force_shape_pad = False
freezing = False
freezing_discard_parameters = False
fx_graph_cache = True
fx_graph_remote_cache = None
fx_passes_numeric_check = {'num_iterations': 1, 'pre_grad': False, 'precision': 0.0001, 'requires_optimizer': True}
fx_wrapper = False
generate_intermediate_hooks = False
global_cache_dir = None
graph_partition = True
group_fusion = False
implicit_fallbacks = True
inductor_choices_class = None
inductor_default_autotune_rep = 100
inductor_default_autotune_warmup = 25
inplace_buffers = True
inplace_padding = True
inter_node_bw = 25
intra_node_bw = 300
is_predispatch = False
joint_custom_post_pass = None
joint_custom_pre_pass = None
joint_graph_constant_folding = True
keep_output_stride = True
kernel_name_max_ops = 10
layout_optimization = True
log_tlparse = False
loop_index_inversion_in_fusion = True
loop_ordering_after_fusion = True
max_autotune = False
max_autotune_allow_flexible_layouts = False
max_autotune_conv_backends = "ATEN,TRITON"
max_autotune_flex_search_space = "DEFAULT"
max_autotune_gemm = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
max_autotune_gemm_search_space = "DEFAULT"
max_autotune_pointwise = False
max_autotune_prune_choices_based_on_shared_mem = False
max_autotune_report_choices_stats = True
max_autotune_subproc_graceful_timeout_seconds = 0.0
max_autotune_subproc_result_timeout_seconds = 60.0
max_autotune_subproc_terminate_timeout_seconds = 0.0
max_epilogue_benchmarked_choices = 1
max_fusion_buffer_group_pairwise_attempts = 64
max_fusion_size = 64
max_fusion_unique_io_buffers = None
max_pointwise_cat_inputs = 8
memory_planning = False
memory_pool = "intermediates"
min_num_split = 0
mixed_mm_choice = "heuristic"
multi_kernel_hints = []
nan_asserts = False
non_blocking_remote_cache_write = True
nvgemm_max_profiling_configs = 5
online_softmax = True
optimize_scatter_upon_const_tensor = True
pad_channels_last = False
pad_dynamic_shapes = False
pad_outputs = False
padding_alignment_bytes = 128
padding_stride_threshold = 1024
partitioned_scatter_enabled = False
partitioned_scatter_max_partitions = 128
partitioned_scatter_memory_budget = 0.1
partitioned_scatter_min_partitions = 2
pattern_matcher = True
permute_fusion = False
pick_loop_orders = True
pipeline_max_autotune_gemm = False
post_grad_custom_post_pass = None
post_grad_custom_pre_pass = None
post_grad_fusion_options = {}
pre_grad_custom_pass = None
pre_grad_fusion_options = {}
precompilation_timeout_seconds = 300
profile_bandwidth = False
profile_bandwidth_output = None
profile_bandwidth_regex = ""
profile_bandwidth_with_do_bench_using_profiling = False
profiler_mark_wrapper_call = False
prologue_fusion = True
quiesce_async_compile_pool = True
quiesce_async_compile_time = 60
realize_acc_reads_size_threshold = None
realize_acc_reads_threshold = 8
realize_opcount_threshold = 30
realize_reads_threshold = 4
remote_gemm_autotune_cache = False
remove_pre_grad_passes = None
reorder_for_compute_comm_overlap = False
reorder_for_compute_comm_overlap_passes = []
reorder_for_locality = True
reorder_for_peak_memory = True
reorder_for_peak_memory_debug = False
reorder_prefetch_limit = None
run_jit_post_compile_hook = False
runtime_estimations_mms_benchmark = False
runtime_triton_nan_asserts = False
save_args = False
scalar_asserts = True
score_fusion_memory_threshold = 10
search_autotune_cache = False
selective_decompose = False
shape_padding = True
size_asserts = True
size_threshold_for_succ_based_strategy = 0
sleep_sec_TESTING_ONLY = None
small_memory_access_threshold = 16777216
split_cat_fx_passes = True
split_reductions = True
static_launch_user_defined_triton_kernels = False
static_weight_shapes = True
strict_static_cuda_launcher = False
torchinductor_worker_logpath = ""
tpu_backend = "pallas"
triton_disable_device_detection = False
triton_kernel_default_layout_constraint = "needs_fixed_stride_order"
unbacked_symint_fallback = 8192
unroll_reductions_threshold = 8
unsafe_ignore_unsupported_triton_autotune_args = False
unsafe_marked_cacheable_functions = {}
unsafe_skip_cache_dynamic_shape_guards = False
use_dce = True
use_experimental_benchmarker = True
use_fast_math = False
use_joint_graph_passes = True
use_mixed_mm = True
use_post_grad_passes = True
use_pre_grad_passes = True
use_static_cuda_launcher = True
verbose_progress = False
warn_mix_layout = False
worker_log_path = None
worker_start_method = "subprocess"
worker_suppress_logging = True
wrap_inductor_compiled_regions = False
write_are_deterministic_algorithms_enabled = True
xpu_backend = "triton"

_collective = _Group(
    auto_select=False, one_shot_all_reduce_threshold_bytes=131072)
aot_inductor = _Group(
    allow_stack_allocation=False, aoti_shim_library=None, aoti_shim_library_path=None, check_lowerbound=True,
    compile_wrapper_opt_level="O1", cross_target_platform=None, custom_op_libs=None, custom_ops_to_c_shims={},
    debug_compile=False, debug_intermediate_value_printer="0", debug_symbols=False, dump_aoti_minifier=False,
    dynamic_linkage=True, embed_kernel_binary=None, emit_multi_arch_kernel=None, enable_lto=False,
    filtered_kernel_names=None, force_mmap_weights=False, link_libtorch=True, metadata={},
    model_name_for_generated_files=None, output_path="", package=False, package_constants_in_so=True,
    package_constants_on_disk_format=None, package_cpp_only=None, precompile_headers=True, presets={},
    raise_error_on_ignored_optimization=True, repro_level=2, serialized_in_spec="", serialized_out_spec="",
    use_consts_asm_build=True, use_minimal_arrayref_interface=False, use_runtime_constant_folding=False,
    weight_use_caching_allocator=False)
aot_inductor_mode = _Group(
    compile_standalone=False)
aten_distributed_optimizations = _Group(
    bucket_exposed_first=True, collective_bucketing=None, collective_estimator="analytical",
    compute_overlap_multipler=None, custom_runtime_estimation=None, enable_fusion_regions=None,
    enable_overlap_scheduling=False, insert_overlap_deps=None, log_final_collectives_estimations=False,
    max_coll_distance=None, max_compute_pre_fetch=None, max_in_flight_gb=None, max_memory_increase_gb=None,
    max_memory_increase_ratio=None, prioritize_bucketing_during_scheduling=True)
auto_chunker = _Group(
    amplify_ratio_threshold=8, enable=False, num_chunk=None, output_size_threshold=1048576)
cpp = _Group(
    cxx=(None, 'g++'), descriptive_names="original_aten", dynamic_threads=False, enable_concat_linear=False,
    enable_floating_point_contract_flag="off", enable_grouped_gemm_template=False, enable_kernel_profile=False,
    enable_loop_tail_vec=True, enable_tiling_heuristics=True, enable_unsafe_math_opt_flag=False,
    fallback_scatter_reduce_sum=True, force_inline_kernel=False, gemm_cache_blocking=None, gemm_max_k_slices=1,
    gemm_thread_factors=None, inject_log1p_bug_TESTING_ONLY=None, inject_relu_bug_TESTING_ONLY=None,
    max_horizontal_fusion_size=16, min_chunk_size=512, no_redundant_loops=True, simdlen=None, threads=-1,
    use_constexpr_for_int_array=True, use_decompose_tanh=False, use_small_dequant_buffer=False, vec_isa_ok=None,
    weight_prepack=True)
cuda = _Group(
    arch=None, binary_remote_cache_force_write=False, compile_opt_level="-O1", cuda_cxx=None,
    cutlass_backend_min_gemm_size=1, cutlass_dir="", cutlass_dynamic_cluster_fallback=[2, 1, 1],
    cutlass_dynamic_cluster_shape=[2, 1, 1], cutlass_enabled_ops="all", cutlass_epilogue_fusion_enabled=False,
    cutlass_hash_with_compile_cmd=False, cutlass_instantiation_level="0", cutlass_max_profiling_configs=None,
    cutlass_max_profiling_swizzle_options=[1, 2, 4, 8], cutlass_op_allowlist_regex=None, cutlass_op_denylist_regex=None,
    cutlass_prescreening=True, cutlass_tma_only=False, enable_caching_codegen=True, enable_cuda_lto=False,
    enable_debug_info=False, enable_ptxas_info=False, generate_test_runner=False, nvgemm_max_profiling_configs=5,
    upload_to_binary_remote_cache=False, use_binary_remote_cache=True, use_fast_math=False, version=None)
cutlass = _Group(
    binary_remote_cache_force_write=False, compile_opt_level="-O1", cutlass_backend_min_gemm_size=1, cutlass_dir="",
    cutlass_dynamic_cluster_fallback=[2, 1, 1], cutlass_dynamic_cluster_shape=[2, 1, 1], cutlass_enabled_ops="all",
    cutlass_epilogue_fusion_enabled=False, cutlass_hash_with_compile_cmd=False, cutlass_instantiation_level="0",
    cutlass_max_profiling_configs=None, cutlass_max_profiling_swizzle_options=[1, 2, 4, 8],
    cutlass_op_allowlist_regex=None, cutlass_op_denylist_regex=None, cutlass_prescreening=True, cutlass_tma_only=False,
    enable_caching_codegen=True, enable_debug_info=False, generate_test_runner=False,
    upload_to_binary_remote_cache=False, use_binary_remote_cache=True, use_fast_math=False)
eager_numerics = _Group(
    disable_ftz=False, division_rounding=False)
halide = _Group(
    asserts=False, cpu_target="host", debug=False, gpu_target="host-cuda", scan_kernels=False,
    scheduler_cpu="Adams2019", scheduler_cuda="Anderson2021")
lookup_table = _Group(
    check_src_hash=True, table=None)
rocm = _Group(
    arch=[], ck_dir=None, ck_max_profiling_configs=None, ck_supported_arch=['gfx90a', 'gfx942', 'gfx950'],
    ck_tile_max_profiling_configs=None, compile_opt_level="-O2", contiguous_threshold=16, flush_denormals=True,
    generate_test_runner=False, is_debug=False, kBatch_sweep=None, n_max_profiling_configs=None,
    print_kernel_resource_usage=False, rocm_home=None, save_temps=False, split_k_threshold=16, use_fast_math=True,
    use_preselected_instances=False)
test_configs = _Group(
    assume_bucketing_reduces_latency=True, autotune_choice_desc_regex=None, autotune_choice_name_regex=None,
    bisect_keep_custom_backend_for_inductor=False, bisect_pre_grad_graph=False, distort_benchmarking_result="",
    force_extern_kernel_in_multi_template=False, force_filter_reduction_configs=False,
    graphsafe_rng_func_ignores_fallback_random=False, max_mm_configs=None, runtime_triton_dtype_assert=False,
    runtime_triton_shape_assert=False, static_cpp_dtype_assert=False, track_memory_lifecycle=None, use_libtorch=False)
trace = _Group(
    compile_profile=False, debug_dir=None, debug_log=False, dot_graph_shape=None, draw_orig_fx_graph=False,
    enabled=False, fx_graph=True, fx_graph_transformed=True, graph_diagram=False, info_log=False, ir_post_fusion=True,
    ir_pre_fusion=True, log_autotuning_results=False, log_url_for_graph_xform=None, output_code=True,
    provenance_tracking_level=0, save_real_tensors=False, upload_tar=None)
triton = _Group(
    autotune_at_compile_time=None, autotune_cublasLt=True, autotune_pointwise=True, autotune_with_sample_inputs=False,
    coalesce_tiling_analysis=True, codegen_upcast_to_fp32=True, cooperative_reductions=False,
    cudagraph_capture_sizes=None, cudagraph_dynamic_shape_warn_limit=8, cudagraph_or_error=False,
    cudagraph_skip_dynamic_graphs=False, cudagraph_support_input_mutation=True, cudagraph_trees=True,
    cudagraph_trees_history_recording=False, cudagraph_trees_objgraph=False, cudagraph_unexpected_rerecord_limit=128,
    cudagraphs=False, debug_dump_kernel_inputs={}, debug_sync_graph=False, debug_sync_kernel=False,
    decompose_k_threshold=32, dense_indexing=False, descriptive_names="original_aten",
    disallow_failing_autotune_kernels_TESTING_ONLY=False, divisible_by_16=True, enable_pdl=False,
    enable_persistent_tma_matmul=False, enable_template_tma_store=False, enable_tlx_templates=False,
    fast_path_cudagraph_asserts=False, force_cooperative_reductions=False, force_cudagraph_sync=False,
    force_cudagraphs_warmup=False, inject_relu_bug_TESTING_ONLY=None, max_kernel_dump_occurrences=3, max_tiles=None,
    min_split_scan_rblock=256, mix_order_reduction=True, mix_order_reduction_allow_multi_stages=False,
    mix_order_reduction_autotune_split_size=False, mix_order_reduction_initial_xblock=1,
    mix_order_reduction_non_strict_mode=False, mix_order_reduction_split_size=None, multi_kernel=0, native_matmul=False,
    num_decompose_k_splits=10, persistent_reductions=True, prefer_nd_tiling=False, proton_group_by_sm=True,
    proton_output_dir=None, proton_per_cta_occupancy=True, proton_profiling=False, proton_split_invocations=True,
    reorder_for_reducing_graph_partitions=True, skip_cudagraph_warmup=False, skip_l1_cache=False,
    slow_path_cudagraph_asserts=True, spill_threshold=16, store_cubin=False, tile_reductions=False,
    tiling_prevents_pointwise_fusion=True, tiling_prevents_reduction_fusion=True,
    transpose_discontiguous_tensor_descriptor=True, unique_kernel_names=True, unique_user_kernel_names=False,
    use_block_ptr=False, use_tensor_descriptor=False)
xpu = _Group(
    arch=None, binary_remote_cache_force_write=False, compile_opt_level="-O1", cutlass_backend_min_gemm_size=1,
    cutlass_dir="", cutlass_dynamic_cluster_fallback=[2, 1, 1], cutlass_dynamic_cluster_shape=[2, 1, 1],
    cutlass_enabled_ops="all", cutlass_epilogue_fusion_enabled=False, cutlass_hash_with_compile_cmd=False,
    cutlass_instantiation_level="0", cutlass_max_profiling_configs=None, cutlass_max_profiling_swizzle_options=[1, 2, 4,
    8], cutlass_op_allowlist_regex=None, cutlass_op_denylist_regex=None, cutlass_prescreening=True,
    cutlass_tma_only=False, enable_caching_codegen=True, enable_debug_info=False, generate_test_runner=False,
    upload_to_binary_remote_cache=False, use_binary_remote_cache=True, use_fast_math=False, version=None)

patch = _patcher(__name__)

_sys.modules[__name__].__class__ = _Settings
_sys.modules[__name__]._begin()
