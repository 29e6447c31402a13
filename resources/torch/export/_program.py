"""ExportedProgram: a graph, what its inputs and outputs are, and the module's state."""

import enum

import torch
from torch._decomp import CustomDecompTable, core_aten_decompositions as default_decompositions  # noqa: F401
from torch.func import functional_call
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import _Recorder
from torch.utils import _pytree as pytree


class InputKind(enum.Enum):
    """What an input of the graph is."""

    USER_INPUT = enum.auto()
    PARAMETER = enum.auto()
    BUFFER = enum.auto()
    CONSTANT_TENSOR = enum.auto()


class OutputKind(enum.Enum):
    """What an output of the graph is."""

    USER_OUTPUT = enum.auto()
    BUFFER_MUTATION = enum.auto()
    USER_INPUT_MUTATION = enum.auto()


class InputSpec:
    """One input."""

    def __init__(self, kind, arg, target, persistent=None):
        self.kind, self.arg, self.target, self.persistent = kind, arg, target, persistent

    def __str__(self):
        where = "" if self.target is None else f" target={self.target!r}"
        keeps = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg}: {self.kind.name}{where}{keeps}"


class OutputSpec:
    """One output."""

    def __init__(self, kind, arg, target=None):
        self.kind, self.arg, self.target = kind, arg, target

    def __str__(self):
        where = "" if self.target is None else f" target={self.target!r}"
        return f"{self.arg}: {self.kind.name}{where}"


class ExportGraphSignature:
    """The inputs and outputs of a graph."""

    def __init__(self, input_specs, output_specs):
        self.input_specs, self.output_specs = input_specs, output_specs

    def _of(self, kind, field):
        return tuple(getattr(s, field) for s in self.input_specs if s.kind is kind)

    parameters = property(lambda self: self._of(InputKind.PARAMETER, "target"))
    buffers = property(lambda self: self._of(InputKind.BUFFER, "target"))
    user_inputs = property(lambda self: self._of(InputKind.USER_INPUT, "arg"))
    user_outputs = property(lambda self: tuple(s.arg for s in self.output_specs if s.kind is OutputKind.USER_OUTPUT))
    inputs_to_parameters = property(lambda self: {s.arg: s.target for s in self.input_specs
                                                  if s.kind is InputKind.PARAMETER})
    inputs_to_buffers = property(lambda self: {s.arg: s.target for s in self.input_specs if s.kind is InputKind.BUFFER})
    buffers_to_mutate = property(lambda self: {s.arg: s.target for s in self.output_specs
                                               if s.kind is OutputKind.BUFFER_MUTATION})
    user_inputs_to_mutate = property(lambda self: {s.arg: s.target for s in self.output_specs
                                                   if s.kind is OutputKind.USER_INPUT_MUTATION})

    def __str__(self):
        lines = ["", "# inputs", *map(str, self.input_specs), "", "# outputs", *map(str, self.output_specs), ""]
        return "\n".join(lines)


class ExportedProgram:
    """A graph of a whole module."""

    def __init__(self, graph_module, signature, state, source):
        self.graph_module, self.graph_signature = graph_module, signature
        self._state, self._source = state, source
        self.range_constraints = {}
        self._checks = None  #: Checks of what module() gets
        self.constants = {}
        self.example_inputs = source[1:3]

    graph = property(lambda self: self.graph_module.graph)
    state_dict = property(lambda self: self._state)

    def parameters(self):
        """The parameters."""
        return iter(self._state[name] for name in self.graph_signature.parameters)

    def named_parameters(self):
        """The parameters by name."""
        return iter((name, self._state[name]) for name in self.graph_signature.parameters)

    def buffers(self):
        """The buffers."""
        return iter(self._state[name] for name in self.graph_signature.buffers)

    def named_buffers(self):
        """The buffers by name."""
        return iter((name, self._state[name]) for name in self.graph_signature.buffers)

    def module(self):
        """A module that runs the graph."""
        return _Runnable(self)

    def run_decompositions(self, decomp_table=None):
        """The same with composite operators as what they are made of, and others as a table says: by default
        default_decompositions(). Nothing is written into: new values of buffers and inputs are the first outputs."""
        if len(self._source) > 3:
            return self
        from ._functional import functional, writes

        table = default_decompositions() if decomp_table is None else decomp_table
        made = export_module(*self._source, keeps_composites=False, decompositions=table, is_draft=writes)
        return functional(made, table) if writes(made.graph_module) else made

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Unable to call ExportedProgram directly. You should use `exported_program.module()` instead.")

    def __str__(self):
        body = self.graph_module.print_readable(print_output=False).replace("\n", "\n    ")
        signature = str(self.graph_signature).replace("\n", "\n    ")
        return (f"ExportedProgram:\n    {body}\nGraph signature: {signature.rstrip()}\n\n"
                f"Range constraints: {self.range_constraints}\n")

    __repr__ = __str__


