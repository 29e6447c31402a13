"""Transforms of torch.func, as they are traced: the nodes that PyTorch's levels leave around those of a function."""

import operator

import torch
from torch import _C
from torch.func import _transforms, _vmap
from torch.func import _level_runs as _levels
from torch.utils._pytree import tree_flatten, tree_unflatten

_trace = _C._dynamo_trace

_NO_HOOKS = ("torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your "
             "use case.")


def _show(target, *args):
    """A node that PyTorch's graphs have and Kerf's values do not need."""
    return _trace.node(target, None, args)


def _tracked(leaves):
    return torch.is_grad_enabled() and any([isinstance(t, torch.Tensor) and t.requires_grad for t in leaves])


def _wrap_for_grad(tree, level, run):
    leaves, spec = tree_flatten(tree)
    return tree_unflatten([_trace.node("torch._C._functorch._wrap_for_grad", run, (t, level), t)
                           if isinstance(t, torch.Tensor) else t for t in leaves], spec)


def _unwrap_for_grad(tree, level, tracked):
    leaves, spec = tree_flatten(tree)
    made = [_trace.node("torch._C._functorch._unwrap_for_grad", _levels.unwrap_for_grad, (t, level), t)
            if isinstance(t, torch.Tensor) else t for t in leaves]
    for t in made:
        if isinstance(t, torch.Tensor):
            _trace.requires_grad(t, tracked)
    return tree_unflatten(made, spec)


def _enter_grad():
    """The nodes that open a level of gradients."""
    _show("torch._C._autograd._saved_tensors_hooks_disable", _NO_HOOKS)
    _trace.gradients(1)
    level = _trace.level(1)
    _trace.node("torch._C._functorch._grad_increment_nesting", _levels.enter_grad, ())
    return level


def _leave_grad():
    _trace.node("torch._C._functorch._grad_decrement_nesting", _levels.leave_grad, ())
    _trace.level(-1)
    if _trace.gradients(-1) > 0:
        _show("torch._C._autograd._saved_tensors_hooks_disable", _NO_HOOKS)
    else:
        _show("torch._C._autograd._saved_tensors_hooks_enable")


def _differentiable(chosen):
    for t in chosen:
        _show("torch._C._functorch.set_inplace_requires_grad_allowed", True)
        _show("torch._functorch.eager_transforms._set_tensor_requires_grad", t)
        _show("torch._C._functorch.set_inplace_requires_grad_allowed", False)
        _trace.requires_grad(t, True)


def _split_aux(name, output):
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def grad_and_value(func, argnums, has_aux, args, kwargs):
    """The nodes of one level of grad around those of the function."""
    numbers = _transforms._slice_argnums(args, argnums)
    leaves = tree_flatten((args, kwargs))[0]
    _trace.realize(leaves)
    tracked = _tracked(leaves)
    level = _enter_grad()
    given = [_wrap_for_grad(a, level, _levels.wrap_tracked if i in numbers else _levels.wrap_for_grad)
             for i, a in enumerate(args)]
    named = _wrap_for_grad(kwargs, level, _levels.wrap_for_grad)
    chosen, spec = tree_flatten(tuple([given[n] for n in numbers]))
    _differentiable(chosen)
    output, aux = func(*given, **named), None
    if has_aux:
        output, aux = _split_aux("grad_and_value(f)(*args)", output)
    if not isinstance(output, torch.Tensor):
        raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a single tensor, got {type(output)}")
    if output.dim() != 0:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
            f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
    found = _trace.call("torch._functorch.eager_transforms._autograd_grad", _levels.autograd_grad,
                        ((output,), list(chosen)), {"create_graph": True}, tuple(chosen))
    grads = tree_unflatten(list(found), spec)
    grads = _unwrap_for_grad(grads[0] if isinstance(argnums, int) else grads, level, tracked)
    output = _unwrap_for_grad(output, level, tracked)
    aux = _unwrap_for_grad(aux, level, tracked) if has_aux else None
    _leave_grad()
    return (grads, (output, aux)) if has_aux else (grads, output)


