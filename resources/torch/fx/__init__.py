"""torch.fx: the names that programs use."""

from torch import _C

GraphModule = getattr(_C, "GraphModule", type("GraphModule", (), {"__module__": __name__}))
Graph = getattr(_C, "Graph", type("Graph", (), {"__module__": __name__}))
Node = getattr(_C, "Node", type("Node", (), {"__module__": __name__}))


def wrap(fn_or_name):
    """Keep calls of a function in the graph; the function itself stays."""
    return fn_or_name


def symbolic_trace(root, concrete_args=None):
    """Not supported."""
    raise NotImplementedError("torch.fx.symbolic_trace is not supported: use torch.compile")
