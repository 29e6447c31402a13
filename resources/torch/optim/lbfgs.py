"""L-BFGS."""

import torch

from .optimizer import Optimizer, check


class LBFGS(Optimizer):
    """Steps by an estimate of the second derivatives from the last gradients."""

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
                 history_size=100, line_search_fn=None):
        check("learning rate", lr >= 0.0, lr)
        if line_search_fn is not None:
            raise NotImplementedError("line search of LBFGS is not supported")
        super().__init__(params, dict(lr=lr, max_iter=max_iter,
                                      max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
                                      tolerance_grad=tolerance_grad, tolerance_change=tolerance_change,
                                      history_size=history_size, line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _flat_grad(self):
        return torch.cat([torch.zeros_like(p).view(-1) if p.grad is None else p.grad.reshape(-1)
                          for p in self._params])

    def _move(self, size, direction):
        offset = 0
        for p in self._params:
            p.add_(direction[offset : offset + p.numel()].view_as(p), alpha=size)
            offset += p.numel()

    @staticmethod
    def _direction(state, grad):
        """The two-loop recursion."""
        q, steps, changes, rho = grad.neg(), state["old_stps"], state["old_dirs"], state["ro"]
        al = [None] * len(changes)
        for i in range(len(changes) - 1, -1, -1):
            al[i] = steps[i].dot(q) * rho[i]
            q.add_(changes[i], alpha=-al[i].item())
        made = torch.mul(q, state["H_diag"])
        for i in range(len(changes)):
            made.add_(steps[i], alpha=(al[i] - changes[i].dot(made) * rho[i]).item())
        return made

    def _remember(self, group, state, grad):
        y = grad.sub(state["prev_flat_grad"])
        s = state["d"].mul(state["t"])
        ys = y.dot(s)
        if ys <= 1e-10:
            return
        if len(state["old_dirs"]) == group["history_size"]:
            for name in ("old_dirs", "old_stps", "ro"):
                state[name].pop(0)
        state["old_dirs"].append(y)
        state["old_stps"].append(s)
        state["ro"].append(1.0 / ys)
        state["H_diag"] = ys / y.dot(y)

    @torch.no_grad()
    def step(self, closure):
        """Change the parameters up to max_iter times."""
        closure = torch.enable_grad()(closure)
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss, evals = float(first), 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                state.update(d=grad.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                self._remember(group, state, grad)
                state["d"] = self._direction(state, grad)
            state["prev_flat_grad"] = grad.clone()
            before = loss
            size = min(1.0, 1.0 / float(grad.abs().sum())) * group["lr"] if state["n_iter"] == 1 else group["lr"]
            state["t"] = size
            slope = grad.dot(state["d"])
            if slope > -group["tolerance_change"]:
                break
            self._move(size, state["d"])
            if iterations != group["max_iter"]:
                loss = float(closure())
                grad = self._flat_grad()
                evals += 1
                state["func_evals"] += 1
            if iterations == group["max_iter"] or evals >= group["max_eval"]:
                break
            if grad.abs().max() <= group["tolerance_grad"]:
                break
            if state["d"].mul(size).abs().max() <= group["tolerance_change"]:
                break
            if abs(loss - before) < group["tolerance_change"]:
                break
        return first
