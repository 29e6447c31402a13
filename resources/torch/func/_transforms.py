"""Gradients as functions of functions, on the tape that backward() uses."""

import functools

import torch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten


def _tracked(t):
    """A tensor as the variable of a new level: its gradients stop here, those of outer levels go on."""
    if not isinstance(t, torch.Tensor):
        return t
    if t.requires_grad:
        return t.view_as(t)
    return t.detach().requires_grad_() if t.dtype.is_floating_point or t.dtype.is_complex else t


def _depends_on_others(tensor, own):
    """Whether a tensor depends on leaves that are not of this level."""
    seen, todo = set(), [tensor.grad_fn] if isinstance(tensor, torch.Tensor) else []
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)  # held: a node that is gone could leave its id to another
        variable = getattr(node, "variable", None)
        if variable is not None and not any(variable is o for o in own):
            return True
        todo += [n for n, _ in node.next_functions]
    return False


def _leave(values, own):
    """Results without what only this level needs."""
    leaves = [o for o in own if isinstance(o, torch.Tensor) and o.is_leaf]

    def one(t):
        if not isinstance(t, torch.Tensor) or not t.requires_grad:
            return t
        if t.grad_fn is None:
            return t.detach() if any(t is o for o in leaves) else t
        return t if _depends_on_others(t, leaves) else t.detach()

    return tree_map(one, values)


def _slice_argnums(args, argnums):
    if isinstance(argnums, bool) or not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnum must be int or tuple, got: {type(argnums)}")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if isinstance(argnums, tuple) and not argnums:
        raise RuntimeError("argnums must be non-empty")
    for n in numbers:
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
    numbers = tuple(n % len(args) for n in numbers)
    if len(set(numbers)) != len(numbers):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return numbers


def _replaced(args, numbers, values):
    made = list(args)
    for n, v in zip(numbers, values):
        made[n] = v
    return made


def _tensor_grads(outputs, leaves, grad_outputs=None, create_graph=True):
    """Gradients of leaves, zeros where outputs do not depend on them."""
    inputs = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
    pairs = [(o, None if grad_outputs is None else g)
             for o, g in zip(outputs, grad_outputs or [None] * len(outputs)) if o.requires_grad]
    if pairs and inputs:
        found = torch.autograd.grad([o for o, _ in pairs], inputs,
                                    None if grad_outputs is None else [g for _, g in pairs],
                                    create_graph=create_graph, retain_graph=True, allow_unused=True)
    else:
        found = [None] * len(inputs)
    by_id = {id(t): g for t, g in zip(inputs, found)}
    return [torch.zeros_like(t) if by_id.get(id(t)) is None else by_id[id(t)] for t in leaves]


def _grad_and_value(func, argnums, has_aux, args, kwargs):
    outer = torch.is_grad_enabled()
    numbers = _slice_argnums(args, argnums)
    with torch.enable_grad():
        chosen = tree_map(_tracked, tuple(args[n] for n in numbers))
        leaves, spec = tree_flatten(chosen)
        output = func(*_replaced(args, numbers, chosen), **kwargs)
        aux = None
        if has_aux:
            if not (isinstance(output, tuple) and len(output) == 2):
                raise RuntimeError(
                    "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
                )
            output, aux = output
        if not isinstance(output, torch.Tensor):
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a single tensor, got "
                f"{type(output)}"
            )
        if output.dim() != 0:
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        grads = tree_unflatten(_tensor_grads([output], leaves), spec)
    grads = grads[0] if isinstance(argnums, int) else grads
    made = _leave((grads, output, aux), leaves)
    if not outer:
        made = tree_map(lambda t: t.detach() if isinstance(t, torch.Tensor) else t, made)
    grads, output, aux = made
    return (grads, (output, aux)) if has_aux else (grads, output)


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func's number, and the number."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        return _grad_and_value(func, argnums, has_aux, args, kwargs)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func's number."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapper


