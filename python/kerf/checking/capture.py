"""The graphs that Dynamo makes of a program, with the inputs of each call, as programs of their own."""
import copy
import os

from .observe import fresh, total_of
from .pool import say_stage
from .printer import Unprintable, program_of
from .program import Program
from .snapshot import as_it_lies, leaves_of

MOST_GRAPHS = 200
MOST_BYTES = 1 << 31  # of inputs that are kept


class Recorder:
    """A backend: keeps each graph and the inputs of its first call, and runs it as it is."""

    def __init__(self):
        self.graphs = []
        self.bytes = 0

    def __call__(self, module, example_inputs):
        import torch

        kept = {"module": copy.deepcopy(module), "inputs": None, "grad": torch.is_grad_enabled()}
        if len(self.graphs) < MOST_GRAPHS:
            self.graphs.append(kept)

        def run(*inputs):
            if kept["inputs"] is None and self.bytes < MOST_BYTES:
                kept["inputs"] = [self.keep(value) for value in inputs]
                kept["grad"] = torch.is_grad_enabled()
            return module.forward(*inputs)

        return run

    def keep(self, value):
        import torch

        if not isinstance(value, torch.Tensor):
            return int(value) if isinstance(value, torch.SymInt) else value
        self.bytes += value.numel() * value.element_size()
        return as_it_lies(value.detach()).requires_grad_(value.requires_grad)


def captured(program, folder):
    """Writes graph_N.py (and graph_N.pt) for each graph. Returns [{path, nodes, values} or {problem, nodes}]."""
    import torch

    recorder = Recorder()
    say_stage("capture")
    fn, args = fresh(program)
    call = program.compile(fn, recorder)
    torch.manual_seed(1)
    problem = None
    try:
        for one in [args] + [tuple(more) for more in program.calls()]:
            out = call(*one)
            total = total_of(leaves_of(out)) if program.value("BACKWARD", False) else None
            if total is not None:
                total.backward()
    except Exception as error:
        problem = error
    return [written(number, kept, program, folder) for number, kept in enumerate(recorder.graphs)], str(problem or "")


def written(number, kept, program, folder):
    import torch

    found = {"number": number, "nodes": len(kept["module"].graph.nodes)}
    if kept["inputs"] is None:
        return dict(found, problem="it was never called")
    settings = {"KWARGS": program.value("KWARGS", {}), "CONFIG": program.value("CONFIG", {}),
                "BACKWARD": bool(program.value("BACKWARD", False)) and any(
                    isinstance(v, torch.Tensor) and v.requires_grad for v in kept["inputs"])}
    if program.value("FP64", True) is False:
        settings["FP64"] = False
    stored = {}
    try:
        text = program_of(kept["module"], kept["inputs"], settings, stored)
    except Unprintable as problem:
        return dict(found, problem=str(problem))
    path = os.path.join(folder, "graph_%d.py" % number)
    with open(path, "w") as file:
        file.write(text)
    if stored:
        torch.save(stored, path[:-3] + ".pt")
    return dict(found, path=path, values=path[:-3] + ".pt" if stored else "")


def run_capture(job):
    """What a trial does, for a job {path, folder}."""
    import torch

    torch.set_num_threads(job.get("threads", 2))
    if hasattr(torch._dynamo.config, "inline_inbuilt_nn_modules"):
        torch._dynamo.config.inline_inbuilt_nn_modules = True
    program = Program(job["path"], job.get("source"), job.get("values", ""))
    program.load()
    graphs, problem = captured(program, job["folder"])
    return {"status": "tested", "graphs": graphs, "problem": problem}


class StoredValues:
    """KERF_VALUES of a program: fresh copies of the tensors beside it."""

    def __init__(self, path):
        import torch

        self.values = torch.load(path, weights_only=False) if path else {}

    def __getitem__(self, about):
        """`about`: name, shape, strides, dtype and device, so that the text says what the file holds."""
        return lambda: as_it_lies(self.values[about[0]])
