"""Replacing parts of a graph that look like a pattern."""

import collections

from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node, map_arg

Match = collections.namedtuple("Match", ["anchor", "nodes_map"])


class ReplacedPatterns:
    """A match and the nodes that took its place."""

    def __init__(self, anchor, nodes_map, replacements):
        self.anchor, self.nodes_map, self.replacements = anchor, nodes_map, replacements


def _graph_of(pattern):
    if isinstance(pattern, Graph):
        return pattern
    return pattern.graph if isinstance(pattern, GraphModule) else symbolic_trace(pattern).graph


class _Matcher:
    """Compares nodes from the pattern's results backwards."""

    def __init__(self, pattern, match_target=lambda a, b: a.target == b.target):
        self.pattern = pattern
        self.inputs = [n for n in pattern.nodes if n.op == "placeholder"]
        self.results = pattern.output_node().all_input_nodes
        self.same_target = match_target

    def match(self, anchor):
        """The map from the pattern's nodes to the graph's, or None."""
        found = {}
        if not self._same(self.results[0], anchor, found):
            return None
        inner = {g for p, g in found.items() if p.op != "placeholder"}
        for p, g in found.items():
            if p.op == "placeholder" or p in self.results:
                continue
            if any(user not in inner for user in g.users):
                return None
        return found if all(n in found for n in self.inputs) or self._unused_inputs(found) else None

    def _unused_inputs(self, found):
        return all(n in found or not n.users for n in self.inputs)

    def _same(self, p, g, found):
        if p in found:
            return found[p] is g
        if not isinstance(g, Node):
            return False
        if p.op == "placeholder":
            found[p] = g
            return True
        if p.op != g.op or p.op == "output" or not self._same_call(p, g):
            return False
        found[p] = g
        if self._same_args(p, g, found):
            return True
        found.pop(p, None)
        return False

    def _same_call(self, p, g):
        if p.op == "call_module":
            return type(_module(p)) is type(_module(g)) if _module(p) is not None else p.target == g.target
        if p.op == "get_attr":
            return p.target == g.target
        return self.same_target(p, g)

    def _same_args(self, p, g, found):
        if len(p.args) != len(g.args) or set(p.kwargs) != set(g.kwargs):
            return False
        pairs = [*zip(p.args, g.args), *((p.kwargs[k], g.kwargs[k]) for k in p.kwargs)]
        return all(self._same_value(a, b, found) for a, b in pairs)

    def _same_value(self, a, b, found):
        if isinstance(a, Node):
            if a.op == "placeholder" and not isinstance(b, Node):
                found[a] = b
                return True
            return self._same(a, b, found)
        if isinstance(a, (list, tuple)):
            return isinstance(b, (list, tuple)) and len(a) == len(b) and all(
                self._same_value(x, y, found) for x, y in zip(a, b))
        return type(a) is type(b) and a == b


def _module(node):
    owner = node.graph.owning_module
    return owner.get_submodule(node.target) if owner is not None else None


def _replace(gm, found, matcher, replacement):
    values = {}
    inputs = [n for n in replacement.nodes if n.op == "placeholder"]
    for p, r in zip(matcher.inputs, inputs):
        if p in found:
            values[r] = found[p]
    last = found[matcher.results[0]]
    made = []
    with gm.graph.inserting_before(last):
        for node in replacement.nodes:
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: values[n])
                break
            if node in values:
                continue
            values[node] = gm.graph.node_copy(node, lambda n: values[n])
            made.append(values[node])
    results = result if isinstance(result, (list, tuple)) else [result]
    for p, r in zip(matcher.results, results):
        found[p].replace_all_uses_with(r)
    for p in reversed(matcher.pattern.nodes):
        if p.op not in ("placeholder", "output") and p in found and not found[p]._erased:
            gm.graph.erase_node(found[p])
    return made


def _run(gm, pattern, replacement, match_filters=()):
    matcher = _Matcher(_graph_of(pattern))
    replaced, taken = [], set()
    new = _graph_of(replacement)
    for node in list(gm.graph.nodes):
        if node._erased or node.op in ("placeholder", "output"):
            continue
        found = matcher.match(node)
        if found is None or any(isinstance(g, Node) and g in taken for p, g in found.items() if p.op != "placeholder"):
            continue
        if not all(rule(found, gm.graph, matcher.pattern) for rule in match_filters):
            continue
        taken.update(g for p, g in found.items() if p.op != "placeholder")
        replaced.append(ReplacedPatterns(node, dict(found), _replace(gm, found, matcher, new)))
    gm.recompile()
    return replaced


def replace_pattern(gm, pattern, replacement):
    """Put replacement wherever pattern is; gives the matches."""
    return [Match(r.anchor, r.nodes_map) for r in _run(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement, match_filters=None, ignore_literals=False, **options):
    """replace_pattern for matches that all filters take."""
    return _run(gm, pattern, replacement, match_filters or ())
