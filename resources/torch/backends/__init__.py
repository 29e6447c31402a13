"""Settings of libraries; here they are only remembered."""

import types as _types


def _space(name, **values):
    made = _types.SimpleNamespace(**values)
    made.__name__ = name
    return made


cudnn = _space("cudnn", enabled=True, benchmark=False, deterministic=False, allow_tf32=True, is_available=lambda: False,
               version=lambda: None, is_acceptable=lambda tensor: False)
mkldnn = _space("mkldnn", enabled=True, is_available=lambda: True)
mkl = _space("mkl", is_available=lambda: False)
openmp = _space("openmp", is_available=lambda: True)
mps = _space("mps", is_available=lambda: False, is_built=lambda: False)
opt_einsum = _space("opt_einsum", enabled=False, strategy=None, is_available=lambda: False)
_cuda_matmul = _space("matmul", allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
                      allow_bf16_reduced_precision_reduction=True)
cuda = _space("cuda", matmul=_cuda_matmul, is_built=lambda: False, flash_sdp_enabled=lambda: True,
              mem_efficient_sdp_enabled=lambda: True, math_sdp_enabled=lambda: True, enable_flash_sdp=lambda on: None,
              enable_mem_efficient_sdp=lambda on: None, enable_math_sdp=lambda on: None)
_mha = {"fastpath": True}
mha = _space("mha", get_fastpath_enabled=lambda: _mha["fastpath"],
             set_fastpath_enabled=lambda value: _mha.__setitem__("fastpath", value))
