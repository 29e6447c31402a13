"""torch.export with sizes that may differ: Dynamo traces the module whole, and AOTAutograd makes ATen calls of it."""

import json
import re

import torch
from torch import _C
from torch.utils import _pytree as pytree

from ._constraints import Constraints, Symbol
from ._dims import Dim, sources_of, specs_of
from ._graph_text import module_of
from ._program import (ExportedProgram, ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec, _input_names,
                       _state_of)

_DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
           "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "b8": torch.bool,
           "c64": torch.complex64, "c128": torch.complex128}
_SIZE = re.compile(r"(.*)\.size\(\)\[(\d+)\]")


class SymbolicTensor:
    """What is known of a tensor of the graph: its dtype, and its sizes, with symbols among them."""

    def __init__(self, dtype, shape, requires_grad=False):
        self.dtype, self.shape, self.requires_grad = dtype, torch.Size(shape) if _plain(shape) else tuple(shape), requires_grad

    def size(self, dim=None):
        """The sizes, or one of them."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        """How many dimensions it has."""
        return len(self.shape)

    ndim = property(dim)

    def __repr__(self):
        return f"FakeTensor(..., size=({', '.join(map(str, self.shape))}), dtype={self.dtype})"


def _plain(sizes):
    return all(isinstance(s, int) for s in sizes)


def _value_of(annotation):
    """meta["val"] of "f32[s0, 3]" and "Sym(s0)"."""
    if annotation.startswith("Sym("):
        return Symbol(annotation[4:-1])
    found = re.match(r"(\w+)\[(.*?)\]", annotation)
    if found is None or found[1] not in _DTYPES:
        return None
    parts = [p.strip() for p in found[2].split(",") if p.strip()]
    sizes = [int(p) if p.lstrip("-").isdigit() else Symbol(p) for p in parts]
    if _plain(sizes):
        return torch.empty(sizes, dtype=_DTYPES[found[1]], device="meta")
    return SymbolicTensor(_DTYPES[found[1]], sizes)


def _marked(leaf, rows):
    """The leaf with marks that Dynamo reads: the sizes that may differ."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    made = leaf.detach().requires_grad_(leaf.requires_grad)
    for dim, row in rows.items():
        static = row is None or isinstance(row, int) or row == Dim.STATIC
        mark = torch._dynamo.mark_static if static else torch._dynamo.maybe_mark_dynamic  # Constraints checks them
        mark(made, dim)
    for dim in range(made.dim()):
        if dim not in rows:
            torch._dynamo.mark_static(made, dim)
    return made


def _numbers_captured():
    """torch.export's settings: numbers and sizes that only running the graph gives are in it."""
    return torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True)


class _Trace:
    """What Dynamo made of the module: its one graph, whose inputs and outputs are known by identity."""

    def __init__(self, mod, args, kwargs):
        self.inputs, self.outs = [], ()

        def backend(gm, examples):
            self.inputs = [(n.name, n.meta["grapharg"]) for n in gm.graph.nodes if n.op == "placeholder"]

            def run(*given):
                self.outs = gm(*given)
                return self.outs

            return run

        torch._dynamo.reset()
        _C._dynamo.apart(True)
        try:
            with torch.no_grad(), _numbers_captured():
                self.result = torch._dynamo.optimize(backend, nopython=True)(mod)(*args, **kwargs)
            log, made = json.loads(_C._dynamo.log()), _C._dynamo.graphs()
        finally:
            _C._dynamo.apart(False)
            torch._dynamo.reset()
        if len(made) != 1:
            raise torch._dynamo.exc.Unsupported("torch.export: the module has no graph of its own")
        self.text = made[0][1]
        self.sources = log["graphs"][0]["sources"]
        self.guards = [leaf.removeprefix("LAMBDA_GUARD: ") for kind, leaf, _ in log["frames"][-1]["guards"]
                       if kind == "SHAPE_ENV"]


class _Captured(Exception):
    """Tracing got to its end: nothing needs to run."""


def check_whole(mod, args, kwargs):
    """Traces the module with Dynamo, and runs nothing of it. torch._dynamo.exc.Unsupported where it is no single graph."""

    def backend(gm, examples):
        raise _Captured

    _C._dynamo.apart(True)
    try:
        torch._dynamo.reset()
        with torch.no_grad(), _numbers_captured():
            torch._dynamo.optimize(backend, nopython=True)(mod)(*args, **kwargs)
    except torch._dynamo.exc.BackendCompilerFailed as error:
        if not isinstance(error.inner_exception, _Captured):
            raise
    finally:
        _C._dynamo.apart(False)
        torch._dynamo.reset()


