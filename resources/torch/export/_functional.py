"""Exported programs without writes: what is left in an input is an output."""

import json

import torch
from torch import _C
from torch.fx.experimental.proxy_tensor import _Recorder
from torch.utils import _pytree as pytree

from ._dynamic import _value_of, note_exported
from ._graph_text import module_of
from ._program import ExportedProgram, ExportGraphSignature, OutputKind, OutputSpec, _apart


def writes(module):
    """Whether a node of a graph, or of one nested in it, writes into an argument."""
    for node in module.graph.nodes:
        schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
        if schema is not None and schema.is_mutable:
            return True
    return any(writes(inner) for inner in module.children() if isinstance(inner, torch.fx.GraphModule))


def _outputs_of(program):
    return next(n for n in program.graph_module.graph.nodes if n.op == "output").args[0]


def functional(program, table):
    """The program without writes, its operators as `table` says."""
    specs = program.graph_signature.input_specs
    names = [s.arg for s in specs]
    request = {"text": program.graph_module.print_readable(print_output=False), "symbols": [],
               "inputs": [[k, name] for k, name in enumerate(names)],
               "outputs": [["output", k] for k in range(len(_outputs_of(program)))]}
    made = json.loads(_C._dynamo.export_graph(json.dumps(request)))
    plain = module_of(made["text"], _value_of, {})
    changed = [specs[place] for place in made["mutated"]]
    held = {**program.constants, **program.state_dict}
    state = [held[s.target] for s in specs if s.target is not None]
    values = [*state, *pytree.tree_leaves((program._source[1], program._source[2]))]
    recorder = _Recorder(table, keeps_composites=True)  # composites are written out already
    given = []
    for spec, value in zip(specs, values):
        node = recorder.graph.placeholder(spec.arg)
        if isinstance(value, torch.Tensor):
            value = _apart(value)
            recorder.track(value, node)
        given.append(value)
    with torch.no_grad(), recorder:
        results = plain(*given)
    outputs = tuple(recorder.node_of(r) for r in results)
    recorder.graph.output(outputs)
    recorder.graph.eliminate_dead_code()
    module = torch.fx.GraphModule(recorder.root, recorder.graph)
    rows = [OutputSpec(OutputKind.USER_INPUT_MUTATION if s.target is None else OutputKind.BUFFER_MUTATION, str(o),
                       s.target or s.arg) for s, o in zip(changed, outputs)]
    rows += [OutputSpec(OutputKind.USER_OUTPUT, str(o)) for o in outputs[len(changed):]]
    result = ExportedProgram(module, ExportGraphSignature(specs, rows), program.state_dict, program._source)
    result.out_spec, result._checks = program.out_spec, program._checks
    result.constants = program.constants
    result.range_constraints = program.range_constraints
    note_exported(result, module.print_readable(print_output=False))
    return result
