"""What of a Python's PyTorch works: prints one JSON object. `kerf doctor` runs it as a file, under any Python 3."""
import json
import os
import shutil
import sys


def compiler():
    """What Inductor calls for C++ code, or ""."""
    for name in (os.environ.get("CXX", ""), "clang++", "g++", "c++"):
        if name and shutil.which(name):
            return shutil.which(name)
    return ""


def gpus(torch):
    if not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def version_of(module):
    try:
        return str(getattr(__import__(module), "__version__", "of unknown version"))
    except Exception:
        return ""


def main():
    about = {"python": "%d.%d.%d" % sys.version_info[:3], "executable": sys.executable, "cxx": compiler(), "torch": "", "problem": ""}
    try:
        import torch

        about.update(torch=str(torch.__version__), cuda=str(torch.version.cuda or ""), gpus=gpus(torch), triton=version_of("triton"),
                     mpi=bool(torch.distributed.is_available() and torch.distributed.is_mpi_available()),
                     nccl=bool(torch.distributed.is_available() and torch.distributed.is_nccl_available()))
    except Exception as problem:
        about["problem"] = "%s: %s" % (type(problem).__name__, problem)
    about["kerf"] = version_of("kerf") if sys.path and not os.path.exists(os.path.join(sys.path[0], "environment.py")) else ""
    print(json.dumps(about))


if __name__ == "__main__":
    main()
