"""Higher-order operators in graphs that make_fx and torch.export record: each function becomes a nested graph."""

import contextlib

import torch
from torch import _C
from torch.utils import _python_dispatch as _dispatch
from torch.utils import _pytree as pytree


def recorder():
    """The mode that records a graph now, or None."""
    return next((mode for mode in reversed(_dispatch._stack) if getattr(mode, "records_graphs", False)), None)


@contextlib.contextmanager
def _modes_off(down_to):
    """Takes the modes away, the innermost first, until `down_to` is away too."""
    before, off = list(_dispatch._stack), _dispatch._modes_off(down_to)
    del _dispatch._stack[before.index(down_to):]
    try:
        yield
    finally:
        _dispatch._stack[:] = before
        for mode in reversed(off):
            _C._push_dispatch_mode(mode)


def _copy(value):
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _tensor_leaves(value):
    return [t for t in pytree.tree_leaves(value) if isinstance(t, torch.Tensor)]


class _Body:
    """A function's graph. Tensors from around it that it uses are `lifted`: they become inputs of it."""

    def __init__(self, around, function, inputs, what):
        """Records function(*inputs). `inputs` that are no tensors are constants of the graph."""
        self.inner = around.nested()
        self.given = []  # placeholders of `inputs`
        watched = [(t, t._version) for t in _tensor_leaves(inputs)]
        with _modes_off(around):
            for k, value in enumerate(inputs):
                node = self.inner.graph.placeholder(f"arg{k}_1")
                self.inner.track(value, node)
                self.given.append(node)
            with self.inner:
                result = function(*inputs)
                self.leaves, self.spec = pytree.tree_flatten(result)
                self.is_single = isinstance(result, torch.Tensor)
                self.outputs = [self.inner.output_of(leaf) for leaf in self.leaves]
            self.examples = [_copy(leaf) for leaf in self.leaves]
        watched += [(t, version) for t, version in zip(self.inner.outer_values, self.inner.outer_versions)]
        if any(t._version != version for t, version in watched):
            raise torch._dynamo.exc.UncapturedHigherOrderOpError(
                f"{what} writes into one of its inputs, or into a tensor from around it: a nested graph must not")

    def finish(self, lifted, names, as_list=False):
        """The GraphModule, whose inputs are those given and then `lifted`, with `names`; none: they keep theirs."""
        nodes = self.given + [self.inner.placeholder_of(value) for value in lifted]
        self.inner.graph.output(self.outputs[0] if self.is_single else (list if as_list else tuple)(self.outputs))
        first = next(n for n in self.inner.graph.nodes if n.op != "placeholder")
        taken = {n.name for n in self.inner.graph.nodes}
        for k, node in enumerate(nodes):
            first.prepend(node)
            wanted = names[k] if names else f"arg{k}_1"
            if wanted not in taken:
                taken.discard(node.name)
                node.name = node.target = wanted
                taken.add(wanted)
        self.inner.graph.eliminate_dead_code()
        return torch.fx.GraphModule(self.inner.root, self.inner.graph)


def _named_by_dynamo(node):
    """Where Dynamo's order of lifted values has a node: by the name that it gives the value."""
    for prefix in ("p_", "b_", "c_"):
        if node.op == "placeholder" and node.name.startswith(prefix):
            return "l_self_" + node.name
    return ("l_" if node.op == "placeholder" else "") + node.name


def _merged(around, bodies):
    """What the bodies take from around them: what they all use first, then what one of them does."""
    def sorted_by_name(values):
        return sorted(values, key=lambda v: _named_by_dynamo(around.node_of(v)))

    held = [{id(around.node_of(v)): v for v in body.inner.outer_values} for body in bodies]
    shared = [v for key, v in held[0].items() if all(key in other for other in held[1:])]
    common = {id(around.node_of(v)) for v in shared} if len(bodies) > 1 else set()
    alone = [[v for key, v in values.items() if key not in common] for values in held]
    if len(bodies) == 1:
        return list(bodies[0].inner.outer_values)
    return sorted_by_name(shared) + [v for values in alone for v in sorted_by_name(values)]


def _node(around, operator, bodies, arguments, results):
    """The call. `bodies`: (base of the name, module); `arguments` gets their nodes."""
    nested = []
    for base, module in bodies:
        k = next(k for k in range(len(around.graph.nodes) + 1) if not hasattr(around.root, f"{base}_{k}"))
        setattr(around.root, f"{base}_{k}", module)
        nested.append(around.graph.create_node("get_attr", f"{base}_{k}", (), {}, f"{base}_{k}"))
    name = operator.name()
    node = around.graph.create_node("call_function", operator, arguments(nested), {}, name)
    around.note(tuple(results), node)


def _result(body, examples):
    return pytree.tree_unflatten(list(examples), body.spec)


