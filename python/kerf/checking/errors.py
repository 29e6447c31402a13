"""What is said of an exception: its kind, where it was raised, and by which line of the user's."""
import re
import traceback

WRAPPERS = ("BackendCompilerFailed", "InductorError", "InternalTorchDynamoError", "LoweringException", "TorchRuntimeError",
            "Unsupported")


def root_of(problem):
    """The exception that compilers wrapped."""
    seen = set()
    while id(problem) not in seen:
        seen.add(id(problem))
        inner = getattr(problem, "inner_exception", None)
        if inner is None and type(problem).__name__ in WRAPPERS:
            inner = problem.__cause__ or problem.__context__
        if not isinstance(inner, BaseException):
            return problem
        problem = inner
    return problem


def torch_frame(frame):
    """"torch/_inductor/lowering.py:mm" of a frame in PyTorch, else None."""
    parts = frame.filename.replace("\\", "/").split("/")
    if "torch" not in parts:
        return None
    at = len(parts) - 1 - parts[::-1].index("torch")
    return "%s:%s" % ("/".join(parts[at:]), frame.name)


def frames_of(problem):
    """PyTorch's frames, the innermost first."""
    found = [torch_frame(frame) for frame in reversed(traceback.extract_tb(problem.__traceback__))]
    return [frame for frame in found if frame][:12]


def user_line(text):
    """The line of the user's that Dynamo was at, as its messages end with it."""
    found = re.findall(r'^\s+File "[^"]*", line \d+, in \w+\n\s+(\S.*)$', text.split("from user code", 1)[-1], re.M)
    return found[-1].strip() if "from user code" in text and found else ""


def message_of(problem):
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    message = lines[0] if lines else ""
    if message.endswith("raised:") and len(lines) > 1:
        message += " " + lines[1]
    errors = re.findall(r"(?:fatal )?error: .*$", str(problem), re.M)
    return (errors[0] if errors and "CppCompileError" in type(root_of(problem)).__name__ else message)[:500]


def ops_in(text):
    """Ops that a text names."""
    found = re.findall(r"(?:target: |aten[:.]{1,2}|prims[:.]{1,2}|torch\.ops\.)([\w.:]+)", text)
    return list(dict.fromkeys(name.strip(".:") for name in found))[:8]


def describe(problem, phase="call"):
    """{type, root, message, raised_in, frames, user_line, ops, phase}."""
    root = root_of(problem)
    frames = frames_of(root) or frames_of(problem)
    text = str(problem)
    return {"type": type(problem).__name__, "root": type(root).__name__, "message": message_of(problem),
            "root_message": message_of(root), "raised_in": frames[0] if frames else "", "frames": frames,
            "user_line": user_line(text), "ops": ops_in(text), "phase": phase,
            "from_compiler": type(problem).__name__ in WRAPPERS or type(problem).__module__.startswith("torch._dynamo")}


def normal(text):
    """A message without what changes from one graph to the next: numbers, names of symbols and sizes."""
    text = re.sub(r"0x[0-9a-f]+|\bz?[su][uf]?\d+\b|\d+(\.\d+)?", "N", text)
    return re.sub(r"\s+", " ", re.sub(r"[\[(](?:N,? ?)+[\])]", "[N]", text)).strip()
