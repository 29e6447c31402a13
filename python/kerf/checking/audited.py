"""What Inductor generated for the smallest program, audited by `kerf audit`: proved, refuted or not known, without running it."""
import json
import os
import subprocess
import tempfile

from .pool import say_stage

MOST_CLAIMS = 20  # that are kept


def run_recorded(job):
    """What a trial does, for a job {path, source, values, folder}: compiles and calls the program, or the script with `args`, with
    the log of the compiler in `folder`."""
    import torch

    from ..recording.trace import Trace

    torch.set_num_threads(job.get("threads", 2))
    say_stage("audit")
    trace = Trace(lambda: job["folder"])
    if not trace.begin():
        return {"status": "untestable", "error": {"message": "this PyTorch writes no TORCH_TRACE"}}
    try:
        compile_once(job)
    finally:
        trace.end()
    return {"status": "tested"}


def compile_once(job):
    from .intercept import run_script
    from .observe import observe
    from .program import Program

    if "args" in job:
        run_script(job["path"], job["args"], "inductor")
        return
    program = Program(job["path"], job.get("source"), job.get("values", ""))
    program.load()
    observe(program, "inductor")


def audit_of(session, job, work=run_recorded):
    """{proved, refuted, not_known, claims} of what is generated for the job's program; {problem} where there is nothing to look at."""
    with tempfile.TemporaryDirectory(prefix="audit_", dir=session.torch.folder) as folder:
        # Not from the journal: the log is what is wanted.
        result = session.once(lambda: work(dict(job, folder=folder)))
        if not any(name.endswith(".log") for name in os.listdir(folder)):
            return {"problem": (result or {}).get("error", {}).get("message") or "nothing was compiled"}
        return told(folder, max(20.0, session.progress.left()))


def told(folder, limit):
    """What `kerf audit` says of the logs in the folder."""
    from ..backend.worker import KerfError, program

    try:
        done = subprocess.run([program(), "audit", folder, "--json"], capture_output=True, text=True, errors="replace", timeout=limit)
        answer = json.loads(done.stdout)
    except (KerfError, OSError, ValueError, subprocess.TimeoutExpired) as problem:
        return {"problem": str(problem)}
    if "programs" not in answer:
        return {"problem": answer.get("error", {}).get("message", "it was not audited")}
    claims = [claim for one in answer["programs"] for claim in one["claims"] if claim["verdict"] == "refuted"]
    return {"proved": answer["proved"], "refuted": answer["refuted"], "not_known": answer["not_known"], "claims": claims[:MOST_CLAIMS]}


def claim_lines(claim):
    """One claim that is refuted: what goes wrong, the statements, the counterexample."""
    lines = ["%s: %s: %s" % (claim["kind"], claim["subject"], claim["reason"]), "  line %d: %s" % (claim["line"], claim["statement"])]
    if claim["other_line"]:
        lines.append("  line %d: %s" % (claim["other_line"], claim["other_statement"]))
    if claim["example"]:
        lines.append("  counterexample: %s" % claim["example"])
    return lines


def audit_lines(report):
    """For the terminal, the page and the issue; none where nothing was audited."""
    audit = report.get("audit")
    if not audit:
        return []
    if "problem" in audit:
        return ["output code  not audited: %s" % " ".join(audit["problem"].split())[:200]]
    lines = ["output code  %d claims proved, %d refuted, %d not known" % (audit["proved"], audit["refuted"], audit["not_known"])]
    for claim in audit["claims"]:
        lines += ["  " + line for line in claim_lines(claim)]
    return lines