def _outputs(trace, leaves, results):
    """Where each leaf of the result comes from: an output of the graph, an input, or a number."""
    rows = []
    for leaf in results:
        place = next((k for k, out in enumerate(trace.outs) if out is leaf), None)
        given = next((k for k, inp in enumerate(leaves) if inp is leaf), None)
        if place is not None:
            rows.append(["output", place])
        elif given is not None:
            rows.append(["input", given])
        elif leaf is None or isinstance(leaf, (bool, int, float, str)):
            rows.append(["constant", leaf])
        else:
            raise torch._dynamo.exc.UserError(
                torch._dynamo.exc.UserErrorType.INVALID_OUTPUT,
                "It looks like one of the outputs is not a tensor of the exported graph, nor a number: "
                f"{type(leaf).__name__}")
    return rows


def _header(trace, extra):
    """The graph's text, with symbols told as such, and with more placeholders at the end."""
    start = trace.text.index("def forward(self")
    end = trace.text.index("):", start)
    header = trace.text[start:end]
    parts = re.split(r'("[^"]*")', header)  # annotations are every second one
    for name, value in trace.inputs:
        if not isinstance(value, torch.Tensor):
            parts[::2] = [re.sub(rf"(?<=, ){name}(?=,|$)", f'{name}: "Sym({name})"', p) for p in parts[::2]]
    header = "".join(parts)
    more = "".join(f', {name}: "{annotation}"' for name, annotation in extra)
    return trace.text[:start] + header + more + trace.text[end:]


def _annotation(tensor, symbols):
    """"f32[s1, 3][3, 1]cpu"; `symbols` by dimension, of a contiguous tensor."""
    short = next(k for k, v in _DTYPES.items() if v == tensor.dtype)
    sizes = [symbols.get(d, str(size)) for d, size in enumerate(tensor.shape)]
    strides = list(map(str, tensor.stride()))
    if symbols:
        strides = ["*".join(s for s in sizes[d + 1:] if s != "1") or "1" for d in range(tensor.dim())]
    return f"{short}[{', '.join(sizes)}][{', '.join(strides)}]cpu"


class _Inputs:
    """The exported program's inputs: parameters, buffers, tensors that the program holds, and those of the user."""

    def __init__(self, mod, args, kwargs, given, trace, sources):
        self.state, specs = _state_of(mod)
        self.specs, self.rows, self.values, self.extra = [], [], [], []
        self.trace, self.given, self.sources = trace, given, sources
        self.constants = {}
        for kind, prefix, target, persistent in specs:
            self.add(kind, prefix + target.replace(".", "_"), self.state[target], target, persistent)
        users = [(name, leaf) for name, leaf in zip(_input_names(mod, args, kwargs), given)]
        taken = {k for k, _ in self.rows}
        for k, (name, value) in enumerate(trace.inputs):
            if isinstance(value, torch.Tensor) and k not in taken and not any(value is leaf for _, leaf in users):
                target = f"lifted_tensor_{len(self.constants)}"
                self.constants[target] = value
                self.add(InputKind.CONSTANT_TENSOR, f"c_{target}", value, target, None)
        self.fixed = len(self.rows)
        for name, leaf in users:
            self.add(InputKind.USER_INPUT, name, leaf, None, None)

    def add(self, kind, name, value, target, persistent):
        """An input; one that the graph does not take becomes one more placeholder of it."""
        place = next((k for k, (_, held) in enumerate(self.trace.inputs) if held is value), None)
        if place is None:
            place = len(self.trace.inputs) + len(self.extra)
            annotation = _annotation(value, self._symbols_of(value)) if isinstance(value, torch.Tensor) else "Sym(0)"
            self.extra.append((f"unused_{len(self.extra)}", annotation))
        self.rows.append((place, name))
        self.values.append(value)
        self.specs.append(InputSpec(kind, name, target, persistent))

    def _symbols_of(self, value):
        """The graph's symbols among the sizes of a tensor of which it takes nothing else, by dimension."""
        symbols = {source: name for (name, _), source in zip(self.trace.inputs, self.trace.sources)}
        source = self.sources.get(id(value))
        if source is None or not value.is_contiguous():
            return {}
        sizes = {dim: symbols.get(f"{source}.size()[{dim}]") for dim in range(value.dim())}
        return {dim: name for dim, name in sizes.items() if name}

    def place_of(self, source):
        """Which input a Dynamo source is."""
        if source not in self.trace.sources:  # the graph takes its sizes alone
            found = [k for k, value in enumerate(self.values) if self.sources.get(id(value)) == source]
            if not found:
                raise RuntimeError(f"torch.export: {source} is no input whose size may differ")
            return found[0]
        at = self.trace.sources.index(source)
        return next(k for k, (place, _) in enumerate(self.rows) if place == at)


