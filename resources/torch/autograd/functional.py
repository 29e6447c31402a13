"""Jacobians and the like of functions."""

import torch



def _tuple(x):
    return (x, True) if isinstance(x, tuple) else ((x,) if isinstance(x, torch.Tensor) else tuple(x), False)


def _prepare(inputs, create_graph):
    made = []
    for t in inputs:
        if create_graph and t.requires_grad:
            made.append(t.view_as(t))
        else:
            made.append(t.detach().requires_grad_())
    return tuple(made)


def _finish(values, create_graph, was_tuple):
    values = tuple(v if create_graph else v.detach() for v in values)
    return values if was_tuple else values[0]


def _zeros_where_none(grads, inputs):
    return tuple(torch.zeros_like(i) if g is None else g for g, i in zip(grads, inputs))


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, and the product of v with the Jacobian."""
    with torch.enable_grad():
        values, was_tuple = _tuple(inputs)
        values = _prepare(values, create_graph)
        outputs, out_tuple = _tuple(func(*values))
        grads = None if v is None else _tuple(v)[0]
        made = torch.autograd.grad(outputs, values, grads, create_graph=create_graph, allow_unused=True)
    made = _zeros_where_none(made, values)
    return _finish(outputs, create_graph, out_tuple), _finish(made, create_graph, was_tuple)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, and the product of the Jacobian with v."""
    with torch.enable_grad():
        values, _ = _tuple(inputs)
        values = _prepare(values, create_graph)
        outputs, out_tuple = _tuple(func(*values))
        weights = tuple(torch.zeros_like(o, requires_grad=True) for o in outputs)
        first = torch.autograd.grad(outputs, values, weights, create_graph=True, allow_unused=True)
        first = _zeros_where_none(first, values)
        tangents = tuple(torch.ones_like(t) for t in values) if v is None else _tuple(v)[0]
        used = [(f, t) for f, t in zip(first, tangents) if f.requires_grad]
        if used:
            made = torch.autograd.grad([f for f, _ in used], weights, [t for _, t in used], create_graph=create_graph,
                                       allow_unused=True)
        else:
            made = (None,) * len(outputs)
    made = _zeros_where_none(made, outputs)
    return _finish(outputs, create_graph, out_tuple), _finish(made, create_graph, out_tuple)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian: for each output and input a tensor of output shape + input shape."""
    with torch.enable_grad():
        values, was_tuple = _tuple(inputs)
        values = _prepare(values, create_graph)
        outputs, out_tuple = _tuple(func(*values))
        rows = []
        for out in outputs:
            parts = [[] for _ in values]
            for i in range(out.numel()):
                grads = torch.autograd.grad(out.reshape(-1)[i], values, retain_graph=True, create_graph=create_graph,
                                            allow_unused=True) if out.requires_grad else (None,) * len(values)
                for part, g in zip(parts, _zeros_where_none(grads, values)):
                    part.append(g)
            row = tuple(torch.stack(p).view(out.size() + t.size()) if p else t.new_zeros(out.size() + t.size())
                        for p, t in zip(parts, values))
            rows.append(_finish(row, create_graph, was_tuple))
    return tuple(rows) if out_tuple else rows[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function with one number as output."""
    values, was_tuple = _tuple(inputs)

    def first(*args):
        out = func(*args)
        made = torch.autograd.grad(out, args, create_graph=True, allow_unused=True)
        return _zeros_where_none(made, args)

    made = jacobian(first, values, create_graph=create_graph)
    return made if was_tuple else made[0][0]


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, and the product of v with the Hessian."""
    return _second(func, inputs, v, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, and the product of the Hessian with v."""
    return _second(func, inputs, v, create_graph)


def _second(func, inputs, v, create_graph):
    with torch.enable_grad():
        values, was_tuple = _tuple(inputs)
        values = _prepare(values, create_graph)
        out = func(*values)
        first = _zeros_where_none(torch.autograd.grad(out, values, create_graph=True, allow_unused=True), values)
        vectors = tuple(torch.ones_like(t) for t in values) if v is None else _tuple(v)[0]
        used = [(f, t) for f, t in zip(first, vectors) if f.requires_grad]
        made = (None,) * len(values)
        if used:
            made = torch.autograd.grad([f for f, _ in used], values, [t for _, t in used], create_graph=create_graph,
                                       allow_unused=True)
    made = _zeros_where_none(made, values)
    return _finish((out,), create_graph, False), _finish(made, create_graph, was_tuple)
