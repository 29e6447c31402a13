"""What the nodes of higher-order operators run: bodies are nested graphs, operands and results are flat."""

import torch


def _tuple(made):
    return made if isinstance(made, tuple) else tuple(made) if isinstance(made, list) else (made,)


def cond(pred, true_graph, false_graph, operands):
    """One of two graphs."""
    return true_graph(*operands) if bool(pred) else false_graph(*operands)


def while_loop(cond_graph, body_graph, carried, additional):
    """A graph again and again."""
    values = tuple(t.clone() if isinstance(t, torch.Tensor) else t for t in carried)
    while bool(cond_graph(*values, *additional)):
        values = _tuple(body_graph(*values, *additional))
    return values


def map_impl(graph, xs, args):
    """A graph for each element, its results stacked."""
    rows = [_tuple(graph(*[t[i] for t in xs], *args)) for i in range(xs[0].shape[0])]
    return tuple(torch.stack(column) if isinstance(column[0], torch.Tensor) else column[0] for column in zip(*rows))


def scan(graph, init, xs, additional):
    """A graph step by step: the last carry, and the outputs stacked."""
    carry, rows = list(init), []
    for i in range(xs[0].shape[0]):
        made = list(graph(*carry, *[t[i] for t in xs], *additional))
        carry, row = made[:len(init)], made[len(init):]
        rows.append(row)
    return (*carry, *(torch.stack(column, 0) for column in zip(*rows)))


def associative_scan(graph, xs, additional):
    """Running combinations along the first dimension."""
    rows = []
    for i in range(xs[0].shape[0]):
        here = [t[i] for t in xs]
        rows.append(here if not rows else list(graph(*rows[-1], *here, *additional)))
    return tuple(torch.stack(column, 0) for column in zip(*rows))


def tag_activation_checkpoint(graph, *args, **options):
    """A graph that is computed again in backward."""
    options.setdefault("use_reentrant", False)
    return _tuple(torch.utils.checkpoint.checkpoint(graph, *args, **options))


def wrap(graph, *args):
    """A graph as it is."""
    return _tuple(graph(*args))


def autograd_function_apply(forward, backward, *args, non_differentiable_idx=(), saved_for_backward_idx=()):
    """A function whose forward and backward are graphs; forward gives its results, and what backward needs."""

    class ApplyTemplate(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            outs, saved = forward(*args)
            ctx.others = [None if isinstance(t, torch.Tensor) else t for t in saved]
            ctx.save_for_backward(*[t if isinstance(t, torch.Tensor) else None for t in saved])
            ctx.mark_non_differentiable(*[outs[i] for i in non_differentiable_idx])
            return tuple(outs)

        @staticmethod
        def backward(ctx, *grads):
            saved = [o if t is None else t for t, o in zip(ctx.saved_tensors, ctx.others)]
            return _tuple(backward(*grads, *saved))

    return ApplyTemplate.apply(*args)
