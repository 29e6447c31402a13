"""One question: does a program, compiled in some ways, do what it does in eager mode? Answered in a process of its own."""
import contextlib
import os
import tempfile
import time

from .compare import compare
from .observe import observe
from .pool import say_stage
from .program import Program, apply_config
from .switches import Items

BACKENDS = ["eager", "aot_eager", "aot_eager_decomp_partition", "inductor"]


def reference(program, again):
    """{records, exact, stable, raised}: the eager run, one in float64, and whether a second eager run is the same."""
    say_stage("reference")
    wanted = observe(program)
    exact = None
    if program.value("FP64", True):
        try:
            exact = observe(program, wide=True)
        except Exception:
            exact = None
    stable, unstable = True, []
    if again:
        verdict = compare(wanted, observe(program), exact)
        stable, unstable = verdict["status"] == "ok", [d["what"] for d in verdict["differences"]]
    return {"records": wanted, "exact": exact, "stable": stable, "unstable": unstable,
            "draws": any(r["draws"] for r in wanted), "raised": [r["raised"] for r in wanted if r["raised"]]}


def allow_tf32(allowed):
    import torch

    torch.backends.cudnn.allow_tf32 = allowed
    torch.backends.cuda.matmul.allow_tf32 = allowed


def under(program, backend, ref):
    """What one backend makes of it: {status, differences, notes, error, seconds}."""
    say_stage(backend)
    started = time.monotonic()
    try:
        given = observe(program, backend)
        found = compare(ref["records"], given, ref["exact"])
    except Exception as problem:
        from .errors import describe

        found = {"status": "error", "differences": [], "notes": [], "error": describe(problem, "setup")}
    if ref["unstable"] and found["status"] == "different":
        found["differences"] = [d for d in found["differences"] if d["what"] not in ref["unstable"]]
        found["status"] = "different" if found["differences"] else "ok"
    if found["status"] == "different" and on_gpu(ref) and all(map(may_be_tf32, found["differences"])):
        found = without_tf32(program, backend, found)
    return dict(found, seconds=round(time.monotonic() - started, 2))


def on_gpu(ref):
    return any(s["value"] is not None and s["value"].is_cuda for r in ref["records"] for s in r["outputs"] if "value" in s)


def may_be_tf32(difference):
    """Small enough for factors that were cut to ten bits."""
    return difference["group"] == "value" and difference.get("dtype") == "torch.float32" and difference["relative"] < 0.02


def without_tf32(program, backend, found):
    """Ten bits of a product's factors is what eager mode may use, too, and it chooses by itself: a difference that is gone
    without TF32 is rounding."""
    import torch

    before = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    if not any(before):
        return found
    allow_tf32(False)
    try:
        ref = reference(program, False)
        second = compare(ref["records"], observe(program, backend), ref["exact"])
    except Exception:
        return found
    finally:
        torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = before
    if second["status"] == "ok":
        notes = [{"what": d["what"], "rounding": d.get("max_abs_diff"), "tf32": True} for d in found["differences"]]
        return dict(found, status="ok", differences=[], notes=found["notes"] + notes)
    return found


def use_caches(folder):
    """Inductor's and AOTAutograd's caches as the user has them, but with nothing in them, in a folder of this trial. What
    compilers made once for all trials is linked."""
    import torch._functorch.config
    import torch._inductor.config

    shared = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "")
    for base, folders, names in os.walk(shared):
        folders[:] = [f for f in folders if f not in ("fxgraph", "aotautograd")]
        there = os.path.join(folder, os.path.relpath(base, shared))
        os.makedirs(there, exist_ok=True)
        for name in names:
            with contextlib.suppress(OSError):
                os.link(os.path.join(base, name), os.path.join(there, name))
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    torch._inductor.config.fx_graph_cache = True
    with contextlib.suppress(AttributeError):
        torch._functorch.config.enable_autograd_cache = True


def run_trial(job):
    """`job`: {path, source?, backends, again, config, off, caches}. Returns {reference: {...}, backends: {name: verdict}, items}."""
    import torch

    torch.set_num_threads(job.get("threads", 2))
    if job.get("caches"):
        use_caches(tempfile.mkdtemp(prefix="caches_"))
    items = Items(job.get("off", ()))
    items.install()
    say_stage("load")
    program = Program(job["path"], job.get("source"), job.get("values", ""))
    try:
        program.drop = job.get("drop_config", []), job.get("drop_kwargs", [])
        missing = program.load()
        apply_config(job.get("config", {}))
        ref = reference(program, job.get("again", False))
    except Exception as problem:
        from .errors import describe

        return {"status": "untestable", "error": describe(problem, "eager")}
    answer = {"status": "tested", "backends": {}, "draws": ref["draws"], "stable": ref["stable"], "missing": missing,
              "fp64": ref["exact"] is not None, "calls": len(ref["records"]), "eager_raises": ref["raised"],
              "outputs": sum(len(r["outputs"]) for r in ref["records"]),
              "grads": sum(len(r["grads"]) for r in ref["records"])}
    if ref["raised"] and job.get("must_run"):
        return {"status": "untestable", "error": {"message": "eager mode raises"}}
    items.keep_random = ref["draws"]
    for backend in job["backends"]:
        if backend == "inductor" and ref["draws"]:
            apply_config({"torch._inductor.config.fallback_random": True})
        answer["backends"][backend] = under(program, backend, ref)
        if answer["backends"][backend]["status"] != "ok" and job.get("stop", False):
            break
    answer["items"] = items.seen
    return answer