def cond(around, operator, pred, true_fn, false_fn, operands=()):
    """A condition that is known chooses now."""
    if not isinstance(pred, torch.Tensor):
        return true_fn(*operands) if pred else false_fn(*operands)
    bodies = [_Body(around, lambda fn=fn: fn(*operands), (), f"torch.cond's {which} branch")
              for which, fn in (("true", true_fn), ("false", false_fn))]
    if bodies[0].spec != bodies[1].spec:
        raise torch._dynamo.exc.UncapturedHigherOrderOpError(
            "torch.cond: the branches return different structures: "
            f"true_fn's is {bodies[0].spec}, false_fn's is {bodies[1].spec}")
    for a, b in zip(bodies[0].examples, bodies[1].examples):
        if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor) or (
                isinstance(a, torch.Tensor) and (a.shape, a.dtype) != (b.shape, b.dtype)):
            raise torch._dynamo.exc.UncapturedHigherOrderOpError(
                f"torch.cond: the branches return tensors of different kinds: {_said(a)} and {_said(b)}")
    taken = _merged(around, bodies)
    nodes = tuple(around.node_of(v) for v in taken)
    names = [n.name for n in nodes] if around.keeps_composites else None
    for body in bodies:
        body.is_single = False
    modules = [body.finish(taken, names) for body in bodies]
    _node(around, operator, zip(("true_graph", "false_graph"), modules),
          lambda made: (around.node_of(pred), *made, nodes), bodies[0].examples)
    return _result(bodies[0], bodies[0].examples)


def _said(value):
    return f"{value.dtype} {list(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)


def while_loop(around, operator, cond_fn, body_fn, carried, additional=()):
    """The condition and the body. Ints among what is carried differ from step to step: Dynamo traces those."""
    flat, spec = pytree.tree_flatten(tuple(carried))
    if any(not isinstance(t, torch.Tensor) for t in flat):
        raise around.asks_for_number("while_loop")

    def flatly(function):
        return lambda *values: function(*pytree.tree_unflatten(list(values), spec), *additional)

    test = _Body(around, flatly(cond_fn), [_copy(t) for t in flat], "while_loop's cond_fn")
    step = _Body(around, flatly(body_fn), [_copy(t) for t in flat], "while_loop's body_fn")
    if len(step.leaves) != len(flat):
        raise torch._dynamo.exc.UncapturedHigherOrderOpError(
            f"while_loop: body_fn returns {len(step.leaves)} values for {len(flat)} that are carried")
    taken = _merged(around, [test, step])
    given, more = tuple(map(around.node_of, flat)), tuple(map(around.node_of, taken))
    test.is_single, step.is_single = True, False
    modules = [test.finish(taken, None), step.finish(taken, None)]
    _node(around, operator, zip(("while_loop_cond_graph", "while_loop_body_graph"), modules),
          lambda made: (*made, given, more), step.examples)
    return pytree.tree_unflatten(list(step.examples), spec)


def _stacked(examples, count):
    return [torch.stack([t] * count) if isinstance(t, torch.Tensor) else t for t in examples]


def map_impl(around, operator, function, xs, args=()):
    """A graph for one element."""
    args = [around.own(a) for a in args]
    body = _Body(around, lambda *own: function(*own, *args), [_copy(t[0]) for t in xs], "map's function")
    explicit = [a for a in args if isinstance(a, torch.Tensor)]
    known = {id(around.node_of(a)) for a in explicit}
    taken = explicit + [v for v in body.inner.outer_values if id(around.node_of(v)) not in known]
    given, more = [around.node_of(t) for t in xs], [around.node_of(v) for v in taken]
    names = [n.name for n in (*given, *more)] if around.keeps_composites else None
    body.is_single = False
    with _modes_off(around):
        made = _stacked(body.examples, xs[0].shape[0])
    _node(around, operator, [("body_graph", body.finish(taken, names))], lambda nested: (*nested, given, more), made)
    return _result(body, made)


def scan(around, operator, function, init, xs, additional=()):
    """A graph for one step: the carry, and what is stacked."""
    body = _Body(around, lambda *own: list(function(*own, *additional)), [*map(_copy, init), *(_copy(t[0]) for t in xs)],
                 "scan's combine_fn")
    taken = list(body.inner.outer_values)
    rows = [[around.node_of(t) for t in values] for values in (init, xs)]
    more = tuple(around.node_of(v) for v in taken)
    with _modes_off(around):
        made = body.examples[:len(init)] + _stacked(body.examples[len(init):], xs[0].shape[0])
    _node(around, operator, [("scan_combine_graph", body.finish(taken, None, as_list=True))],
          lambda nested: (*nested, *rows, more), made)
    return made


def associative_scan(around, operator, function, xs, additional=()):
    """A graph that combines two elements."""
    firsts = [_copy(t[0]) for t in xs]
    body = _Body(around, lambda *own: list(function(*own, *additional)), [*firsts, *map(_copy, firsts)],
                 "associative_scan's combine_fn")
    taken = list(body.inner.outer_values)
    given, more = [around.node_of(t) for t in xs], tuple(around.node_of(v) for v in taken)
    with _modes_off(around):
        made = [t.clone() for t in xs]
    _node(around, operator, [("associative_scan_combine_graph", body.finish(taken, None, as_list=True))],
          lambda nested: (*nested, given, more), made)
    return made
