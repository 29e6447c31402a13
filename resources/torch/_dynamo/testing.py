"""What programs use to count and to compare: backends that note the graphs they get."""

import re

import torch
from torch._dynamo.backends.registry import lookup_backend
from torch._dynamo.utils import same  # noqa: F401


class CompileCounter:
    """A backend that counts graphs and their calls."""

    def __init__(self):
        self.clear()

    def __call__(self, gm, example_inputs):
        self._count(gm)
        return gm.forward

    def _count(self, gm):
        self.frame_count += 1
        self.op_count += sum(1 for node in gm.graph.nodes if "call" in node.op)

    def clear(self):
        """Start again at nothing."""
        self.frame_count = 0
        self.op_count = 0


class CompileCounterWithBackend(CompileCounter):
    """The same around a backend by its name; keeps the graphs."""

    def __init__(self, backend):
        super().__init__()
        self.backend = backend

    def __call__(self, gm, example_inputs):
        self._count(gm)
        self.graphs.append(gm)
        compiler = lookup_backend(self.backend)
        return compiler(gm, example_inputs) if callable(compiler) else gm.forward

    def clear(self):
        """Start again at nothing."""
        super().clear()
        self.graphs = []


class EagerAndRecordGraphs:
    """A backend that keeps the graphs it gets and runs them as they are."""

    def __init__(self):
        self.graphs = []
        self.example_inputs = []

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        self.example_inputs.append(example_inputs)
        return gm.forward


class AotEagerAndRecordGraphs:
    """A backend that keeps the graphs it gets and what AOTAutograd makes of them, and runs those op by op."""

    def __init__(self):
        self.graphs, self.fw_graphs, self.bw_graphs = [], [], []

    def __call__(self, gm, example_inputs):
        from torch._dynamo.backends.debugging import aot_eager

        self.graphs.append(gm)
        return aot_eager(gm, example_inputs, fw_compiler=self._kept_in(self.fw_graphs),
                         bw_compiler=self._kept_in(self.bw_graphs))

    @staticmethod
    def _kept_in(graphs):
        def compiler(gm, example_inputs):
            graphs.append(gm)
            return gm.forward

        return compiler


class InductorAndRecordGraphs:
    """The backend "inductor"; keeps the graphs it gets and those that are compiled."""

    def __init__(self):
        self.graphs, self.inductor_graphs = [], []

    def __call__(self, gm, example_inputs):
        from torch._inductor.compile_fx import compile_fx, compile_fx_inner

        def inner(graph, *args, **kwargs):
            self.inductor_graphs.append(graph)
            return compile_fx_inner(graph, *args, **kwargs)

        self.graphs.append(gm)
        return compile_fx(gm, example_inputs, inner_compile=inner)


def normalize_gm(gm_str):
    """The text of print_readable() without comments and empty lines."""
    lines = (re.sub(r"#.*", "", line).rstrip() for line in gm_str.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def rand_strided(size, stride, dtype=torch.float32, device="cpu", extra_size=0):
    """Random numbers with these strides."""
    needed = sum((n - 1) * s for n, s in zip(size, stride)) + 1 if all(size) else 0
    if dtype.is_floating_point or dtype.is_complex:
        buffer = torch.randn(needed + extra_size, dtype=dtype, device=device)
    else:
        buffer = torch.zeros(needed + extra_size, dtype=dtype, device=device)
    return torch.as_strided(buffer, size, stride)
