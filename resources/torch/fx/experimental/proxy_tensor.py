"""make_fx: a function's ATen operators as a graph."""

import functools
import inspect

import torch
from torch._decomp import CustomDecompTable
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from ..graph import Graph
from ..graph_module import GraphModule


_ASK_FOR_DATA = ("__bool__", "__int__", "__float__", "__index__", "item", "tolist")


class _DataRefused:
    """In this block a tensor that comes from a graph's inputs does not tell its numbers: the graph would keep those of the
    examples. `error(name)` is what Tensor.name raises instead."""

    def __init__(self, recorder, error):
        self.recorder, self.error, self.before = recorder, error, {}

    def __enter__(self):
        for name in _ASK_FOR_DATA:
            self.before[name] = vars(torch.Tensor).get(name)
            setattr(torch.Tensor, name, self._refusing(name, getattr(torch.Tensor, name)))

    def __exit__(self, kind, value, trace):
        for name, method in self.before.items():
            delattr(torch.Tensor, name) if method is None else setattr(torch.Tensor, name, method)

    def _refusing(self, name, method):
        @functools.wraps(method)
        def asked(tensor, *args, **kwargs):
            node = self.recorder.nodes.get(id(tensor))
            if node is not None and self._is_of_inputs(node):
                raise self.error(name)
            return method(tensor, *args, **kwargs)

        return asked

    def _is_of_inputs(self, node):
        known = set()
        for other in self.recorder.graph.nodes:
            if other.op == "placeholder" or any(n in known for n in other.all_input_nodes):
                known.add(other)
        return node in known


def _tracing_error(name):
    return RuntimeError(
        "It appears that you're trying to get value out of a tracing tensor with aten._local_scalar_dense.default - erroring "
        "out! It's likely that this is caused by data-dependent control flow or similar.  It may be possible to trace this "
        "with dynamic shapes; try setting tracing_mode='symbolic' in your make_fx call.")


class _Recorder(TorchDispatchMode):
    """Makes a node of every operator's call. `data_error`: see _DataRefused; without, numbers of the examples are told."""

    records_graph = True

    def __init__(self, decomposition_table=None, keeps_composites=False, data_error=None):
        super().__init__()
        self.data_error = data_error
        self.refused = [] if data_error is None else [_DataRefused(self, data_error)]
        self.keeps_composites = keeps_composites
        self.graph, self.root = Graph(), torch.nn.Module()
        self.nodes, self.places, self.kept = {}, {}, []
        self.makers = []  # torch.tensor of the blocks around
        self.decompositions = {} if decomposition_table is None else decomposition_table
        if isinstance(decomposition_table, CustomDecompTable):  # the engine has the core ATen decompositions
            self.decomposition_table = "core"
            self.kept_operators = decomposition_table.kept | {str(op) for op in decomposition_table}

    records_graphs = True

    def nested(self):
        """What records the body of a higher-order operator."""
        return _NestedRecorder(self)

    def asks_for_number(self, name):
        """What is raised where a graph would keep a number of the examples."""
        return (self.data_error or _tracing_error)(name)

    def own(self, value):
        """A tensor as it is known here: one from further around becomes an input."""
        if isinstance(value, torch.Tensor):
            self.node_of(value)
        return value

    def __enter__(self):
        self.makers.append(torch.tensor)
        torch.tensor = functools.partial(self.lifted, torch.tensor)
        for block in self.refused:
            block.__enter__()
        return super().__enter__()

    def __exit__(self, *args):
        torch.tensor = self.makers.pop()
        for block in self.refused:
            block.__exit__(*args)
        return super().__exit__(*args)

    def lifted(self, make, *args, **kwargs):
        """torch.tensor: the graph copies a constant, which the program may write into."""
        made, constant = make(*args, **kwargs), make(*args, **kwargs)
        copy = self.graph.create_node("call_function", torch.ops.aten.lift_fresh_copy.default,
                                      (self.node_of(constant.detach()),), {}, name="lift_fresh_copy")
        self.track(made, copy)
        return made

    def track(self, tensor, node):
        """From now on the tensor is what the node gives."""
        self.nodes[id(tensor)] = node
        self.places[_place(tensor)] = node
        self.kept.append(tensor)
        node.meta["val"] = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
        node.meta["tensor_meta"] = node.meta["val"]

    def stands_for(self, tensor, node):
        """A tensor that the program has beside the tracked one, as a tied parameter is, is what the node gives, too."""
        if tensor.numel() > 0:
            self.places.setdefault(_place(tensor), node)
            self.kept.append(tensor)

    def node_of(self, value):
        """What stands for a value in the graph: a constant tensor becomes an attribute."""
        if not isinstance(value, torch.Tensor):
            return value
        if not self.knows(value):
            name = ("_param_constant" if isinstance(value, torch.nn.Parameter) else "_tensor_constant")
            name += str(sum(1 for n in self.graph.nodes if n.op == "get_attr" and n.target.startswith(name)))
            setattr(self.root, name, value)
            self.track(value, self.graph.create_node("get_attr", name, (), {}))
        # What a gradient's formula kept comes as another object of the same elements.
        return self.nodes.get(id(value)) or self.places[_place(value)]

    def knows(self, value):
        """Whether a node gives the tensor."""
        return id(value) in self.nodes or (value.numel() > 0 and _place(value) in self.places)

    def output_of(self, value):
        """node_of a result, which must come from the graph."""
        if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter) and not self.knows(value):
            raise NotImplementedError("Kerf's make_fx cannot follow a result of this function back to its inputs")
        node = self.node_of(value)
        if node is not None and getattr(node, "op", "") == "placeholder" and id(value) not in self.nodes:
            # Another object of an input's elements, as x.detach() is.
            node = self.graph.create_node("call_function", torch.ops.aten.alias.default, (node,), {}, name="alias")
            self.track(value, node)
        return node

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in self.decompositions:
            with self:
                return self.decompositions[func](*args, **kwargs)
        as_nodes = pytree.tree_map(self.node_of, (tuple(args), dict(kwargs)))
        result = func(*args, **kwargs)
        node = self.graph.create_node("call_function", func, *as_nodes, name=func.overloadpacket.__name__)
        self.note(result, node)
        return result

    def note(self, result, node):
        """Tracks the tensors of a result."""
        if isinstance(result, torch.Tensor):
            self.track(result, node)
        elif isinstance(result, (tuple, list)):
            for k, item in enumerate(result):
                if isinstance(item, torch.Tensor):
                    import operator

                    self.track(item, self.graph.create_node("call_function", operator.getitem, (node, k), {}))


