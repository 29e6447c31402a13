"""Which backend is the first that does otherwise than eager mode, and in what."""
from .pool import Task
from .trial import BACKENDS, run_trial

DEAD = ("crash", "hang")
MEMORY = ("OutOfMemoryError", "MemoryError")  # of this machine, with several trials at the same time


def task_of(job, limit):
    return Task(job.get("name", "trial"), lambda: run_trial(job), limit)


def verdict_of(result, backend):
    """The verdict about one backend out of a trial's result: also where the trial's process died."""
    if result is None:
        return {"status": "not reached"}
    if result["status"] in DEAD:
        stage = result.get("stage") or "load"
        if stage in ("load", "reference"):
            return {"status": "untestable", "error": {"message": "eager mode: %s" % result["status"]}}
        return dict(result, differences=[], notes=[], at=stage)
    if result["status"] == "untestable":
        return result
    found = result["backends"].get(backend, {"status": "not reached"})
    if found["status"] == "error" and found["error"]["root"] in MEMORY:
        return {"status": "untestable", "error": found["error"]}
    return found


def signature_of(verdict):
    """What makes two failures the same one: status and kind."""
    from .errors import normal

    status = verdict["status"]
    if status == "error":
        error = verdict["error"]
        return {"status": status, "root": error["root"], "message": normal(error["root_message"]),
                "frames": error["frames"][:3], "phase": error["phase"]}
    if status == "different":
        groups = sorted({d["group"] for d in verdict["differences"]})
        sizes = [d.get("relative") for d in verdict["differences"] if d.get("relative") is not None]
        return {"status": status, "groups": groups, "relative": max(sizes, default=None)}
    if status == "crash":
        return {"status": status, "signal": verdict.get("signal", "")}
    return {"status": status}


def is_same(signature, verdict):
    """Whether a verdict is the failure that the signature describes."""
    found = signature_of(verdict)
    if found["status"] != signature["status"]:
        return False
    if found["status"] == "error":
        return found["root"] == signature["root"] and (
            found["message"] == signature["message"] or len(found["frames"]) > 1 and found["frames"] == signature["frames"])
    if found["status"] == "different":
        if not set(found["groups"]) & set(signature["groups"]):
            return False
        before, now = signature["relative"], found["relative"]
        return before is None or now is None or now >= 0.01 * min(before, 1.0)
    return True


def first_failing(verdicts):
    """(backend, verdict) of the first level that fails, or (None, None)."""
    for backend in BACKENDS:
        verdict = verdicts.get(backend)
        if verdict and verdict["status"] in ("different", "error") + DEAD:
            return backend, verdict
    return None, None