def export_dynamic(mod, args, kwargs, dynamic_shapes):
    """The ExportedProgram of a module, with sizes that may differ as dynamic_shapes says."""
    specs = specs_of(mod, args, kwargs, dynamic_shapes)
    leaves, spec = pytree.tree_flatten((args, kwargs))
    given = [_marked(leaf, rows) for leaf, rows in zip(leaves, specs)]
    kept = [(t, t.detach().clone()) for t in (*mod.parameters(), *mod.buffers(), *given) if isinstance(t, torch.Tensor)]
    marked = pytree.tree_unflatten(given, spec)
    trace = _Trace(mod, *marked)
    with torch.no_grad():  # PyTorch traces without running
        for tensor, before in kept:
            if not torch.equal(tensor, before):
                tensor.copy_(before)
    sources = sources_of(mod, *marked)
    inputs = _Inputs(mod, args, kwargs, given, trace, sources)
    constraints = Constraints(trace, given, specs, sources)
    constraints.check()
    text = constraints.renamed(_header(trace, inputs.extra))
    results, out_spec = pytree.tree_flatten(trace.result)
    request = {"text": text, "inputs": inputs.rows, "symbols": _symbols(trace, inputs),
               "outputs": [["input", inputs.fixed + k] if kind == "input" else [kind, k]
                           for kind, k in _outputs(trace, given, results)]}
    made = json.loads(_C._dynamo.export_graph(json.dumps(request)))
    program = _program(mod, args, kwargs, inputs, made, (spec, out_spec))
    program.range_constraints = constraints.ranges()
    program._checks = constraints.checks()
    program._source = (mod, args, kwargs, dynamic_shapes)
    note_exported(program, program.graph_module.print_readable(print_output=False))
    return program


_GUARD_ON_DATA = re.compile(r"Could not guard on data-dependent expression (.*) \(unhinted: ")


def export_numbers(mod, args, kwargs, strict):
    """The ExportedProgram of a module that asks tensors for their numbers, with sizes that stay. A branch on such a number
    is GuardOnDataDependentSymNode, unless `strict`."""
    try:
        return export_dynamic(mod, args, kwargs, None)
    except torch._dynamo.exc.Unsupported as error:
        found = _GUARD_ON_DATA.search(str(error))
        if strict or found is None:
            raise
        from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

        raise GuardOnDataDependentSymNode(found[1]) from None


def _symbols(trace, inputs):
    rows = []
    for k, source in enumerate(trace.sources):
        found = _SIZE.fullmatch(source)
        if found and not isinstance(trace.inputs[k][1], torch.Tensor):
            rows.append([k, inputs.place_of(found[1]), int(found[2])])
    return rows


def _program(mod, args, kwargs, inputs, made, specs):
    sizes = {inputs.trace.inputs[k][0]: (inputs.rows[place][1], dim) for k, place, dim in _symbols(inputs.trace, inputs)}
    module = module_of(made["text"], _value_of, sizes)
    outputs = []
    for name, place in zip(made["outputs"], made["mutated"]):
        spec = next(s for (p, _), s in zip(inputs.rows, inputs.specs) if p == place)
        kind = OutputKind.USER_INPUT_MUTATION if spec.target is None else OutputKind.BUFFER_MUTATION
        outputs.append(OutputSpec(kind, name, spec.target or spec.arg))
    outputs += [OutputSpec(OutputKind.USER_OUTPUT, name) for name in made["outputs"][len(made["mutated"]):]]
    signature = ExportGraphSignature(inputs.specs, outputs)
    program = ExportedProgram(module, signature, inputs.state, (mod, args, kwargs))
    program.constants = inputs.constants
    program.out_spec = specs
    return program


def note_exported(program, text):
    """The program's log, where one is kept, gets the exported program, with the values of its inputs."""
    exported = getattr(getattr(_C, "_dynamo", None), "exported", None)
    if exported is None:
        return
    body = text.strip("\n").replace("\n", "\n    ")
    signature = str(program.graph_signature).rstrip()
    whole = (f"ExportedProgram:\n    {body}\n\nGraph signature: {signature}\n\n"
             f"Range constraints: {program.range_constraints}\n")
    held = {**program.constants, **program.state_dict}
    values = [held[s.target] for s in program.graph_signature.input_specs if s.target is not None]
    values += pytree.tree_leaves((program._source[1], program._source[2]))
    if all(isinstance(v, torch.Tensor) for v in values):
        exported("exported_program", whole, values)
