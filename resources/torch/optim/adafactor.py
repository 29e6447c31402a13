"""Adafactor and Muon: optimizers for matrices."""

import torch

from .optimizer import Optimizer, check, number


class Adafactor(Optimizer):
    """Steps by squares that are kept as row and column means."""

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        check("Learning rate", lr >= 0.0, lr)
        check("Clipping threshold d", d >= 1.0, d)
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize))

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            for p, grad in self._with_grads(group):
                self._update(group, p, grad)
        return loss

    def _state_of(self, p):
        state = self.state[p]
        if not state:
            state["step"] = torch.tensor(0.0, dtype=torch.float32)
            if p.dim() > 1:
                row, col = list(p.shape), list(p.shape)
                row[-1], col[-2] = 1, 1
                state["row_var"], state["col_var"] = p.new_zeros(row), p.new_zeros(col)
            else:
                state["variance"] = torch.zeros_like(p)
        return state

    def _update(self, group, p, grad):
        state = self._state_of(p)
        state["step"] += 1
        step, lr = number(state["step"]), number(group["lr"])
        eps1 = torch.finfo(p.dtype).eps if group["eps"][0] is None else group["eps"][0]
        decay = step ** group["beta2_decay"]
        rho = min(lr, 1 / step**0.5)
        alpha = max(group["eps"][1], p.norm(2).item() / p.numel() ** 0.5) * rho
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            rows = torch.norm(grad, dim=-1, keepdim=True).square_().div_(grad.size(-1))
            state["row_var"].lerp_(rows, decay)
            cols = torch.norm(grad, dim=-2, keepdim=True).square_().div_(grad.size(-2))
            state["col_var"].lerp_(cols, decay)
            estimate = state["row_var"] @ state["col_var"]
            estimate.div_(state["row_var"].mean(dim=-2, keepdim=True).clamp_(min=eps1))
        else:
            state["variance"].lerp_(grad * grad, decay)
            estimate = state["variance"].clone()
        update = estimate.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        size = max(1.0, update.norm(2).item() / ((update.numel() ** 0.5) * group["d"]))
        p.add_(update, alpha=-alpha / size)


class Muon(Optimizer):
    """Steps by momentum made orthogonal."""

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        check("Learning rate should be >= 0 but is", lr >= 0.0, lr)
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps,
                                      adjust_lr_fn=adjust_lr_fn))
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            for p, grad in self._with_grads(group):
                state = self.state[p]
                buf = state.setdefault("momentum_buffer", torch.zeros_like(grad))
                buf.lerp_(grad, 1 - group["momentum"])
                update = grad.lerp(buf, group["momentum"]) if group["nesterov"] else buf
                update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
                rows, cols = p.shape[:2]
                if group["adjust_lr_fn"] == "match_rms_adamw":
                    ratio = 0.2 * max(rows, cols) ** 0.5
                else:
                    ratio = max(1, rows / cols) ** 0.5
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(update.to(p.dtype), alpha=-group["lr"] * ratio)
        return loss


def _orthogonal(grad, coefficients, steps, eps):
    """The nearest orthogonal matrix, by Newton and Schulz in bfloat16."""
    a, b, c = coefficients
    x = grad.bfloat16()
    tall = grad.size(0) > grad.size(1)
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if tall else x