class _NestedRecorder(_Recorder):
    """Records a body of the graph around it: a tensor that is not the body's becomes an input of it."""

    def __init__(self, around):
        super().__init__(around.decompositions, around.keeps_composites, around.data_error)
        for name in ("decomposition_table", "kept_operators"):
            if hasattr(around, name):
                setattr(self, name, getattr(around, name))
        self.outer_values, self.outer_versions = [], []

    def node_of(self, value):
        """What stands for a value in the body."""
        if isinstance(value, torch.Tensor) and not self.knows(value):
            self._lift(value)
        return super().node_of(value)

    def output_of(self, value):
        """node_of a result; one from around the body goes through it."""
        return self.node_of(value)

    def placeholder_of(self, value):
        """The input that stands for a tensor from around."""
        if not self.knows(value):
            self._lift(value)
        return self.node_of(value)

    def _lift(self, value):
        first = next((n for n in self.graph.nodes if n.op != "placeholder"), None)
        name = f"lifted_{len(self.outer_values)}"
        if first is None:
            node = self.graph.placeholder(name)
        else:
            with self.graph.inserting_before(first):
                node = self.graph.placeholder(name)
        self.track(value, node)
        self.outer_values.append(value)
        self.outer_versions.append(value._version)


def get_proxy_mode():
    """The mode that records a graph now, or None."""
    from torch.utils._python_dispatch import _stack

    return next((mode for mode in reversed(_stack) if isinstance(mode, _Recorder)), None)


def _place(tensor):
    """Where the elements of a tensor are."""
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype


def _names(f, count):
    try:
        names = list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        names = []
    kinds = [] if not names else list(inspect.signature(f).parameters.values())
    if len(names) != count or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in kinds):
        return [f"arg{k}" for k in range(count)]
    return names


def make_fx(f, decomposition_table=None, tracing_mode="real", _allow_non_fake_inputs=False, *, pre_dispatch=False,
            record_module_stack=False, **options):
    """A function that gives the GraphModule of f for its inputs."""

    @functools.wraps(f)
    def wrapped(*args):
        recorder = _Recorder(decomposition_table, data_error=_tracing_error)
        leaves, spec = pytree.tree_flatten(args)
        names = _names(f, len(args)) if len(leaves) == len(args) else [f"arg{k}" for k in range(len(leaves))]
        inputs = []
        for name, leaf in zip(names, leaves):
            node = recorder.graph.placeholder(f"{name}_1")
            if isinstance(leaf, torch.Tensor):
                own = leaf.detach() if not leaf.requires_grad else leaf.detach().requires_grad_(True)
                recorder.track(own, node)
                leaf = own
            inputs.append(leaf)
        with recorder:
            result = f(*pytree.tree_unflatten(inputs, spec))
        recorder.graph.output(pytree.tree_map(recorder.output_of, result))
        recorder.graph.eliminate_dead_code()
        name = getattr(f, "__name__", type(f).__name__)
        return GraphModule(recorder.root, recorder.graph, name if name.isidentifier() else "<lambda>")

    return wrapped
