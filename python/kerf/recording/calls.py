"""Values of nodes: what compiled code computed beside what the same graph gives node by node in eager mode."""
import copy
import functools
import os

from . import digest, tensors_file

MOST_BYTES = 1 << 30  # of values that one call keeps at once


class Compiler:
    """Stands between AOTAutograd and Inductor."""

    def __init__(self, recording):
        self.recording = recording
        self.original, self.settings = None, {}

    def install(self):
        import torch._functorch.config
        import torch._inductor.compile_fx as owner
        import torch._inductor.config

        self.original = owner.compile_fx
        inner = owner.compile_fx_inner
        keep = ((torch._inductor.config, "generate_intermediate_hooks", True), (torch._inductor.config, "fx_graph_cache", False),
                (torch._functorch.config, "enable_autograd_cache", False))
        for module, name, value in keep:
            if hasattr(module, name):
                self.settings[module, name] = getattr(module, name)
                setattr(module, name, value)

        @functools.wraps(self.original)
        def compile_fx(model_, example_inputs_, inner_compile=inner, *args, **kwargs):
            if not getattr(inner_compile, "kerf_recorded", False):
                inner_compile = self.recorded(inner_compile)
            return self.original(model_, example_inputs_, inner_compile, *args, **kwargs)

        owner.compile_fx = compile_fx

    def remove(self):
        import torch._inductor.compile_fx as owner

        owner.compile_fx = self.original
        for (module, name), value in self.settings.items():
            setattr(module, name, value)

    def recorded(self, inner_compile):
        @functools.wraps(inner_compile)
        def compile_inner(gm, example_inputs, *args, **kwargs):
            graph = self.kept(gm, kwargs)
            result = inner_compile(gm, example_inputs, *args, **kwargs)
            try:
                return graph.attached(result) if graph is not None else result
            except Exception as problem:
                self.recording.note("a graph is not recorded: %s" % problem)
                return result

        compile_inner.kerf_recorded = True
        return compile_inner

    def kept(self, gm, about):
        try:
            return Graph(self.recording, copy.deepcopy(gm), name_of(gm, about))
        except Exception as problem:
            self.recording.note("a graph is not recorded: it cannot be copied: %s" % problem)
            return None


def name_of(gm, about):
    """0_1-backward: the compilation as Kerf and tlparse name it, and the part."""
    from torch._guards import CompileContext

    number = CompileContext.current_compile_id()
    part = "backward" if about.get("is_backward") else "inference" if about.get("is_inference") else "forward"
    return "%s-%s" % (str(number).replace("/", "_") if number is not None else "graph", part)


DRAWS = ("rand", "randn", "bernoulli", "native_dropout", "normal", "uniform", "multinomial", "randperm", "randint", "exponential")


def draws(gm):
    """Whether compiled code draws other numbers than eager mode does."""
    names = [str(node.target).split("::")[-1] for node in gm.graph.nodes if node.op == "call_function"]
    return any(part in DRAWS for name in names for part in name.replace("aten.", "").replace("prims.", "").split("."))


class Graph:
    """One compiled graph of one process."""

    def __init__(self, recording, gm, name):
        self.recording, self.gm, self.name = recording, gm, self.free(recording, name)
        self.calls, self.draws, self.busy = 0, draws(gm), False
        self.names = [n.name for n in gm.graph.nodes if n.op == "placeholder"]

    @staticmethod
    def free(recording, name):
        with recording.lock:
            taken = recording.__dict__.setdefault("names", {})
            taken[name] = taken.get(name, 0) + 1
            recording.count["graphs"] += 1
            return name if taken[name] == 1 else "%s-%d" % (name, taken[name])

    def attached(self, compiled):
        """The same compiled graph, whose calls are recorded."""
        import torch

        if hasattr(compiled, "current_callable"):
            call = compiled.current_callable
            compiled.current_callable = torch._dynamo.disable(functools.wraps(call)(lambda inputs: self.called(call, inputs)))
            return compiled
        wrapped = functools.wraps(compiled)(lambda *inputs: self.called_flat(compiled, inputs))
        return torch._dynamo.disable(wrapped)

    def called_flat(self, call, inputs):
        if getattr(call, "_boxed_call", False):
            return self.called(call, *inputs)
        return self.called(lambda given: call(*given), list(inputs))

    def called(self, call, inputs):
        if self.busy or self.calls >= self.recording.settings.calls or not self.recording.is_mine():
            return call(inputs)
        self.busy = True
        try:
            from .one_call import OneCall

            self.calls += 1
            return OneCall(self, self.calls - 1).run(call, inputs)
        finally:
            self.busy = False

    def save_program(self, inputs):
        """The graph with its real inputs as PyTorch's own repro.py, which Kerf and PyTorch run."""
        from torch._dynamo.repro.after_aot import save_graph_repro

        folder = self.recording.part(os.path.join("graphs", self.name))
        try:
            with open(os.path.join(folder, "repro.py"), "w") as file:
                save_graph_repro(file, self.gm, inputs, "inductor", save_dir=folder, stable_hash=True)
        except Exception as problem:
            self.recording.note("%s: no repro.py: %s" % (self.name, problem))


def size_of(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def save_tensors(recording, name, tensors):
    path = os.path.join(recording.part("values"), name + ".safetensors")
    for left in tensors_file.write(path, {k: v for k, v in ((k, digest.plain(v)) for k, v in tensors.items()) if v is not None}):
        recording.note("%s: %s has a dtype that the file cannot hold" % (name, left))
