"""Gradients against finite differences."""

import torch


class GradcheckError(RuntimeError):
    """A gradient that finite differences do not confirm."""


def _outputs(func, inputs):
    made = func(*inputs)
    made = made if isinstance(made, (tuple, list)) else (made,)
    return [t for t in made if isinstance(t, torch.Tensor) and (t.dtype.is_floating_point or t.dtype.is_complex)]


def _numeric(func, inputs, place, eps):
    """Columns of the Jacobian by central differences, for each output."""
    flat = inputs[place].detach().clone().reshape(-1)
    columns = []
    for j in range(flat.numel()):
        sides = []
        for step in (eps, -eps):
            moved = flat.clone()
            moved[j] += step
            args = list(inputs)
            args[place] = moved.reshape(inputs[place].shape)
            with torch.no_grad():
                sides.append([t.detach().clone() for t in _outputs(func, args)])
        columns.append([((a - b) / (2 * eps)).reshape(-1) for a, b in zip(*sides)])
    return columns


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **options):
    """Whether the gradients of func agree with finite differences."""
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    outputs = _outputs(func, inputs)
    for place, t in enumerate(inputs):
        if not isinstance(t, torch.Tensor) or not t.requires_grad:
            continue
        columns = _numeric(func, inputs, place, eps)
        for k, out in enumerate(outputs):
            want = torch.stack([c[k] for c in columns], dim=1) if columns else out.new_zeros(out.numel(), 0)
            rows = [torch.autograd.grad(v, t, retain_graph=True, allow_unused=True)[0] for v in out.reshape(-1)]
            have = torch.stack([torch.zeros_like(t).reshape(-1) if r is None else r.reshape(-1) for r in rows])
            if not torch.allclose(have.detach(), want.to(have.dtype), rtol=rtol, atol=atol):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {k} with respect to input {place},\nnumerical:{want}\nanalytical:{have}\n"
                )
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **options):
    """gradcheck of the gradients of func."""
    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    wanted = [i for i, t in enumerate(inputs) if isinstance(t, torch.Tensor) and t.requires_grad]
    outputs = _outputs(func, inputs)
    weights = grad_outputs or [torch.randn_like(o) for o in outputs]

    def first(*args):
        outs = _outputs(func, args)
        return torch.autograd.grad(outs, [args[i] for i in wanted], weights, create_graph=True, allow_unused=True)

    def tracked(*args):
        with torch.enable_grad():
            args = [a.requires_grad_() if i in wanted and not a.requires_grad else a for i, a in enumerate(args)]
            return tuple(g for g in first(*args) if g is not None)

    return gradcheck(tracked, inputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)