def vjp(func, *primals, has_aux=False):
    """torch.func.vjp."""
    return _vjp_of(func, primals, None, has_aux)


def _vjp_of(func, primals, argnums, has_aux):
    """The nodes of the function in a level, and a function that makes the node of its gradients."""
    numbers = tuple(range(len(primals))) if argnums is None else _transforms._slice_argnums(primals, argnums)
    leaves = tree_flatten(primals)[0]
    _trace.realize(leaves)
    tracked = _tracked(leaves)
    level = _enter_grad()
    given = [_wrap_for_grad(a, level, _levels.wrap_tracked if i in numbers else _levels.wrap_for_grad)
             for i, a in enumerate(primals)]
    chosen, spec = tree_flatten(given[numbers[0]] if isinstance(argnums, int) else tuple([given[n] for n in numbers]))
    _differentiable(chosen)
    output, aux = func(*given), None
    if has_aux:
        output, aux = _split_aux("vjp(f, *primals)", output)
        aux = _unwrap_for_grad(aux, level, tracked)
    outs, out_spec = tree_flatten(output)
    for t in outs:
        if not isinstance(t, torch.Tensor):
            raise RuntimeError(
                f"vjp(f, *primals): Expected f(*primals) to return only tensors, got unsupported type {type(t)}")
    results = _unwrap_for_grad(output, level, tracked)
    _leave_grad()

    def vjp_fn(cotangents, retain_graph=True, create_graph=None):
        vectors, given_spec = tree_flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {given_spec}, primal output: {out_spec}")
        _trace.realize(vectors)
        create = torch.is_grad_enabled() if create_graph is None else create_graph
        found = _trace.call("torch._functorch.eager_transforms._autograd_grad", _levels.vjp_grad,
                            (list(outs), list(chosen), list(vectors)),
                            {"retain_graph": retain_graph, "create_graph": create}, tuple(chosen))
        needed = tracked or _tracked(vectors)
        for t in found:
            _trace.requires_grad(t, needed)
        return tree_unflatten(list(found), spec)

    return (results, vjp_fn, aux) if has_aux else (results, vjp_fn)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """torch.func.jvp."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(f"jvp(f, primals, tangents): Expected primals and tangents to be tuples, got {type(primals)}")
    return _jvp_of(func, primals, tangents, None, strict, has_aux)


def _jvp_of(func, primals, tangents, argnums, strict, has_aux):
    """The nodes of dual numbers around those of the function."""
    numbers = tuple(range(len(primals))) if argnums is None else _transforms._slice_argnums(primals, argnums)
    chosen = primals[numbers[0]] if isinstance(argnums, int) else tuple([primals[n] for n in numbers])
    flat, spec = tree_flatten(chosen)
    vectors, vector_spec = tree_flatten(tangents)
    if spec != vector_spec:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if "
            f"primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with "
            f"structure {vector_spec}")
    everything = tree_flatten((primals, tangents))[0]
    _trace.realize(everything)
    tracked = _tracked(everything)
    level = _trace.level(1)
    outermost = _trace.duals(1) == 1
    _trace.node("torch._C._functorch._jvp_increment_nesting", _levels.enter_grad, ())
    _show("torch._C._set_fwd_grad_enabled", True)
    if outermost:
        _show("torch._C._enter_dual_level")
    duals = []
    for p, t in zip(flat, vectors):
        _show("torch.autograd.forward_ad._maybe_load_decompositions")
        dual = _trace.node("torch._make_dual", _levels.make_dual, (p, t), p, None, {"level": 0})
        _trace.requires_grad(dual, True)
        duals.append(dual)
    made = tree_unflatten(duals, spec)
    if argnums is None:
        given = made
    else:
        given = list(_wrap_for_grad(primals, level, _levels.wrap_for_grad))
        for n, d in zip(numbers, (made,) if isinstance(argnums, int) else made):
            given[n] = d
    output, aux = func(*given), None
    if has_aux:
        output, aux = _split_aux("jvp(f, primals, tangents)", output)
        aux = _unwrap_for_grad(aux, level, tracked)
    outs, out_spec = tree_flatten(output)
    pairs = [_unpack_dual(t, tuple(duals), strict) for t in outs]
    results = _unwrap_for_grad(tree_unflatten([p for p, _ in pairs], out_spec), level, tracked)
    derived = _unwrap_for_grad(tree_unflatten([d for _, d in pairs], out_spec), level, tracked)
    if outermost:
        _show("torch._C._exit_dual_level", 0)
    _show("torch._C._set_fwd_grad_enabled", True)
    _trace.node("torch._C._functorch._jvp_decrement_nesting", _levels.leave_grad, ())
    _trace.level(-1)
    _trace.duals(-1)
    return (results, derived, aux) if has_aux else (results, derived)


def _unpack_dual(t, duals, strict):
    """A tensor and its derivative: zeros where it does not depend on the duals."""
    primal, dual = _trace.call("torch._unpack_dual", _levels.unpack_dual, (t,), {"level": 0}, (t, t))
    if _trace.depends(t, duals):
        return primal, dual
    if strict:
        raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is "
                           "not allowed with strict=True.")
    return primal, torch.zeros_like(primal)


def _basis_chunks(tensors, numels, chunk_size):
    """The unit tensors of all shapes together, as many of them at once as a chunk has."""
    total = sum(numels)
    size = total if chunk_size is None else chunk_size
    starts = (0, *torch.tensor(numels).cumsum(dim=0)[:-1].neg().unbind())
    for first in range(0, total, size):
        count = min(size, total - first)
        chunks = tuple([t.new_zeros(count, n) for t, n in zip(tensors, numels)])
        for chunk, start in zip(chunks, starts):
            chunk.diagonal(start + first).fill_(1)
        yield tuple([c.view(count, *t.shape) for c, t in zip(chunks, tensors)])


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """torch.func.jacrev: the vjp of all unit vectors at once."""

    def jacobian(*args):
        made = _vjp_of(func, args, argnums, has_aux)
        output, vjp_fn = made[0], made[1]
        outs, out_spec = tree_flatten(output)
        numels = tuple([t.numel() for t in outs])
        numbers = _transforms._slice_argnums(args, argnums)
        primals, spec = tree_flatten(args[numbers[0]] if isinstance(argnums, int) else tuple([args[n] for n in numbers]))
        rows = []
        for chunk in _basis_chunks(outs, numels, chunk_size):
            if chunk_size == 1:
                found = tree_flatten(vjp_fn(tree_unflatten([torch.squeeze(t, 0) for t in chunk], out_spec)))[0]
                rows.append([torch.unsqueeze(t, 0) for t in found])
            else:
                rows.append(tree_flatten(torch.vmap(vjp_fn)(tree_unflatten(list(chunk), out_spec)))[0])
        stacked = rows[0] if len(rows) == 1 else [torch.cat([r[i] for r in rows], 0) for i in range(len(primals))]
        split = [t.split(numels, dim=0) for t in stacked]
        by_input = [[part.view(out.shape + p.shape) for part, out in zip(parts, outs)] for parts, p in zip(split, primals)]
        by_output = [tree_unflatten([column[k] for column in by_input], spec) for k in range(len(outs))]
        result = tree_unflatten(by_output, out_spec)
        return (result, made[2]) if has_aux else result

    return jacobian


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """torch.func.jacfwd: the jvp of all unit vectors at once."""

    def jacobian(*args):
        numbers = _transforms._slice_argnums(args, argnums)
        primals, spec = tree_flatten(args[numbers[0]] if isinstance(argnums, int) else tuple([args[n] for n in numbers]))
        numels = tuple([t.numel() for t in primals])
        basis = tree_unflatten(list(list(_basis_chunks(primals, numels, None))[0]), spec)

        def push(vectors):
            made = _jvp_of(func, args, vectors, argnums, False, has_aux)
            return (made[1], made[2]) if has_aux else made[1]

        found, aux = torch.vmap(push, randomness=randomness)(basis), None
        if has_aux:
            found, aux = found
            leaves, aux_spec = tree_flatten(aux)
            aux = tree_unflatten([t[0] for t in leaves], aux_spec)
        outs, out_spec = tree_flatten(found)
        rows = []
        for out in outs:
            parts = out.movedim(0, -1).split(numels, dim=-1)
            rows.append(tree_unflatten([part.unflatten(-1, p.shape) for part, p in zip(parts, primals)], spec))
        result = tree_unflatten(rows, out_spec)
        return (result, aux) if has_aux else result

    return jacobian


def hessian(func, argnums=0):
    """torch.func.hessian."""
    return jacfwd(jacrev(func, argnums), argnums)


def run_vmap(func, in_dims, out_dims, randomness, args, kwargs):
    """The nodes of one level of vmap; what runs is the function's graph for each example."""
    leaves, dims, spec = _vmap._flat_in_dims(in_dims, args, func)
    named, named_spec = tree_flatten(kwargs)
    named_dims = [0 if isinstance(t, torch.Tensor) else None for t in named]
    everything, places = [*leaves, *named], [*dims, *named_dims]
    _trace.types(everything)
    _trace.realize(everything)
    count = _vmap._batch_size(everything, places, func)
    _show("torch._functorch.predispatch.lazy_load_decompositions")
    level = _trace.level(1)
    nesting = _show("torch._functorch.predispatch._vmap_increment_nesting", count, randomness)
    one = [t if d is None else
           _trace.node("torch._functorch.predispatch._add_batch_dim", None, (t, d, level), t, d)
           for t, d in zip(everything, places)]
    batched = [t for t, d in zip(everything, places) if d is not None]
    own = tuple([t for t, d in zip(one, places) if d is not None])
    mark = _trace.begin()
    result = func(*tree_unflatten(one[:len(leaves)], spec), **tree_unflatten(one[len(leaves):], named_spec))
    outs, out_spec = tree_flatten(result)
    out_places = _vmap._broadcast_to_and_flatten(out_dims, out_spec)
    if out_places is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and out_spec.is_leaf():
        out_places = list(out_dims)
    if out_places is None or any([not isinstance(t, torch.Tensor) or d is None for t, d in zip(outs, out_places)]):
        _trace.stop("Unsupported function call", "vmap gives something else than tensors along a dimension.")
    end = _trace.begin()
    removed = [_trace.node("torch._functorch.predispatch._remove_batch_dim", None, (t, level, count, d),
                           _trace.stacked(t, count, d)) for t, d in zip(outs, out_places)]
    _show("torch._functorch.predispatch._vmap_decrement_nesting")
    _trace.level(-1)
    body = _trace.cut(mark, own, tuple(outs), True, False, end)
    taken = _trace.lifted(body)
    _trace.install(body, "", taken)
    _trace.attach(nesting, _levels.run_vmap, (body, tuple(batched), tuple([d for d in places if d is not None]), taken,
                                              tuple(out_places), randomness))
    for i, t in enumerate(removed):
        _trace.attach(t, operator.getitem, (nesting, i))
    return tree_unflatten(removed, out_spec)


FUNCTIONS = {
    _transforms._grad_and_value: (grad_and_value, False),
    _transforms.vjp: (vjp, False),
    _transforms.jvp: (jvp, False),
    _transforms.jacrev: (jacrev, False),
    _transforms.jacfwd: (jacfwd, False),
    _transforms.hessian: (hessian, False),
    _vmap._run_vmap: (run_vmap, False),
}
