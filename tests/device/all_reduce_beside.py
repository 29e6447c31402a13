"""all_reduce_beside.py KERF [BYTES [RANKS]]: Kerf's all_reduce over NCCL beside torch.distributed's, in one run.

Both reduce a float32 tensor of BYTES (1 GiB) in place on RANKS (2) devices, in turn, three times each: a round that warms up,
then five rounds of 20 calls between two events of CUDA; the time is the median round, bus bandwidth 2 (n - 1) / n times the
bytes by it. Kerf opens the libnccl that PyTorch uses, where KERF_NCCL names no other. Exit 1 where the median of Kerf's
bandwidths is below 0.95 of the median of PyTorch's."""
import glob
import json
import os
import statistics
import subprocess
import sys

CALLS, ROUNDS, TIMES = 20, 5, 3


def rank_main(rank, ranks, size, path):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method="file://" + path, rank=rank, world_size=ranks)
    tensor = torch.zeros(size // 4, device="cuda")
    times = []
    for _ in range(ROUNDS + 1):
        dist.barrier()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(CALLS):
            dist.all_reduce(tensor)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / CALLS)
    if rank == 0:
        with open(path + ".json", "w") as out:
            json.dump({"median_ms": statistics.median(times[1:]), "nccl": ".".join(map(str, torch.cuda.nccl.version()))}, out)
    dist.destroy_process_group()


def torch_times(size, ranks, number):
    import torch.multiprocessing as mp

    path = f"/tmp/all_reduce_beside.{os.getpid()}.{number}"
    mp.spawn(rank_main, (ranks, size, path), nprocs=ranks)
    with open(path + ".json") as answer:
        result = json.load(answer)
    for name in (path, path + ".json"):
        if os.path.exists(name):
            os.remove(name)
    return result


def torch_nccl():
    import torch

    root = os.path.dirname(os.path.dirname(torch.__file__))
    return next(iter(glob.glob(os.path.join(root, "nvidia", "*", "lib", "libnccl.so.2"))), None)


def kerf_times(kerf, size, ranks):
    environment = dict(os.environ)
    found = torch_nccl()
    if "KERF_NCCL" not in environment and found:
        environment["KERF_NCCL"] = found
    command = [kerf, "bench", "--all-reduce", str(size), "--ranks", str(ranks), "--repeats", str(ROUNDS), "--json"]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    kerf = sys.argv[1]
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 30
    ranks = int(sys.argv[3]) if len(sys.argv) > 3 else 2

    def bus(ms):
        return 2 * (ranks - 1) / ranks * size / (ms * 1e6)

    rows = {"kerf": [], "torch": []}
    for number in range(TIMES):
        for name, measure in (("kerf", lambda: kerf_times(kerf, size, ranks)), ("torch", lambda: torch_times(size, ranks, number))):
            answer = measure()
            rows[name].append(bus(answer["median_ms"]))
            version = answer.get("process_group", answer.get("nccl"))
            print(f"{name:6} {answer['median_ms']:8.3f} ms  {rows[name][-1]:7.1f} GB/s  ({version})", flush=True)
    ratio = statistics.median(rows["kerf"]) / statistics.median(rows["torch"])
    print(f"all_reduce of {size} bytes on {ranks} devices: kerf / torch = {ratio:.3f} (asked: 0.95)")
    return 0 if ratio >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
