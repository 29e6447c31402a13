"""Functions that take functions, as they are traced: each one here is traced in the place of that of TRACED_INSTEAD."""

import functools

import torch
from torch import _C, _ops
from torch._dynamo import _transform_levels
from torch._higher_order_ops import _graph_runs as _runs, wrap as _wrap
from torch.overrides import get_default_nowrap_functions
from torch.utils import checkpoint as _checkpoint
from torch.utils._pytree import tree_flatten, tree_unflatten

_trace = _C._dynamo_trace


def _tensors(leaves):
    return tuple(t for t in leaves if isinstance(t, torch.Tensor))


def cond(pred, true_fn, false_fn, operands=()):
    """A condition that is known chooses now; a tensor, or a number of the graph, makes two nested graphs."""
    if not _trace.is_proxy(pred):
        return true_fn(*operands) if pred else false_fn(*operands)
    _trace.realize((pred, tree_flatten(operands)[0]))
    mark = _trace.begin()
    true_leaves, true_spec = tree_flatten(true_fn(*operands))
    true_body = _trace.cut(mark, (), tuple(true_leaves))
    mark = _trace.begin()
    false_leaves, false_spec = tree_flatten(false_fn(*operands))
    false_body = _trace.cut(mark, (), tuple(false_leaves))
    if true_spec != false_spec:
        _trace.stop("torch.cond: differing branch outputs", "Expected branches to return the same pytree structure.")
    for a, b in zip(true_leaves, false_leaves):
        both = isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
        if not both and (isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor) or a != b):
            _trace.stop("torch.cond: unsupported branch return type", "Expected branches to return tensors.")
        if both and not _trace.alike(a, b):
            _trace.stop("torch.cond: differing branch outputs", "Expected branches to return tensors of the same kind.")
    taken = _trace.merged((true_body, false_body))
    _trace.install(true_body, "cond_true", taken)
    _trace.install(false_body, "cond_false", taken)
    made = _trace.call("torch.ops.higher_order.cond", _runs.cond, (pred, true_body, false_body, taken), None,
                       tuple(true_leaves))
    for t, a, b in zip(made, true_leaves, false_leaves):
        if isinstance(t, torch.Tensor) and b.requires_grad and not a.requires_grad:
            _trace.requires_grad(t, True)
    return tree_unflatten(list(made), true_spec)


def _own(carried):
    """What a body gets of values that are handed from step to step: tensors like them, and ints of any value."""
    return tuple([_trace.input(t) if isinstance(t, torch.Tensor) else _trace.number() for t in carried])


def _carried(own, leaves):
    """Examples of what comes out at the end."""
    return tuple([leaf if isinstance(leaf, torch.Tensor) else number for number, leaf in zip(own, leaves)])


def while_loop(cond_fn, body_fn, carried_inputs):
    """Two nested graphs: the condition and the body."""
    flat, spec = tree_flatten(tuple(carried_inputs))
    _trace.types(flat)
    _trace.realize(flat)
    for t in flat:
        if not isinstance(t, (torch.Tensor, int)):
            _trace.stop("torch.while_loop: unsupported carried input", "Expected carried inputs to be tensors or ints.")
    mark = _trace.begin()
    own = _own(flat)
    holds = cond_fn(*tree_unflatten(list(own), spec))
    cond_body = _trace.cut(mark, own, holds)
    if not _trace.is_proxy(holds):
        if holds:
            _trace.stop("torch.while_loop: infinite loop detected", "cond_fn always returns the same value.")
        return tuple(carried_inputs)
    if isinstance(holds, torch.Tensor) and (holds.dtype != torch.bool or holds.dim() != 0):
        _trace.stop("torch.while_loop: unsupported cond_fn return type",
                    "Expected cond_fn to return a scalar tensor or a bool.")
    mark = _trace.begin()
    own = _own(flat)
    leaves, out_spec = tree_flatten(body_fn(*tree_unflatten(list(own), spec)))
    body = _trace.cut(mark, own, tuple(leaves))
    if len(leaves) != len(flat):
        _trace.stop("torch.while_loop: unsupported body_fn return type", "Expected as many outputs as carried inputs.")
    for t, leaf in zip(flat, leaves):
        if isinstance(t, torch.Tensor) != isinstance(leaf, torch.Tensor):
            _trace.stop("torch.while_loop: unsupported body_fn return type",
                        "Expected body_fn to return what it is given: tensors for tensors, ints for ints.")
    taken = _trace.merged((cond_body, body))
    _trace.install(cond_body, "cond_fn", taken)
    _trace.install(body, "body_fn", taken)
    made = _trace.call("torch.ops.higher_order.while_loop", _runs.while_loop, (cond_body, body, tuple(flat), taken), None,
                       _carried(own, leaves))
    return tree_unflatten(list(made), out_spec)


