# What counts as a failure, and what is said of one.
import contextlib
import logging
import re
import traceback

from .graphs import Untestable, tensors_in
from .shared import MOST_TEXT

COMPILE_ERRORS = ("BackendCompilerFailed", "InductorError", "LoweringException", "CppCompileError", "TorchRuntimeError")


def is_compile_error(problem):
    """Whether an exception of a first call came from compiling: Dynamo's own, or one that a compiler's frame raised."""
    names = {kind.__name__ for kind in type(problem).__mro__}
    if names & set(COMPILE_ERRORS) or type(problem).__module__.startswith("torch._dynamo.exc"):
        return True
    frames = traceback.extract_tb(problem.__traceback__)
    return any("_inductor/compile_fx" in frame.filename or "_inductor/codecache" in frame.filename for frame in frames)


WRAPPERS = ("BackendCompilerFailed", "InductorError", "InternalTorchDynamoError", "LoweringException", "TorchRuntimeError")


def root_of(problem):
    """The exception that a compiler wrapped, and the wrappers' names."""
    wrappers = []
    while True:
        inner = getattr(problem, "inner_exception", None)
        if inner is None and type(problem).__name__ in WRAPPERS:
            inner = problem.__cause__
        if inner is None or len(wrappers) > 8:
            return problem, wrappers
        wrappers.append(type(problem).__name__)
        problem = inner


def message_of(problem):
    """The lines that say what is wrong: of a compiler's output the errors, not its command line."""
    text = str(problem)
    errors = re.findall(r"^.*?: (?:fatal )?error: .*$", text, re.M)
    return "\n".join(dict.fromkeys(re.sub(r"^.*?: (?=(?:fatal )?error: )", "", line) for line in errors)) or text


def names_in(problem):
    """Ops and kernels that an exception's text names: "aten.mm.default", "cpp_fused_add_0"."""
    text = str(problem)
    found = re.findall(r"(?:target: |aten[:.]{1,2}|prims[:.]{1,2}|torch\.ops\.)([\w.:]+)", text)
    found += re.findall(r"\b((?:cpp|triton)_(?:\w+_)?fused_\w+)", text)
    return list(dict.fromkeys(name.strip(".") for name in found))[:8]


def frames_of(problem):
    """Functions that raised it, innermost first, as "torch/_inductor/lowering.py:mm"."""
    frames = []
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        parts = frame.filename.replace("\\", "/").split("/")
        at = len(parts) - 1 - parts[::-1].index("torch") if "torch" in parts else len(parts) - 1
        frames.append("%s:%s" % ("/".join(parts[at:]), frame.name))
    return frames[:8]


def failure(phase, problem):
    root, wrappers = root_of(problem)
    if "Cannot re-initialize CUDA in forked subprocess" in str(problem):
        return {"verdict": "untestable", "message": "the worker: CUDA was used before a fork"}
    return {
        "verdict": "fails",
        "phase": phase,
        "exception": type(root).__name__,
        "wrappers": wrappers,
        "message": message_of(root)[:MOST_TEXT],
        "names": names_in(problem),
        "frames": frames_of(root) or frames_of(problem),
    }


class RmseLines(logging.Handler):
    """What same() says of the outputs that differ."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        with contextlib.suppress(Exception):
            text = record.getMessage()
            if "RMSE" in text or "ccuracy" in text or "dtype" in text:
                self.lines.append(text[:400])


@contextlib.contextmanager
def listening():
    handler = RmseLines()
    logger = logging.getLogger("torch._dynamo.utils")
    before = logger.disabled, logger.level
    logger.disabled = False
    logger.addHandler(handler)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.disabled = before[0]


def accuracy_detail(lines):
    """Numbers of the first line that has them: "RMSE (res-fp64): 0.1, (ref-fp64): 0.0 and shape=torch.Size([3])…"."""
    for line in lines:
        found = re.search(
            r"RMSE \(res-fp64\): ([\d.einfa+-]+), \(ref-fp64\): ([\d.einfa+-]+) and shape=torch\.Size\((.*?)\)"
            r"(?:.*?res\.dtype: torch\.(\w+))?",
            line,
        )
        if found:
            return {
                "rmse_res": float(found[1]),
                "rmse_ref": float(found[2]),
                "shape": found[3],
                "dtype": found[4] or "",
                "line": line,
            }
    return {"line": lines[0] if lines else ""}


def accuracy_failure(graph, strict):
    """same_two_models as the minifiers of PyTorch ask it."""
    from torch._dynamo import config
    from torch._dynamo.debug_utils import same_two_models

    ignore = not strict and bool(getattr(config, "repro_ignore_non_fp", False))
    with listening() as heard:
        forward_only = getattr(graph, "only_forward", True)
        with graph.scope():
            same = same_two_models(graph.module, graph.compiled, graph.args, forward_only, ignore_non_fp=ignore)
    if same:
        return None
    return {"verdict": "fails", "phase": "accuracy", "accuracy": accuracy_detail(heard.lines)}


def has_nan(value):
    return any(t.is_floating_point() and bool(t.isnan().any()) for t in tensors_in(value))


def nan_failure(ref, res):
    if not has_nan(ref) and has_nan(res):
        return {"verdict": "fails", "phase": "nan", "message": "NaN where eager has none"}
    return None


def nondeterminism_failure(graph, first):
    import torch

    torch.manual_seed(0)
    first = graph.run()
    torch.manual_seed(0)
    second = graph.run()
    pairs = zip(tensors_in(first), tensors_in(second))
    for index, (a, b) in enumerate(pairs):
        if a.shape != b.shape or not torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)):
            return {"verdict": "fails", "phase": "nondeterminism", "message": "result %d of two runs differs" % index}
    return None


def expression_failure(text, graph, ref, res):
    import torch

    space = {"mod": graph.module, "args": graph.args, "compiled": graph.compiled, "ref": ref, "res": res, "torch": torch}
    try:
        fails = eval(text, space)
    except Exception as problem:
        raise Untestable("the expression raised %s: %s" % (type(problem).__name__, problem)) from problem
    return {"verdict": "fails", "phase": "expression", "message": text} if fails else None


def check_of(query, options):
    """What to look for: what the user said, else what the candidate's run_repro says."""
    if query["check"] != "auto":
        return query["check"]
    accuracy = options.get("accuracy")
    if accuracy in ("strict_accuracy",):
        return "strict_accuracy"
    return "accuracy" if accuracy in (True, "accuracy") else "exception"


def compare_results(check, graph, ref, res):
    if check in ("accuracy", "strict_accuracy"):
        return accuracy_failure(graph, check == "strict_accuracy")
    if check == "nan":
        return nan_failure(ref, res)
    if check == "nondeterminism":
        return nondeterminism_failure(graph, res)
    if check.startswith("expr:"):
        return expression_failure(check[5:], graph, ref, res)
    return None
