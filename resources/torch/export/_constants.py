"""Tensors that an exported module makes of numbers."""

import torch

from ._program import InputKind, InputSpec


def _first_of_user(graph, spec):
    """The node before which inputs of the module's own end."""
    return next(n for n in graph.nodes if n.op != "placeholder" or (spec is not None and n.name == spec.arg))


def lift_constants(program):
    """Tensors that the graph holds become inputs, behind the module's own."""
    module, graph, signature = program.graph_module, program.graph_module.graph, program.graph_signature
    specs, constants = list(signature.input_specs), {}
    place = next((k for k, s in enumerate(specs) if s.target is None), len(specs))
    user = specs[place] if place < len(specs) else None
    for node in [n for n in graph.nodes if n.op == "get_attr"]:
        value = getattr(module, node.target, None)
        if not isinstance(value, torch.Tensor):
            continue
        target = f"lifted_tensor_{len(constants)}"
        with graph.inserting_before(_first_of_user(graph, user)):
            given = graph.placeholder(f"c_{target}")
        given.meta = dict(node.meta)
        for spec in signature.output_specs:
            spec.arg = given.name if spec.arg == node.name else spec.arg
        node.replace_all_uses_with(given)
        graph.erase_node(node)
        specs.insert(place + len(constants), InputSpec(InputKind.CONSTANT_TENSOR, given.name, target))
        constants[target] = value
    module.recompile()
    signature.input_specs, program.constants = specs, {**program.constants, **constants}
