"""A joint graph as a forward and a backward graph."""

from torch.fx import Graph, GraphModule


def _reaches(joint, roots):
    """Nodes that depend on one of these."""
    found = set(roots)
    for node in joint.graph.nodes:
        if any(i in found for i in node.all_input_nodes):
            found.add(node)
    return found


def _part(joint, inputs, outputs, writes=()):
    """A graph that computes the outputs from the inputs, and does these writes into memory."""
    graph, made = Graph(), {}
    for node in inputs:
        made[node] = graph.placeholder(node.name)
        made[node].meta = dict(node.meta)
    needed, open_nodes = set(), [*writes, *[o for o in outputs if hasattr(o, "op")]]
    while open_nodes:
        node = open_nodes.pop()
        if node in needed or node in made:
            continue
        needed.add(node)
        open_nodes += node.all_input_nodes
    for node in joint.graph.nodes:
        if node in needed:
            made[node] = graph.node_copy(node, lambda n: made[n])
    graph.output(tuple(made[o] if hasattr(o, "op") else o for o in outputs))
    return GraphModule(joint, graph)


def default_partition(joint_module, _joint_inputs, *, num_fwd_outputs, **unused):
    """Forward computes all that needs no tangent, and saves what backward reads of it."""
    nodes = list(joint_module.graph.nodes)
    placeholders = [n for n in nodes if n.op == "placeholder"]
    tangents = [n for n in placeholders if n.name.startswith("tangents")]
    primals = [n for n in placeholders if not n.name.startswith("tangents")]
    results = list(nodes[-1].args[0])
    forward, backward = results[:num_fwd_outputs], results[num_fwd_outputs:]
    late = _reaches(joint_module, tangents)
    saved, seen, open_nodes = [], set(), [o for o in backward if hasattr(o, "op")]
    while open_nodes:
        node = open_nodes.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in late:
            open_nodes += node.all_input_nodes
        elif node.op != "get_attr":
            saved.append(node)
    place = {node: k for k, node in enumerate(nodes)}
    saved.sort(key=place.__getitem__)
    writes = [n for n in nodes if n.op.startswith("call") and n not in late and n.is_impure()]
    return (_part(joint_module, primals, [*forward, *saved], writes),
            _part(joint_module, [*saved, *[t for t in tangents]], backward))


def min_cut_rematerialization_partition(joint_module, _joint_inputs, compiler="inductor", *, num_fwd_outputs, **unused):
    """default_partition: what backward reads is saved, and nothing is computed again."""
    return default_partition(joint_module, _joint_inputs, num_fwd_outputs=num_fwd_outputs)
