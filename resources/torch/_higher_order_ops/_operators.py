"""torch.ops.higher_order: the operators whose nodes hold nested graphs."""

from torch._ops import HigherOrderOperator

from . import _graph_runs as _runs, _recorded


class GraphOperator(HigherOrderOperator):
    """Runs its graphs; while make_fx or torch.export records, it becomes a node."""

    def __init__(self, name, run, record=None):
        super().__init__(name)
        self._run, self._record = run, record

    def __call__(self, *args, **kwargs):
        around = _recorded.recorder() if self._record is not None else None
        return self._run(*args, **kwargs) if around is None else self._record(around, self, *args, **kwargs)


class _Operators:
    """torch.ops.higher_order."""

    __name__ = "torch.ops.higher_order"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        import torch._higher_order_ops as functions

        return getattr(functions, name)


operators = _Operators()
for _name in ("cond", "while_loop", "map_impl", "scan", "associative_scan", "tag_activation_checkpoint", "wrap",
              "autograd_function_apply"):
    setattr(operators, _name, GraphOperator(_name, getattr(_runs, _name), getattr(_recorded, _name, None)))
del _name


def recording(name):
    """The operator of that name where a graph is recorded now, as a function of its arguments; else None."""
    return getattr(operators, name) if _recorded.recorder() is not None else None