def map_(f, xs, *args):
    """One nested graph, for one element."""
    flat_xs, xs_spec = tree_flatten(xs)
    flat_args, args_spec = tree_flatten(args)
    for t in flat_xs:
        if not isinstance(t, torch.Tensor):
            raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {flat_xs}.")
    _trace.realize((flat_xs, flat_args))
    count = flat_xs[0].shape[0]
    mark = _trace.begin()
    own_xs = [_trace.input(t, 0) for t in flat_xs]
    own_args = [_trace.input(t) if isinstance(t, torch.Tensor) else t for t in flat_args]
    leaves, spec = tree_flatten(f(tree_unflatten(own_xs, xs_spec), *tree_unflatten(own_args, args_spec)))
    body = _trace.cut(mark, (*own_xs, *_tensors(own_args)), tuple(leaves))
    taken = _trace.lifted(body)
    _trace.install(body, "map_body", taken)
    given = [*_tensors(flat_args), *taken]
    examples = tuple(_trace.stacked(t, count) if isinstance(t, torch.Tensor) else t for t in leaves)
    made = _trace.call("torch.ops.higher_order.map_impl", _runs.map_impl, (body, flat_xs, given), None, examples)
    return tree_unflatten(list(made), spec)


def scan(combine_fn, init, xs, *, dim=0, reverse=False):
    """One nested graph: a step."""
    inits, init_spec = tree_flatten(init)
    leaves, xs_spec = tree_flatten(xs)
    if not leaves:
        return init, []
    _trace.types([*inits, *leaves])
    _trace.realize((inits, leaves))
    dim = dim % leaves[0].dim()
    if dim != 0:
        leaves = [torch.movedim(t, dim, 0) for t in leaves]
    if reverse:
        leaves = [torch.flip(t, [0]) for t in leaves]
    count = leaves[0].shape[0]
    mark = _trace.begin()
    own_init = list(_own(inits))
    own_xs = [_trace.input(t, 0) for t in leaves]
    result = combine_fn(tree_unflatten(own_init, init_spec), tree_unflatten(own_xs, xs_spec))
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        _trace.stop("torch.scan: improper combine_fn number of returns",
                    "Expect combine_fn to return a tuple (next_carry, y).")
    carries, carry_spec = tree_flatten(result[0])
    outs, out_spec = tree_flatten(result[1])
    body = _trace.cut(mark, (*own_init, *own_xs), [*carries, *outs])
    taken = _trace.lifted(body)
    _trace.install(body, "scan_combine_fn", taken)
    examples = (*_carried(own_init, carries), *(_trace.stacked(t, count) for t in outs))
    made = _trace.call("torch.ops.higher_order.scan", _runs.scan, (body, inits, leaves, [*taken]), None, examples)
    carry = tree_unflatten(list(made[:len(carries)]), carry_spec)
    found = list(made[len(carries):])
    if reverse:
        found = [t.flip([0]) for t in found]
    return carry, tree_unflatten(found, out_spec)


