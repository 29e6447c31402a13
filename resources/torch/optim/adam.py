"""Adam and its relatives."""

import torch

from .optimizer import Optimizer, check, number


def _check(lr, eps, betas, weight_decay):
    check("learning rate", lr >= 0.0, lr)
    check("epsilon value", eps >= 0.0, eps)
    check("beta parameter at index 0", 0.0 <= betas[0] < 1.0, betas[0])
    check("beta parameter at index 1", 0.0 <= betas[1] < 1.0, betas[1])
    check("weight_decay value", weight_decay >= 0.0, weight_decay)


class _Moments(Optimizer):
    """Running means of gradients and of their squares."""

    def _state_of(self, p, more=()):
        state = self.state[p]
        if not state:
            state["step"] = torch.tensor(0.0, dtype=torch.float32)
            for name in ("exp_avg", "exp_avg_sq", *more):
                state[name] = torch.zeros_like(p, memory_format=torch.preserve_format)
        return state

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            for p, grad in self._with_grads(group):
                self._update(group, p, grad)
        return loss

    def _means(self, group, state, grad):
        beta1, beta2 = group["betas"]
        state["exp_avg"].lerp_(grad, 1 - beta1)
        state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad.conj(), value=1 - beta2)


class Adam(_Moments):
    """Steps by the running mean of gradients over the root of that of their squares."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        _check(lr, eps, betas, weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable, fused=fused,
                                      decoupled_weight_decay=decoupled_weight_decay))

    def _update(self, group, p, grad):
        state = self._state_of(p, ("max_exp_avg_sq",) if group["amsgrad"] else ())
        state["step"] += 1
        lr = number(group["lr"])
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        self._means(group, state, grad)
        step = number(state["step"])
        beta1, beta2 = group["betas"]
        size = lr / (1 - beta1**step)
        root = (1 - beta2**step) ** 0.5
        squares = state["exp_avg_sq"]
        if group["amsgrad"]:
            squares = torch.maximum(state["max_exp_avg_sq"], squares, out=state["max_exp_avg_sq"])
        p.addcdiv_(state["exp_avg"], (squares.sqrt() / root).add_(group["eps"]), value=-size)


class AdamW(Adam):
    """Adam whose weight decay does not pass through the means."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)


class NAdam(_Moments):
    """Adam with Nesterov momentum."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        _check(lr, eps, betas, weight_decay)
        check("momentum_decay value", momentum_decay >= 0.0, momentum_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
                                      momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable))

    def _update(self, group, p, grad):
        state = self._state_of(p)
        state.setdefault("mu_product", torch.ones((), dtype=torch.float32))
        state["step"] += 1
        step, lr = number(state["step"]), number(group["lr"])
        beta1, beta2 = group["betas"]
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * group["momentum_decay"])))
        mu_next = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * group["momentum_decay"])))
        state["mu_product"] *= mu
        self._means(group, state, grad)
        product = number(state["mu_product"])
        denom = state["exp_avg_sq"].div(1 - beta2**step).sqrt().add_(group["eps"])
        p.addcdiv_(grad, denom, value=-lr * (1.0 - mu) / (1.0 - product))
        p.addcdiv_(state["exp_avg"], denom, value=(-lr * mu_next) / (1.0 - product * mu_next))


class RAdam(_Moments):
    """Adam that waits for the variance to be known."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        _check(lr, eps, betas, weight_decay)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      foreach=foreach, capturable=capturable,
                                      decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))

    def _update(self, group, p, grad):
        state = self._state_of(p)
        state["step"] += 1
        step, lr = number(state["step"]), number(group["lr"])
        beta1, beta2 = group["betas"]
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        self._means(group, state, grad)
        correction2 = 1 - beta2**step
        mean = state["exp_avg"] / (1 - beta1**step)
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * (beta2**step) / correction2
        if length > 5.0:
            rect = ((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
            adaptive = (correction2**0.5) / state["exp_avg_sq"].sqrt().add_(group["eps"])
            p.add_(mean * lr * adaptive * rect, alpha=-1.0)
        else:
            p.add_(mean * lr, alpha=-1.0)
