"""The backend: AOTAutograd and its decompositions are PyTorch's; each graph that it gives goes to Kerf in pieces."""
import collections
import threading

from .pieces import Pieces
from .worker import KerfError, worker

_compiled = []
_lock = threading.Lock()


def report():
    """What was compiled in this process: graphs, their nodes, how many of these Kerf computes, and why not the others."""
    with _lock:
        found = {name: sum(getattr(p, name) for p in _compiled) for name in ("nodes", "in_kerf", "pieces")}
        reasons = collections.Counter()
        for pieces in _compiled:
            reasons.update(pieces.reasons)
        return dict(found, graphs=len(_compiled), reasons=dict(reasons))


MOST_SIZES = 8  # for which one graph is compiled


class ForSizes:
    """A graph of AOTAutograd, compiled for the sizes of each call when they are first seen."""

    def __init__(self, module):
        self.module, self.known, self.lock = module, {}, threading.Lock()
        self.simple = all(type(n.meta.get("val")).__name__ != "SymInt" for n in module.graph.nodes if n.op == "placeholder")

    def __call__(self, *inputs):
        key = tuple((v.shape, v.stride(), v.dtype) if hasattr(v, "stride") else v for v in inputs)
        call = self.known.get(key)
        if call is None:
            with self.lock:
                call = self.known.get(key) or self.made(key, inputs)
        return call(*inputs)

    def made(self, key, inputs):
        if len(self.known) >= MOST_SIZES:
            return self.module
        pieces = Pieces(self.module, inputs)
        with _lock:
            _compiled.append(pieces)
        self.known[key] = pieces.call
        return pieces.call


def compile_graph(module, example_inputs):
    """What AOTAutograd calls for a forward or backward graph."""
    from functorch.compile import make_boxed_func

    return make_boxed_func(ForSizes(module))


def decompositions():
    """To core ATen, as torch.export has them, but not of attention: what that gives is no logsumexp, which its gradient needs."""
    from torch._decomp import core_aten_decompositions

    return {op: rule for op, rule in core_aten_decompositions().items() if not str(op).startswith("aten._scaled_dot_product")}


def kerf(module, example_inputs, **options):
    """The backend of torch.compile. RuntimeError where the program kerf is missing."""
    from torch._dynamo.backends.common import aot_autograd

    worker()
    if options:
        raise KerfError("the backend kerf has no options: %s" % ", ".join(options))
    return aot_autograd(fw_compiler=compile_graph, bw_compiler=compile_graph, inference_compiler=compile_graph,
                        decompositions=decompositions())(module, example_inputs)