def _interleaved(even, odd):
    """Rows of two tensors in turn, an even one first; there may be one more of those."""
    count = odd.shape[0]
    mixed = torch.stack([even[:count], odd], 1).flatten(0, 1)
    return mixed if even.shape[0] == count else torch.cat([mixed, even[count:]])


def _scanned_by_pairs(combine, leaves):
    """The running combinations of the rows: those of pairs of rows are half as many, and give the odd places."""
    count = leaves[0].shape[0]
    if count < 2:
        return leaves
    pairs = combine([t[:-1:2] for t in leaves], [t[1::2] for t in leaves])
    odd = _scanned_by_pairs(combine, pairs)
    rest = [t[2::2] for t in leaves]
    even = [t[:1] for t in leaves]
    if rest[0].shape[0] > 0:
        more = combine([t[: rest[0].shape[0]] for t in odd], rest)
        even = [torch.cat([a, b]) for a, b in zip(even, more)]
    return [_interleaved(a, b) for a, b in zip(even, odd)]


def _generic_scan(combine_fn, leaves, spec):
    """The scan as calls of combine_fn on many rows at once."""
    over_rows = torch.vmap(lambda a, b: tuple(tree_flatten(combine_fn(tree_unflatten(list(a), spec),
                                                                     tree_unflatten(list(b), spec)))[0]))

    def combine(a, b):
        return list(over_rows(tuple(a), tuple(b)))

    return _scanned_by_pairs(combine, leaves)


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    """One nested graph that combines two elements; in the generic mode calls of it on many."""
    leaves, spec = tree_flatten(xs)
    _trace.types(leaves)
    _trace.realize(leaves)
    dim = dim % leaves[0].dim()
    leaves = [torch.movedim(t, dim, 0) for t in leaves]
    if reverse:
        leaves = [torch.flip(t, [0]) for t in leaves]
    if combine_mode == "generic":
        made = _generic_scan(combine_fn, leaves, spec)
        made = [t.flip([0]) for t in made] if reverse else made
        return tree_unflatten([torch.movedim(t, 0, dim) for t in made], spec)
    mark = _trace.begin()
    first = [_trace.input(t, 0) for t in leaves]
    second = [_trace.input(t, 0) for t in leaves]
    outs, out_spec = tree_flatten(combine_fn(tree_unflatten(first, spec), tree_unflatten(second, spec)))
    body = _trace.cut(mark, (*first, *second), list(outs))
    if out_spec != spec:
        _trace.stop("torch.associative_scan: mismatched input/output tree structure",
                    "The tree structure of the xs and the outs of the combine_fn are expected to be identical.")
    taken = _trace.lifted(body)
    _trace.install(body, "associative_scan_combine_fn", taken)
    made = list(_trace.call("torch.ops.higher_order.associative_scan", _runs.associative_scan, (body, leaves, taken),
                            None, tuple(leaves)))
    if reverse:
        made = [t.flip([0]) for t in made]
    return tree_unflatten([torch.movedim(t, 0, dim) for t in made], spec)


def _wrapped(target, run, base, function, args, kwargs, options):
    """A function whose graph is run as it is: what it gives may hold tensors anywhere in tuples, lists and dicts."""
    _trace.realize(tree_flatten((args, kwargs))[0])
    mark = _trace.begin()
    leaves, spec = tree_flatten(function(*args, **kwargs))
    tensors = _tensors(leaves)
    body = _trace.cut(mark, (), tensors)
    taken = _trace.lifted(body)
    _trace.install(body, base, taken)
    made = list(_trace.call(target, run, (body, *taken), options, tensors))
    return tree_unflatten([made.pop(0) if isinstance(t, torch.Tensor) else t for t in leaves], spec)


_CHECKPOINT_OPTIONS = ("use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state")


def checkpoint(function, *args, **kwargs):
    """One nested graph: what is computed again in backward."""
    options = {k: v for k, v in kwargs.items() if k in _CHECKPOINT_OPTIONS and k != "context_fn"}
    rest = {k: v for k, v in kwargs.items() if k not in _CHECKPOINT_OPTIONS}
    return _wrapped("torch.ops.higher_order.tag_activation_checkpoint", _runs.tag_activation_checkpoint, "wrap_body",
                    function, args, rest, options)