def vjp(func, *primals, has_aux=False):
    """func(*primals), and a function that multiplies vectors with the Jacobian from the left."""
    with torch.enable_grad():
        chosen = tree_map(_tracked, primals)
        leaves, spec = tree_flatten(chosen)
        output = func(*chosen)
        aux = None
        if has_aux:
            if not (isinstance(output, tuple) and len(output) == 2):
                raise RuntimeError(
                    "vjp(f, *primals): output of function f should be a tuple: (output, aux) if has_aux is True"
                )
            output, aux = output
    flat, out_spec = tree_flatten(output)
    for t in flat:
        if not isinstance(t, torch.Tensor):
            raise RuntimeError(
                f"vjp(f, *primals): Expected f(*primals) to return only tensors, got unsupported type {type(t)}"
            )

    def vjp_fn(*cotangents, retain_graph=True, create_graph=None):
        vectors, given_spec = tree_flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {given_spec}, primal output: {out_spec}"
            )
        with torch.enable_grad():
            found = tree_unflatten(_tensor_grads(flat, leaves, vectors), spec)
        found = _leave(found, leaves)
        return found

    results = _leave(output, leaves)
    return (results, vjp_fn, _leave(aux, leaves)) if has_aux else (results, vjp_fn)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """func(*primals), and the Jacobian times the tangents: the derivative of a vjp, which is linear in its vector."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(f"jvp(f, primals, tangents): Expected primals and tangents to be tuples, got {type(primals)}")
    flat_tangents, tangent_spec = tree_flatten(tangents)
    with torch.enable_grad():
        chosen = tree_map(_tracked, primals)
        leaves, spec = tree_flatten(chosen)
        if spec != tangent_spec:
            raise RuntimeError(
                "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For "
                f"example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} "
                f"and tangents with structure {tangent_spec}"
            )
        output = func(*chosen)
        aux = None
        if has_aux:
            output, aux = output
        flat, out_spec = tree_flatten(output)
        vectors = [torch.zeros_like(t, requires_grad=True) for t in flat]
        first = _tensor_grads(flat, leaves, vectors)
        used = [(f, t) for f, t in zip(first, flat_tangents) if f.requires_grad]
        if used:
            found = torch.autograd.grad([f for f, _ in used], vectors, [t for _, t in used], create_graph=True,
                                        allow_unused=True)
        else:
            found = [None] * len(vectors)
        found = [torch.zeros_like(o) if g is None else g for g, o in zip(found, flat)]
    own = [*leaves, *vectors]
    made = _leave((output, tree_unflatten(found, out_spec), aux), own)
    return made if has_aux else made[:2]


def linearize(func, *primals):
    """func(*primals), and a function that multiplies the Jacobian with tangents."""
    output = func(*primals)

    def jvp_fn(*tangents):
        return jvp(func, primals, tangents)[1]

    return output, jvp_fn


def _basis(t):
    """The unit tensors of the shape of t."""
    eye = torch.eye(t.numel(), dtype=t.dtype, device=t.device)
    return [row.reshape(t.shape) for row in eye]


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian, row by row."""

    def wrapper(*args, **kwargs):
        numbers = _slice_argnums(args, argnums)

        def partial(*chosen):
            return func(*_replaced(args, numbers, chosen), **kwargs)

        made = vjp(partial, *(args[n] for n in numbers), has_aux=has_aux)
        output, vjp_fn = made[0], made[1]
        flat, out_spec = tree_flatten(output)
        rows_of = []
        for k, out in enumerate(flat):
            rows = []
            for unit in _basis(out):
                vectors = [torch.zeros_like(o) for o in flat]
                vectors[k] = unit
                rows.append(tree_flatten(vjp_fn(tree_unflatten(vectors, out_spec))))
            spec = rows[0][1]
            columns = [torch.stack(c).reshape(out.shape + c[0].shape) for c in zip(*(r[0] for r in rows))]
            tree = tree_unflatten(columns, spec)
            rows_of.append(tree[0] if isinstance(argnums, int) else tree)
        result = tree_unflatten(rows_of, out_spec)
        return (result, made[2]) if has_aux else result

    return functools.wraps(func)(wrapper)


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that gives the Jacobian, column by column."""

    def wrapper(*args, **kwargs):
        numbers = _slice_argnums(args, argnums)
        chosen = tuple(args[n] for n in numbers)
        leaves, spec = tree_flatten(chosen)

        def partial(*values):
            return func(*_replaced(args, numbers, values), **kwargs)

        aux, by_input, out_spec = None, [], None
        for k, leaf in enumerate(leaves):
            columns = []
            for unit in _basis(leaf):
                tangents = [torch.zeros_like(t) for t in leaves]
                tangents[k] = unit
                made = jvp(partial, chosen, tree_unflatten(tangents, spec), has_aux=has_aux)
                aux = made[2] if has_aux else None
                flat, out_spec = tree_flatten(made[1])
                columns.append(flat)
            by_input.append([torch.stack(c, -1).reshape(c[0].shape + leaf.shape) for c in zip(*columns)])
        outs = []
        for k in range(len(by_input[0])):
            tree = tree_unflatten([parts[k] for parts in by_input], spec)
            outs.append(tree[0] if isinstance(argnums, int) else tree)
        result = tree_unflatten(outs, out_spec)
        return (result, aux) if has_aux else result

    return functools.wraps(func)(wrapper)


def hessian(func, argnums=0):
    """A function that gives the second derivatives."""
    return jacfwd(jacrev(func, argnums), argnums)


def functionalize(func, *, remove="mutations"):
    """A function with the results of func; what it changes in place it changes too."""
    return functools.wraps(func)(lambda *args, **kwargs: func(*args, **kwargs))


def debug_unwrap(tensor, *, recurse=True):
    """The tensor: there are no wrappers."""
    return tensor
