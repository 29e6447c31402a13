"""A user's script, run as a main program, with each call of what torch.compile gave recorded."""
import contextlib
import copy
import functools
import os
import random
import runpy
import sys

from .errors import describe
from .snapshot import address_of, as_it_lies, leaves_of, shot_of, shot_of_output, state_of, tensors_in, widened

MOST_CALLS = 100  # that are recorded
MOST_BYTES = 1 << 31  # of all that is kept


class Intercept:
    """`backend`: None runs the script without compiling. `judge`: each call is also tried with float64 on copies."""

    def __init__(self, backend, judge=False):
        import torch

        self.backend, self.judge = backend, judge
        self.original = torch.compile
        self.records, self.exact, self.befores, self.watched = [], [], [], []
        self.bytes, self.inside = 0, False

    def compile(self, model=None, **options):
        """Stands in for torch.compile."""
        import torch

        if model is None:
            return lambda target: self.compile(target, **options)
        if self.backend is None:
            compiled = model
        else:
            options["backend"] = self.backend
            if self.backend != "inductor":
                options.pop("mode", None)
                options.pop("options", None)
            compiled = self.original(model, **options)
        if isinstance(compiled, torch.nn.Module):
            compiled.forward = self.recorded(compiled.forward, model)
            return compiled
        return self.recorded(compiled, model)

    def recorded(self, call, fn):
        @functools.wraps(call)
        def wrapper(*args, **kwargs):
            import torch

            if torch.compiler.is_compiling() or self.inside or len(self.records) >= MOST_CALLS or self.bytes > MOST_BYTES:
                return call(*args, **kwargs)
            self.inside = True
            try:
                return self.one(call, fn, args, kwargs)
            finally:
                self.inside = False

        return wrapper

    def one(self, call, fn, args, kwargs):
        import torch

        inputs = tensors_in((args, kwargs))
        addresses = [address_of(t) for t in inputs]
        state = state_of(fn)
        self.befores.append([t.detach().clone() for t in inputs] + [t.detach().clone() for _, t in state])
        self.bytes += sum(t.numel() * t.element_size() for t in self.befores[-1])
        if self.judge:
            self.exact.append(self.wide(fn, args, kwargs))
        before = torch.get_rng_state()
        record = {"raised": None, "outputs": [], "inputs": [], "state": [], "grads": [], "draws": False}
        self.records.append(record)
        try:
            out = call(*args, **kwargs)
        except Exception as problem:
            record["raised"] = describe(problem)
            raise
        record["draws"] = not torch.equal(before, torch.get_rng_state())
        record["outputs"] = [shot_of_output(leaf, addresses) for leaf in leaves_of(out)]
        record["inputs"] = [shot_of(t) for t in inputs]
        record["state"] = [(n, shot_of(t)) for n, t in state]
        self.watched = [("arg%d" % i, t) for i, t in enumerate(inputs)] + state
        return out

    def wide(self, fn, args, kwargs):
        """The record of the same call in float64, or an empty one where that does not run."""
        import torch

        empty = {"raised": True}
        owner = getattr(fn, "__self__", fn)
        state = torch.get_rng_state()
        try:
            with torch.no_grad():
                copies = [tree_copy(part) for part in (args, kwargs)]
                if isinstance(owner, torch.nn.Module):
                    other = widened(copy.deepcopy(owner))
                    fn = getattr(other, fn.__name__) if owner is not fn else other
                given = [widened(part) for part in copies]
                out = fn(*given[0], **given[1])
                return {"raised": None, "outputs": [shot_of_output(leaf, []) for leaf in leaves_of(out)], "state": [], "grads": [],
                        "inputs": [shot_of(t) for t in tensors_in(given)]}
        except Exception:
            return empty
        finally:
            torch.set_rng_state(state)

    def after_backward(self):
        """Gradients belong to the call before them."""
        if self.records and not self.records[-1]["raised"]:
            self.records[-1]["grads"] = [(n, None if t.grad is None else shot_of(t.grad)) for n, t in self.watched
                                         if t.is_leaf and t.requires_grad]

    @contextlib.contextmanager
    def installed(self):
        import torch

        backward = torch.autograd.backward

        def recorded_backward(*args, **kwargs):
            result = backward(*args, **kwargs)
            self.after_backward()
            return result

        torch.compile = self.compile
        torch.autograd.backward = recorded_backward
        try:
            yield self
        finally:
            torch.compile, torch.autograd.backward = self.original, backward


def tree_copy(value):
    from torch.utils import _pytree

    return _pytree.tree_map(lambda leaf: as_it_lies(leaf.detach()) if hasattr(leaf, "as_strided") else leaf, value)


def seed():
    """The same numbers in each run of the script, where it does not choose its own."""
    import torch

    random.seed(0)
    torch.manual_seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


def run_script(path, arguments, backend, judge=False, compile_with=None):
    """{records, exact, befores, raised}: what the script's compiled calls did. `compile_with`: a backend instead of a name."""
    intercept = Intercept(compile_with or backend, judge)
    sys.argv = [path] + list(arguments)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    raised = None
    seed()
    with intercept.installed():
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit:
            pass
        except Exception as problem:
            raised = describe(problem)
    return {"records": intercept.records, "exact": intercept.exact, "befores": intercept.befores, "raised": raised}