class _Runnable(torch.nn.Module):
    def __init__(self, program):
        super().__init__()
        self._program = program

    def forward(self, *args, **kwargs):
        program = self._program
        leaves, spec = pytree.tree_flatten((args, kwargs))
        wanted = program.out_spec[0]
        if spec != wanted:
            raise TypeError(f"Expected inputs of structure {wanted}, but got {spec}")
        if program._checks is not None:
            program._checks.run(leaves, program.graph_signature.user_inputs)
        held = {**program.constants, **program._state}
        signature = program.graph_signature
        state = [held[s.target] for s in signature.input_specs if s.target is not None]
        made = list(program.graph_module(*state, *leaves))
        given = dict(zip(signature.user_inputs, leaves))
        changes = [s for s in signature.output_specs if s.kind is not OutputKind.USER_OUTPUT]
        for spec, value in zip(changes, made):
            target = held[spec.target] if spec.kind is OutputKind.BUFFER_MUTATION else given[spec.target]
            with torch.no_grad():
                target.copy_(value)
        return pytree.tree_unflatten(made[len(changes):], program.out_spec[1])


def _state_of(mod):
    parameters, buffers = dict(mod.named_parameters()), dict(mod.named_buffers())
    kept = set(mod.state_dict())
    specs = [(InputKind.PARAMETER, "p_", name, None) for name in parameters]
    specs += [(InputKind.BUFFER, "b_", name, name in kept) for name in buffers]
    return {**parameters, **buffers}, specs


def _input_names(mod, args, kwargs):
    import inspect

    names = []
    parameters = [p for p in inspect.signature(mod.forward).parameters.values()]
    for k, value in enumerate(args):
        plain = k < len(parameters) and parameters[k].kind is not inspect.Parameter.VAR_POSITIONAL
        names += _named(parameters[k].name if plain else f"args_{k}", value)
    for key, value in kwargs.items():
        names += _named(key, value)
    return names


def _named(name, value):
    leaves = pytree.tree_leaves(value)
    return [name] if len(leaves) == 1 and leaves[0] is value else [f"{name}_{k}" for k in range(len(leaves))]


class AsksForNumber(NotImplementedError):
    """The module asks a tensor for its number, which only running the graph gives: Dynamo traces such modules."""


def _data_error(name):
    """A graph without branches cannot ask for the data of its inputs."""
    if name == "__bool__":
        from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

        return GuardOnDataDependentSymNode("Eq(u0, 1)")
    return AsksForNumber(f"torch.export: the graph keeps no numbers of the examples, and Tensor.{name}() asks for one")


def _apart(value):
    """The same elements in memory of their own: recording runs the module, which may write into them."""
    return value.detach() if 0 in value.stride() else value.detach().clone()


def export_module(mod, args, kwargs, keeps_composites=True, decompositions=None, is_draft=lambda module: False):
    """The ExportedProgram of a module. The log gets no program whose module `is_draft`."""
    state, specs = _state_of(mod)
    recorder = _Recorder(decompositions, keeps_composites, _data_error)
    inputs = []

    def take(name, value):
        node = recorder.graph.placeholder(name)
        if isinstance(value, torch.Tensor):
            given, value = value, _apart(value)
            recorder.track(value, node)
            recorder.stands_for(given, node)
        return node, value

    own = {}
    for kind, prefix, target, persistent in specs:
        node, own[target] = take(prefix + target.replace(".", "_"), state[target])
        inputs.append(InputSpec(kind, node.name, target, persistent))
    leaves, spec = pytree.tree_flatten((args, kwargs))
    given = []
    for name, leaf in zip(_input_names(mod, args, kwargs), leaves):
        node, value = take(name, leaf)
        given.append(value)
        inputs.append(InputSpec(InputKind.USER_INPUT, node.name, None))
    call_args, call_kwargs = pytree.tree_unflatten(given, spec)
    with torch.no_grad(), recorder:
        result = functional_call(mod, own, call_args, call_kwargs)
    results, out_spec = pytree.tree_flatten(result)
    outputs = tuple(recorder.node_of(r) for r in results)
    recorder.graph.output(outputs)
    recorder.graph.eliminate_dead_code()
    module = GraphModule(recorder.root, recorder.graph)
    signature = ExportGraphSignature(inputs, [OutputSpec(OutputKind.USER_OUTPUT, str(o)) for o in outputs])
    program = ExportedProgram(module, signature, state, (mod, args, kwargs))
    program.out_spec = (spec, out_spec)
    from ._constants import lift_constants
    from ._constraints import Checks
    from ._dynamic import note_exported

    lift_constants(program)
    program._checks = Checks([v.detach() if isinstance(v, torch.Tensor) else v for v in leaves])
    if not is_draft(module):
        note_exported(program, module.print_readable(print_output=False))
    return program