def wrap(func, *args, **kwargs):
    """One nested graph."""
    return _wrapped("torch.ops.higher_order.wrap", _runs.wrap, "wrap_body", func, args, kwargs, None)


def _forward_once(forward, ctx, args, kwargs):
    """Forward without gradients; inputs that come out unchanged are views."""
    with torch.no_grad():
        outs = forward(ctx, *args, **kwargs)
    if isinstance(outs, torch.Tensor):
        return _viewed(outs, args)
    if isinstance(outs, (tuple, list)):
        return tuple([_viewed(out, args) for out in outs])
    return outs


def _viewed(out, args):
    if isinstance(out, torch.Tensor):
        for arg in args:
            if arg is out:
                return out.view_as(out)
    return out


def apply(cls, *args, **kwargs):
    """torch.autograd.Function.apply: two nested graphs, where a gradient may be asked for."""
    leaves, _ = tree_flatten((args, kwargs))
    _trace.realize(leaves)
    ctx = torch.autograd.function.FunctionCtx()
    needed = torch.is_grad_enabled() and any([isinstance(t, torch.Tensor) and t.requires_grad for t in leaves])
    setup = cls.setup_context is not torch.autograd.Function.setup_context
    if setup:
        def forward(ctx, *args, **kwargs):
            outs = cls.forward(*args, **kwargs)
            cls.setup_context(ctx, args, outs)
            return outs
    else:
        forward = cls.forward
    ctx.needs_input_grad = tuple([needed and isinstance(t, torch.Tensor) and t.requires_grad for t in args])
    if not needed:
        return forward(ctx, *args, **kwargs)
    if cls.vjp is not torch.autograd.Function.vjp and cls.backward is torch.autograd.Function.backward:
        _trace.stop("Unsupported custom vjp", "Dynamo does not support tracing `torch.autograd.Function` subclasses "
                    "that define a custom `vjp` method.")
    if cls.jvp is not torch.autograd.Function.jvp:
        _trace.stop("Unsupported custom jvp", "Dynamo does not support tracing `torch.autograd.Function` subclasses "
                    "that define a custom `jvp` method.")
    mark = _trace.begin()
    out = _forward_once(forward, ctx, args, kwargs)
    if ctx._dirty:
        _trace.stop("Unsupported autograd.Function context method", "Dynamo does not support calling `mark_dirty`.")
    outs = out if isinstance(out, tuple) else (out,)
    results = _tensors(outs)
    bwd_mark = _trace.begin()
    grads = tuple([_trace.input(t) if isinstance(t, torch.Tensor) else None for t in outs])
    with torch.no_grad():
        found = cls.backward(ctx, *grads)
    found = found if isinstance(found, (tuple, list)) else (found,)
    per_tensor = [found[i] if i < len(found) else None for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
    backward = _trace.cut(bwd_mark, _tensors(grads), tuple(per_tensor))
    saved = _trace.lifted(backward)
    marked = ctx._non_differentiable
    plain = [i for i, t in enumerate(results) if any([_trace.same(t, m) for m in marked])]
    to_save = ctx.__dict__.get("_to_save", ())
    saved_places = [i for i, t in enumerate(saved) if any([_trace.same(t, s) for s in to_save])]
    given = _tensors(args)
    body = _trace.cut(mark, (), (results, saved), False, True)
    taken = list(_trace.lifted(body))
    for t in given:
        if not any([_trace.same(t, o) for o in taken]):
            taken.append(t)
    order = [next_place(given, t) for t in taken]
    _trace.reorder(backward, tuple(order))
    _trace.install(body, "fwd_body", tuple(taken))
    _trace.install(backward, "bwd_body", saved)
    made = _trace.call("torch.ops.higher_order.autograd_function_apply", _runs.autograd_function_apply,
                       (body, backward, *taken),
                       {"non_differentiable_idx": plain, "saved_for_backward_idx": saved_places}, results)
    for i, t in enumerate(made):
        _trace.requires_grad(t, i not in plain)
    _trace.repoint(results, made)
    made = list(made)
    if not isinstance(out, tuple):
        return made[0] if isinstance(out, torch.Tensor) else out
    return tuple([made.pop(0) if isinstance(t, torch.Tensor) else t for t in outs])


def next_place(given, tensor):
    """The index of a tensor among others, by the value that it stands for; -1: it is none of them."""
    for i, t in enumerate(given):
        if _trace.same(t, tensor):
            return i
    return -1


def torch_function(cls, func, types, args=(), kwargs=None):
    """Tensor.__torch_function__: the call without overrides, its tensors as cls."""
    if not all([issubclass(cls, t) for t in types]):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    if func in get_default_nowrap_functions():
        return result
    return _as_class(result, cls)


def _as_class(result, cls):
    if isinstance(result, torch.Tensor):
        return result if isinstance(result, cls) else _trace.as_class(result, cls)
    if isinstance(result, (tuple, list)):
        parts = [_as_class(r, cls) for r in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def call_operator(op, *args, **kwargs):
    """An operator: one of the program is a node of its own."""
    made = _trace.op(op, args, kwargs)
    return op._op(*args, **kwargs) if made is NotImplemented else made


def _checked(name, error):
    """torch._check and its like: a condition that only running the graph decides becomes a node."""

    def check(cond, message=None):
        if not _trace.is_proxy(cond):
            torch._check_with(error, cond, message)
            return
        if message is not None and getattr(message, "__closure__", None):
            _trace.stop("Can't extract message from torch._check()",
                        "The message of torch._check() must be a function without a closure.")
        function = getattr(torch, name)
        _trace.check(f"torch.{name}", function if message is None else functools.partial(function, message=message),
                     (cond,), (cond,))

    return check


def check_is_size(i, message=None, *, max=None):
    """torch._check_is_size."""
    if not _trace.is_proxy(i):
        torch._check(i >= 0, message)
    else:
        _trace.check("torch._check_is_size", torch._check_is_size, (i,), (i >= 0,))
    if max is not None:
        torch._check(i <= max, message)


def compiling():
    """torch.compiler.is_compiling() in code that is traced."""
    return True


class DisableTorchFunctionSubclass:
    """Subclasses take no calls over in the block."""

    def __enter__(self):
        _trace.overrides(-1)

    def __exit__(self, *args):
        _trace.overrides(1)


def _functions():
    import torch.library

    ops = torch._higher_order_ops
    return {
        **_transform_levels.FUNCTIONS,
        torch.Tensor.__torch_function__.__func__: (torch_function, False),
        _ops.OpOverload.__call__: (call_operator, False),
        _ops.OpOverloadPacket.__call__: (call_operator, False),
        torch.library.CustomOpDef.__call__: (call_operator, False),
        torch._check: (_checked("_check", RuntimeError), False),
        torch._check_index: (_checked("_check_index", IndexError), False),
        torch._check_value: (_checked("_check_value", ValueError), False),
        torch._check_type: (_checked("_check_type", TypeError), False),
        torch._check_is_size: (check_is_size, False),
        torch.compiler.is_compiling: (compiling, False),
        torch.compiler.is_dynamo_compiling: (compiling, False),
        torch._dynamo.external_utils.is_compiling: (compiling, False),
        _C.DisableTorchFunctionSubclass: (DisableTorchFunctionSubclass, False),
        ops.cond: (cond, True),
        ops.while_loop: (while_loop, True),
        ops.map: (map_, True),
        ops.scan: (scan, True),
        ops.associative_scan: (associative_scan, True),
        _wrap.wrap: (wrap, False),
        _checkpoint.checkpoint: (checkpoint, False),
        torch.autograd.Function.apply.__func__: (apply, False),
    }


TRACED_INSTEAD = _functions()
