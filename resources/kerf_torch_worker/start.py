# Start: torch is imported, with caches of this job, on one thread.
import contextlib
import os
import threading
import time
import warnings

from .compilers import BuildsWhole, LoadsInForks
from .shared import PRIVATE, STATE


def keep_apart(folder, device):
    """Caches and dumps of this job, away from the user's own. Dynamo looks after the random numbers of every GPU that it
    sees, and CUDA does not survive a fork: graphs on the CPU see none."""
    STATE["device"] = device
    if device == "cpu":
        PRIVATE["CUDA_VISIBLE_DEVICES"] = ""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads: a process with none forks safely
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that wait must not keep other queries from working
    warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
    PRIVATE.update(
        TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"),
        TRITON_CACHE_DIR=os.path.join(folder, "triton"),
        TORCHINDUCTOR_COMPILE_THREADS="1",
        TORCHINDUCTOR_FX_GRAPH_CACHE="0",
        TORCHINDUCTOR_AUTOGRAD_CACHE="0",
        PYTORCH_NVML_BASED_CUDA_CHECK="1",  # asking for GPUs must not initialise CUDA before a fork
    )
    for name in ("TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG", "TORCHDYNAMO_REPRO_AFTER", "TORCHDYNAMO_REPRO_LEVEL"):
        os.environ.pop(name, None)
    os.environ.update(PRIVATE)


def fix_config():
    """Settings that a fork needs, put back after a candidate's header was run."""
    import torch._inductor.config as inductor

    for name in ("TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG", "TORCHDYNAMO_REPRO_AFTER", "TORCHDYNAMO_REPRO_LEVEL"):
        os.environ.pop(name, None)
    os.environ.update(PRIVATE)
    threads = STATE.get("compile_threads", 1)
    for name, value in (("compile_threads", threads), ("fx_graph_cache", False), ("fx_graph_remote_cache", False)):
        if hasattr(inductor, name):
            setattr(inductor, name, value)
    with contextlib.suppress(AttributeError):  # code is written for as many threads as elsewhere
        if inductor.cpp.threads < 1 and "threads" in STATE:
            inductor.cpp.threads = STATE["threads"]
    with contextlib.suppress(Exception):
        import torch._functorch.config as functorch

        functorch.enable_autograd_cache = False
    with contextlib.suppress(Exception):
        import torch._dynamo.config as dynamo

        dynamo.repro_after = None
        dynamo.suppress_errors = False


def import_torch(jobs):
    """Imports torch, on one thread: a pool of OpenMP threads does not survive a fork."""
    started = time.monotonic()
    import torch

    STATE["torch"] = str(torch.__version__)
    STATE["threads"] = torch.get_num_threads()
    STATE["query_threads"] = max(1, STATE["threads"] // jobs)  # queries at the same time share the processor
    torch.set_num_threads(1)
    import torch._dynamo  # noqa: F401
    import torch._inductor.compile_fx  # noqa: F401

    fix_config()
    unshare_locks()
    with contextlib.suppress(ImportError, AttributeError):
        from torch._inductor import cpu_vec_isa

        cpu_vec_isa.subprocess = LoadsInForks(cpu_vec_isa.subprocess)
    with contextlib.suppress(ImportError, AttributeError):
        from torch._inductor import cpp_builder

        cpp_builder.subprocess = BuildsWhole(cpp_builder.subprocess)
    STATE["import_seconds"] = time.monotonic() - started


def import_given(folders, names):
    """What registers custom ops, as the user says."""
    import importlib
    import sys

    import torch

    sys.path += [folder for folder in folders if folder and folder not in sys.path]
    for name in names:
        if name.endswith(".so"):
            torch.ops.load_library(name)
        else:
            importlib.import_module(name)
    if names:
        torch.set_num_threads(1)
        fix_config()


def unshare_locks():
    """tqdm, which Inductor's progress bars are, locks a semaphore that all forks have in common: one that is ended while
    it holds it would stop all others for ever."""
    with contextlib.suppress(ImportError, AttributeError):
        from tqdm import tqdm

        tqdm.set_lock(threading.RLock())
