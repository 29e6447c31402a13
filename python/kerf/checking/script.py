"""The check of a script that calls torch.compile itself."""
import os
import tempfile

from .capture import MOST_GRAPHS, Recorder, written
from .compare import Comparison
from .detect import first_failing, verdict_of
from .intercept import run_script
from .pool import Pool, Task, say_stage
from .program import apply_config
from .session import Session
from .switches import Items
from .trial import BACKENDS, use_caches


def in_fork(work, limit):
    """What work() leaves in a file, from a process of its own: a script runs once in a process."""
    folder = tempfile.mkdtemp(prefix="script_")
    path = os.path.join(folder, "seen.pt")

    def save():
        import torch

        torch.save(work(), path)
        return {"status": "tested"}

    result = Pool(1, folder).run([Task("script", save, limit)])[0]
    if result is None or result["status"] != "tested":
        return result, None
    import torch

    return result, torch.load(path, weights_only=False)


def alike(a, b):
    """Whether two calls begin with the same values."""
    import torch

    return len(a) == len(b) and all(x.shape == y.shape and x.dtype == y.dtype and torch.equal(x, y) for x, y in zip(a, b))


def compared(wanted, given):
    """The verdict, and how many calls began with other values than eager mode's and were left out."""
    comparison, left_out = Comparison(), 0
    pairs = list(zip(wanted["records"], given["records"], wanted["befores"], given["befores"]))
    for number, (want, got, before, after) in enumerate(pairs):
        if not alike(before, after):
            left_out += 1
            continue
        judge = wanted["exact"][number] if number < len(wanted["exact"]) and not wanted["exact"][number]["raised"] else None
        comparison.coarse = judge is None or bool(want["grads"])
        comparison.call("call%d " % number if number else "", want, got, judge)
        if comparison.error or comparison.differences:
            break
    if not comparison.error and not comparison.differences:
        if given["raised"] and not wanted["raised"]:
            comparison.error = given["raised"]
        elif wanted["raised"] and not given["raised"]:
            comparison.differ("eager raises", "raises", "%s: %s" % (wanted["raised"]["type"], wanted["raised"]["message"]))
    return comparison.verdict(), left_out


def run_script_trial(job):
    """As run_trial, for a script: eager mode in one process, the backend in this one."""
    import torch

    torch.set_num_threads(job.get("threads", 2))
    path, arguments = job["path"], job["args"]
    say_stage("reference")
    result, wanted = in_fork(lambda: run_script(path, arguments, None, judge=True), job["limit"])
    if wanted is None:
        return {"status": "untestable", "error": {"message": "the script without compiling: %s" % (result or {}).get("status")}}
    if job.get("caches"):
        use_caches(tempfile.mkdtemp(prefix="caches_"))
    items = Items(job.get("off", ()))
    items.install()
    apply_config(job.get("config", {}))
    records = wanted["records"]
    answer = {"status": "tested", "backends": {}, "calls": len(records), "outputs": sum(len(r["outputs"]) for r in records),
              "grads": sum(len(r["grads"]) for r in records), "fp64": any(not e["raised"] for e in wanted["exact"]), "stable": True,
              "draws": any(r["draws"] for r in records), "missing": [], "eager_raises": [wanted["raised"]] if wanted["raised"] else []}
    backend = job["backends"][0]
    items.keep_random = answer["draws"]
    if backend == "inductor" and answer["draws"]:
        apply_config({"torch._inductor.config.fallback_random": True})
    say_stage(backend)
    verdict, left_out = compared(wanted, run_script(path, arguments, backend))
    answer["backends"][backend] = verdict
    answer["left_out"] = left_out
    return answer


def run_script_capture(job):
    """The graphs of a script, written as programs."""
    import torch

    torch.set_num_threads(job.get("threads", 2))
    if hasattr(torch._dynamo.config, "inline_inbuilt_nn_modules"):
        torch._dynamo.config.inline_inbuilt_nn_modules = True
    say_stage("capture")
    recorder = Recorder()
    seen = run_script(job["path"], job["args"], None, compile_with=recorder)
    graphs = [written(number, kept, Settings(kept), job["folder"]) for number, kept in enumerate(recorder.graphs[:MOST_GRAPHS])]
    return {"status": "tested", "graphs": graphs, "problem": str(seen["raised"] or "")}


class Settings:
    """What a graph's program says of itself, where no program said it."""

    def __init__(self, kept):
        self.backward = kept["grad"]

    def value(self, name, other):
        return self.backward if name == "BACKWARD" else other


class ScriptSession(Session):
    """As for a program with build(), but the first comparison runs the whole script."""

    def __init__(self, path, folder, progress, torch, jobs, limit, arguments):
        super().__init__(path, folder, progress, torch, jobs, limit)
        self.arguments = list(arguments)

    def script_job(self, backend, **more):
        return dict({"path": self.path, "args": self.arguments, "backends": [backend], "threads": 2, "limit": self.limit}, **more)

    def detect(self):
        self.progress.say("running the script eagerly and under the backends %s" % ", ".join(BACKENDS[:-1]))
        results = self.trials([self.script_job(b) for b in BACKENDS[:-1]], work=run_script_trial)
        verdicts = {b: verdict_of(r, b) for b, r in zip(BACKENDS, results)}
        self.about(results[0])
        if results[0] and results[0]["status"] == "tested" and results[0]["calls"] == 0:
            self.report["notes"].append("the script makes no call of anything that torch.compile gave")
            return {b: {"status": "untestable", "error": {"message": "no compiled call"}} for b in BACKENDS}
        if first_failing(verdicts)[0] is None and all(v["status"] == "ok" for v in verdicts.values()):
            self.be_warm()
            self.progress.say("running the script under inductor")
            result = self.trials([self.script_job("inductor")], work=run_script_trial)[0]
            verdicts["inductor"] = verdict_of(result, "inductor")
            if (result or {}).get("left_out"):
                self.report["notes"].append("%d calls began with other values than in eager mode, after others had been rounded "
                                            "otherwise, and were not compared" % result["left_out"])
        return verdicts

    def audit_job(self, minimal):
        return super().audit_job(minimal) if minimal else {"path": self.path, "args": self.arguments, "threads": 2}

    def captures(self):
        job = {"path": self.path, "args": self.arguments, "folder": self.folder, "threads": 2, "backends": ["capture"]}
        return self.trials([job], work=run_script_capture)[0]

    def whole(self, level, signature):
        """A script is not cut as a text: what its main program does with the results is not known."""
        return None
