"""What of a compiler can be turned off, one at a time."""

# (subsystem, setting, value, what it is): each is a question "does the failure go away then?"
SETTINGS = [
    ("fusion", "torch._inductor.config.max_fusion_size", 1, "fusion of kernels"),
    ("fusion", "torch._inductor.config.epilogue_fusion", False, "fusion of what follows a matrix product"),
    ("C++ vectorization", "torch._inductor.config.cpp.simdlen", 1, "vectorized C++ code"),
    ("C++ loops", "torch._inductor.config.cpp.threads", 1, "parallel C++ loops"),
    ("C++ loops", "torch._inductor.config.cpp.enable_tiling_heuristics", False, "choice of C++ tiles"),
    ("C++ vectorization", "torch._inductor.config.cpp.enable_loop_tail_vec", False, "vectorized loop tails"),
    ("C++ compiler", "torch._inductor.config.cpp.enable_unsafe_math_opt_flag", False, "unsafe floating point flags"),
    ("C++ compiler", "torch._inductor.config.cpp.enable_floating_point_contract_flag", "off", "fused multiply and add"),
    ("pattern matcher", "torch._inductor.config.pattern_matcher", False, "pattern matcher"),
    ("constant folding", "torch._inductor.config.joint_graph_constant_folding", False, "constant folding"),
    ("layout", "torch._inductor.config.layout_optimization", False, "layout optimization"),
    ("layout", "torch._inductor.config.comprehensive_padding", False, "padding of strides"),
    ("buffers", "torch._inductor.config.inplace_buffers", False, "buffers used in place"),
    ("buffers", "torch._inductor.config.allow_buffer_reuse", False, "reuse of buffers"),
    ("reductions", "torch._inductor.config.split_reductions", False, "split reductions"),
    ("reductions", "torch._inductor.config.triton.persistent_reductions", False, "persistent reductions"),
    ("reductions", "torch._inductor.config.triton.multi_kernel", 0, "multi-kernel reductions"),
    ("reductions", "torch._inductor.config.unroll_reductions_threshold", 1, "unrolled reductions"),
    ("precision", "torch._inductor.config.emulate_precision_casts", True, "casts left out between fused ops"),
    ("random numbers", "torch._inductor.config.fallback_random", True, "Inductor's random numbers"),
    ("schedule", "torch._inductor.config.reorder_for_peak_memory", False, "order of kernels"),
    ("schedule", "torch._inductor.config.reorder_for_locality", False, "order of ops"),
    ("split and cat", "torch._inductor.config.split_cat_fx_passes", False, "passes about split and cat"),
    ("partitioner", "torch._functorch.config.cse", False, "common subexpressions"),
    ("partitioner", "torch._functorch.config.recompute_views", True, "views saved for the backward graph"),
    ("autotuning", "torch._inductor.config.max_autotune", False, "autotuning"),
    ("autotuning", "torch._inductor.config.max_autotune_gemm", False, "templates of matrix products"),
    ("dynamic shapes", "torch._dynamo.config.assume_static_by_default", True, "dynamic shapes"),
]

SUBSYSTEM_OF = {"decomposition": "decomposition", "pre_grad_passes": "pre-grad pass", "joint_graph_passes": "joint-graph pass",
                "post_grad_passes": "post-grad pass", "lowerings": "lowering", "pre_grad_graph": "pre-grad graph",
                "cudagraphs": "CUDA graphs"}


RANDOM = ("dropout", "bernoulli", "rand", "normal_", "uniform", "exponential", "geometric", "cauchy", "rrelu", "multinomial")


class Items:
    """The steps that PyTorch itself can leave out (those that its CompilerBisector asks about), in the order in which they
    come. `off`: texts of those to leave out."""

    def __init__(self, off=()):
        self.off = set(off)
        self.seen = []
        self.keep_random = False  # decompositions draw other numbers than the ops themselves: no fault

    def ask(self, backend, subsystem, debug_info=None):
        try:
            name = str(debug_info()) if debug_info is not None else ""
        except Exception:
            name = ""
        item = "%s|%s" % (subsystem, name[:300])
        if item not in self.seen:
            self.seen.append(item)
        if self.keep_random and subsystem == "decomposition" and any(word in name for word in RANDOM):
            return True
        return item in self.off or subsystem + "|*" in self.off

    def install(self):
        """Whether this PyTorch asks (2.5 and newer)."""
        try:
            from torch._inductor.compiler_bisector import CompilerBisector
        except ImportError:
            try:
                from torch._inductor.bisect_helper import BisectionManager as CompilerBisector
            except ImportError:
                return False
        CompilerBisector.disable_subsystem = staticmethod(self.ask)
        return True
