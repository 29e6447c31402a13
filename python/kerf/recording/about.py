"""Where a run took place: versions, settings of the compiler, and variables of the environment that are allowed."""
import os
import platform
import sys

STARTS = ("TORCH", "PYTORCH", "INDUCTOR", "TRITON", "NCCL_", "GLOO_", "KERF_", "AOT_", "CUBLAS_", "CUDNN_", "OMP_", "MKL_")
NAMES = ("CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "PYTHONHASHSEED", "RANK", "LOCAL_RANK", "WORLD_SIZE", "GROUP_RANK",
         "LOCAL_WORLD_SIZE", "CXX", "CC")
SECRET = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "_KEY", "AUTH")


def allowed(environment):
    """What of an environment says how torch works, and nothing that may be a secret."""
    return {name: value for name, value in sorted(environment.items())
            if (name.startswith(STARTS) or name in NAMES) and not any(word in name.upper() for word in SECRET)}


def changed_settings():
    """Settings of the compiler that are not as they were delivered, as Python text by module."""
    import importlib

    found = {}
    for name in ("torch._dynamo.config", "torch._functorch.config", "torch._inductor.config"):
        try:
            found[name] = importlib.import_module(name).codegen_config().strip()
        except Exception as problem:
            found[name] = "# cannot be read: %s" % problem
    return {name: text for name, text in found.items() if text}


def run():
    """About this process, before it compiles anything."""
    import torch

    cuda = torch.version.cuda
    found = {"torch": str(torch.__version__), "git": getattr(torch.version, "git_version", None), "cuda": cuda,
             "hip": getattr(torch.version, "hip", None), "python": sys.version.split()[0], "platform": platform.platform(),
             "arguments": sys.argv, "pid": os.getpid(), "threads": torch.get_num_threads(),
             "deterministic": torch.are_deterministic_algorithms_enabled(), "float32_matmul": torch.get_float32_matmul_precision(),
             "settings": changed_settings(), "environment": allowed(os.environ)}
    if torch.cuda.is_initialized():
        found["devices"] = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return found
