"""Settings of Inductor that programs set; the compiler of Kerf reads those that it has."""

import types as _types

from torch._dynamo._patch import patcher as _patcher

debug = False
fallback_random = False
max_autotune = False
max_autotune_gemm = False
coordinate_descent_tuning = False
epilogue_fusion = True
pattern_matcher = True
split_reductions = True
freezing = False
force_disable_caches = False
fx_graph_cache = True
emulate_precision_casts = False
implicit_fallbacks = True
size_asserts = True
nan_asserts = False
shape_padding = True
permute_fusion = False
reorder_for_locality = True
compile_threads = 1
cpp = _types.SimpleNamespace(threads=-1, simdlen=None, min_chunk_size=512, enable_kernel_profile=False)
triton = _types.SimpleNamespace(cudagraphs=False, unique_kernel_names=True)
trace = _types.SimpleNamespace(enabled=False, graph_diagram=False, debug_log=False)

patch = _patcher(__name__)
