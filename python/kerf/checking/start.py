"""The process that all trials are forked from: torch imported on one thread, caches of this check, one graph compiled."""
import importlib
import os
import sys
import tempfile
import time


def worker_modules():
    """The package that warms up PyTorch for Kerf's oracle: beside this one in a wheel, and in the source tree."""
    try:
        importlib.import_module("kerf_torch_worker")
    except ImportError:
        here = os.path.dirname(os.path.abspath(__file__))
        sys.path.append(os.path.abspath(os.path.join(here, "..", "..", "..", "resources")))
    names = ("start", "warm", "kept_tools", "shared")
    return [importlib.import_module("kerf_torch_worker." + name) for name in names]


def tools_place():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "kerf", "torch-tools")


CACHES = ("TORCHINDUCTOR_FX_GRAPH_CACHE", "TORCHINDUCTOR_AUTOGRAD_CACHE")


class Torch:
    """Imported once. `warm()` must be called before Inductor is asked to compile for the CPU in a fork."""

    def __init__(self, folder, jobs, on_gpu=False, keep=True):
        self.folder, self.jobs, self.keep, self.on_gpu = folder, jobs, keep and not on_gpu, on_gpu
        self.seconds = {}
        self.version = ""
        self.best_instructions = False  # whether the best vector instructions that the processor claims are those that are used
        self.start, self.warming, kept, self.shared = worker_modules()
        self.tools = kept.KeptTools(tools_place() if self.keep else "", folder)

    def open(self):
        """Imports torch. Raises ImportError."""
        began = time.monotonic()
        tempfile.tempdir = self.folder
        self.start.keep_apart(self.folder, "cuda" if self.on_gpu else "cpu")
        for name in CACHES:  # a setting in the environment could not be changed by those that look for faults of caches
            self.shared.PRIVATE.pop(name, None)
            os.environ.pop(name, None)
        os.environ.update(self.shared.PRIVATE)
        self.shared.timed("kept tools", self.tools.fetch)
        self.start.import_torch(self.jobs)
        self.seconds["import"] = time.monotonic() - began
        import torch

        self.version = str(torch.__version__)
        return {"torch": str(torch.__version__), "git": getattr(torch.version, "git_version", None),
                "cuda": torch.version.cuda, "python": sys.version.split()[0]}

    def warm(self):
        """Not for programs on a GPU: CUDA does not survive a fork, so nothing may touch it here. Returns what keeps
        Inductor from compiling at all on this machine, or None."""
        if self.on_gpu:
            return None
        began = time.monotonic()
        self.warming.warm_up()
        if self.keep:
            self.shared.timed("keeping tools", self.tools.store)
        self.seconds["warm"] = time.monotonic() - began
        self.best_instructions = self.are_best_valid()
        broken = [n for n in self.shared.STATE["notes"] if n.startswith("a first compile:")]
        return broken[0] if broken else None

    @staticmethod
    def are_best_valid():
        try:
            from torch._inductor import cpu_vec_isa

            claimed = cpu_vec_isa.x86_isa_checker()
            able = [i for i in cpu_vec_isa.supported_vec_isa_list if all(name in claimed for name in str(i).split())]
            return bool(able) and str(able[0]) == str(cpu_vec_isa.valid_vec_isa_list()[0])
        except Exception:
            return False
