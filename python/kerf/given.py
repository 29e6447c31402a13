"""A function and its arguments as a program of their own, for check(fn, *args) and minify(fn, *args)."""
import inspect
import os
import pickle
import sys

SCRIPT = '''"""A function and arguments that kerf.check() was given."""
import os
import sys

import torch

sys.path[:0] = %(path)r


def build():
    given = os.path.join(os.path.dirname(os.path.abspath(__file__)), "given.pt")
    return torch.load(given, weights_only=False)


BACKWARD = %(backward)r
KWARGS = %(options)r
'''


class Graphs:
    """Stands in for a function that no other process can import: the graph that Dynamo makes of it."""

    def __init__(self):
        self.found = []

    def __call__(self, module, inputs):
        self.found.append((module, inputs))
        return module.forward


def as_importable(fn, args):
    """The function, or its graph where it is defined in a notebook, in another function, or in the main script."""
    holder = fn if not hasattr(fn, "__self__") else type(fn.__self__)
    module = getattr(holder if inspect.isroutine(holder) or inspect.isclass(holder) else type(holder), "__module__", "")
    if module != "__main__":
        try:
            pickle.loads(pickle.dumps(fn))
            return fn, args
        except Exception:  # closures, lambdas, classes of other functions
            pass
    return graph_of(fn, args)


def graph_of(fn, args):
    """(graph, its inputs). TypeError where the function is not one graph."""
    import torch

    graphs = Graphs()
    torch._dynamo.reset()
    try:
        torch.compile(fn, backend=graphs)(*args)
    finally:
        torch._dynamo.reset()
    if len(graphs.found) != 1:
        raise TypeError("the function gives %d graphs and cannot be imported by another process: put it into a file, and "
                        "check that" % len(graphs.found))
    module, inputs = graphs.found[0]
    return module, tuple(inputs)


def write(fn, args, folder, backward=False, options=None):
    """The script, beside what it loads."""
    import torch

    os.makedirs(folder, exist_ok=True)
    fn, args = as_importable(fn, tuple(args))
    with open(os.path.join(folder, "given.pt"), "wb") as file:
        torch.save((fn, tuple(args)), file)
    script = os.path.join(folder, "given.py")
    path = [os.path.abspath(p) for p in sys.path if p and os.path.isdir(p)]
    with open(script, "w") as file:
        file.write(SCRIPT % {"path": [p for p in path if "site-packages" not in p and "lib/python" not in p], "backward": bool(backward),
                             "options": dict(options or {})})
    return script
