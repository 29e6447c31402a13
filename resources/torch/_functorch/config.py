"""Settings of AOTAutograd that programs set."""

from torch._dynamo._patch import patcher as _patcher

debug_assert = False
debug_partitioner = False
functionalize_rng_ops = False
cse = True
ban_recompute_used_far_apart = True
ban_recompute_long_fusible_chains = True
aggressive_recomputation = False
activation_memory_budget = 1.0
donated_buffer = False
enable_autograd_cache = True
recompute_views = False

patch = _patcher(__name__)
