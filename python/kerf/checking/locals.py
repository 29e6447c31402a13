"""What the variables of a program's function are when it returns, as texts that make such values."""
import sys

from .inputs import makers
from .pool import say_stage
from .program import Program


def run_locals(job):
    """{status, about: {name: text}} of the tensors and numbers in the function of a job's program, run eagerly."""
    import torch

    torch.set_num_threads(job.get("threads", 2))
    say_stage("reference")
    program = Program(job["path"], job.get("source"), job.get("values", ""))
    program.load()
    fn, args = program.build()
    code = getattr(fn, "__code__", None)
    seen = {}

    def look(frame, event, _):
        if event == "return" and frame.f_code is code:
            seen.update(frame.f_locals)

    sys.setprofile(look)
    try:
        fn(*args)
    finally:
        sys.setprofile(None)
    trains = bool(program.value("BACKWARD", False))
    return {"status": "tested", "about": {name: text for name, text in ((n, text_of(v, trains)) for n, v in seen.items()) if text}}


def text_of(value, trains):
    import torch

    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        text = next(makers(tuple(value.shape), tuple(value.stride()), str(value.dtype), value.device.type))
        return text + (".requires_grad_()" if trains and value.is_floating_point() else "")
    return repr(value) if type(value) in (int, float, bool) else ""
