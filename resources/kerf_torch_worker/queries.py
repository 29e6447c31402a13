# One query: judged, bisected or timed, in the process that was forked for it.
import contextlib
import json
import os
import select
import sys
import time
import traceback

from .failures import check_of, compare_results, failure, is_compile_error
from .graphs import AotGraph, DynamoGraph, Untestable, arguments_of, run_source, runner_options, synchronize
from .shared import STATE, end_group, lead_group


def judge(query):
    """The answer to one query. Raises what only this process's end can tell."""
    import torch

    times = {}
    options = runner_options(query["source"])
    check = check_of(query, options)
    try:
        space = run_source(query)
        args = arguments_of(space)
        kind = DynamoGraph if options["level"] == "dynamo" else AotGraph
        backend = query["backend"] or ("inductor" if kind is AotGraph else "")
        torch.manual_seed(0)
        graph = kind(space["mod"], args, options, backend)
        ref = graph.eager()
        synchronize(args)
    except Exception as problem:
        return {"verdict": "untestable", "message": "eager: %s: %s" % (type(problem).__name__, str(problem)[:1000])}
    started = time.monotonic()
    torch.manual_seed(0)
    try:
        graph.compile()
        synchronize(args)
    except Untestable as problem:
        return {"verdict": "untestable", "message": str(problem)}
    except Exception as problem:
        late = kind is DynamoGraph and not is_compile_error(problem)
        return failure("run" if late else "compile", problem)
    times["compile_seconds"] = time.monotonic() - started
    started = time.monotonic()
    torch.manual_seed(0)
    try:
        res = graph.run()
        synchronize(args)
    except Exception as problem:
        return dict(failure("run", problem), **times)
    times["run_seconds"] = time.monotonic() - started
    try:
        found = compare_results(check, graph, ref, res)
    except Untestable as problem:
        return {"verdict": "untestable", "message": str(problem)}
    return dict(found or {"verdict": "passes"}, **times)


def forked(work, seconds):
    """What work() returns, computed in a fork of this process."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        lead_group(0)
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(work()).encode("utf-8", "replace"))
        os._exit(0)
    lead_group(pid)
    os.close(writing)
    deadline, text = time.monotonic() + seconds, b""
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            piece = pipe.read(1 << 16)
            if not piece:
                break
            text += piece
    end_group(pid)
    os.waitpid(pid, 0)
    try:
        return json.loads(text)
    except ValueError:
        return {"verdict": "fails", "phase": "hang" if time.monotonic() >= deadline else "crash", "message": ""}


def bisect(query):
    """CompilerBisector over forks: which backend is the first to fail, which part of it, at which of its steps. A trial
    that crashes is a failure like any other."""
    from torch._inductor import compiler_bisector

    bisector, trials = compiler_bisector.CompilerBisector, []

    def trial():
        found = judge(dict(query, backend="bisector"))
        return dict(found, steps=[[at, str(text)] for at, text in compiler_bisector.call_counter_debug_info.items()])

    def passes():
        found = forked(trial, query["timeout_each"])
        compiler_bisector.call_counter_debug_info.update({at: text for at, text in found.pop("steps", [])})
        backend, part = bisector.get_backend(), bisector.get_subsystem() or ""
        state = bisector.get_run_state(backend, part) if part else None
        steps = bisector.get_bisect_range(backend, part) if state == "bisect" else None
        trials.append(
            {
                "backend": backend,
                "subsystem": part,
                "state": state or "",
                "steps": (steps[0] + steps[1]) // 2 if steps else -1,
                "same": found["verdict"] == "passes",
                "detail": "%s %s" % (found.get("exception", found.get("phase", "")), found.get("message", "")[:300]),
            }
        )
        return found["verdict"] == "passes"

    whole = forked(lambda: judge(query), query["timeout_each"])
    if whole["verdict"] != "fails":
        return dict(whole, trials=[])
    with contextlib.redirect_stdout(sys.stderr):
        result = bisector.do_bisect(passes)
    found = {"verdict": "fails", "phase": whole.get("phase", ""), "trials": trials}
    if result is not None:
        found["culprit"] = {
            "backend": result.backend,
            "subsystem": result.subsystem or "",
            "step": -1 if result.bisect_number is None else result.bisect_number,
            "info": str(result.debug_info or ""),
        }
    return found


def bare_seconds(query):
    """How long Inductor takes for the candidate when nothing else is done: what a query is measured against."""
    from torch._inductor.compile_fx import compile_fx_inner

    space = run_source(query)
    graph = AotGraph(space["mod"], arguments_of(space), runner_options(query["source"]), "inductor")
    started = time.monotonic()
    compile_fx_inner(graph.module, graph.args)
    return {"verdict": "passes", "bare_seconds": time.monotonic() - started}


def compile_side_by_side(compilers):
    """Several kernels at once where there are cores for it, by threads that wait for compilers. Inductor's pool of
    processes is for Triton, and would begin with an `import torch` of its own."""
    if compilers < 2:
        return
    with contextlib.suppress(Exception):
        from torch._inductor.async_compile import AsyncCompile

        AsyncCompile.use_process_pool = classmethod(lambda cls: False)
        STATE["compile_threads"] = compilers


OPERATIONS = {"judge": judge, "bisect": bisect, "bare": bare_seconds}


def answer_to(query):
    """Never raises, and never lets an answer's text break the protocol."""
    import torch

    torch.set_num_threads(STATE.get("query_threads", 1))
    compile_side_by_side(query.get("compilers", 1))
    started = time.monotonic()
    try:
        found = OPERATIONS[query["op"]](query)
    except MemoryError:
        found = {"verdict": "fails", "phase": "run", "exception": "MemoryError", "message": ""}
    except BaseException as problem:
        text = "".join(traceback.format_exception(type(problem), problem, problem.__traceback__))
        found = {"verdict": "untestable", "message": "the worker: " + text[-1500:]}
    found["seconds"] = time.monotonic() - started
    return found
