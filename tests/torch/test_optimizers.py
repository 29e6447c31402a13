"""Optimizers and learning rates against their formulas."""

import torch
from torch import nn, optim


def step_once(kind, **options):
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    opt = kind([p], **options)
    for _ in range(3):
        opt.zero_grad()
        (p * p).sum().backward()
        opt.step()
    return p.detach(), opt


def test_sgd_with_momentum():
    p, _ = step_once(optim.SGD, lr=0.1, momentum=0.9)
    x, v = torch.tensor([1.0, -2.0]), torch.zeros(2)
    for i in range(3):
        v = 2 * x if i == 0 else 0.9 * v + 2 * x
        x = x - 0.1 * v
    assert torch.allclose(p, x)


def test_adam_and_adamw():
    for kind, decay in ((optim.Adam, 0.0), (optim.AdamW, 0.01)):
        p, _ = step_once(kind, lr=0.1)
        x, m, v = torch.tensor([1.0, -2.0]), torch.zeros(2), torch.zeros(2)
        for t in range(1, 4):
            g = 2 * x
            x = x * (1 - 0.1 * decay)
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            x = x - 0.1 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
        assert torch.allclose(p, x, atol=1e-6), kind


def test_all_optimizers_go_down():
    for kind in (optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad, optim.Adadelta, optim.Adamax,
                 optim.NAdam, optim.RAdam, optim.ASGD, optim.Rprop):
        p, opt = step_once(kind)
        assert (p.abs() < torch.tensor([1.0, 2.0])).all(), kind


def test_lbfgs_solves_a_square():
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    opt = optim.LBFGS([p], lr=0.5)

    def closure():
        opt.zero_grad()
        loss = ((p - 3) ** 2).sum()
        loss.backward()
        return loss

    for _ in range(5):
        opt.step(closure)
    assert torch.allclose(p, torch.full((2,), 3.0), atol=1e-3)


def test_state_travels():
    _, opt = step_once(optim.Adam, lr=0.1)
    state = opt.state_dict()
    assert state["param_groups"][0]["params"] == [0] and state["state"][0]["step"].item() == 3
    other = optim.Adam([nn.Parameter(torch.ones(2))], lr=1.0)
    other.load_state_dict(state)
    assert other.param_groups[0]["lr"] == 0.1
    assert torch.equal(next(iter(other.state.values()))["exp_avg"], state["state"][0]["exp_avg"])


def test_schedules():
    def rates(make, steps=5):
        opt = optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        sched = make(opt)
        made = [opt.param_groups[0]["lr"]]
        for _ in range(steps):
            opt.step()
            sched.step()
            made.append(round(opt.param_groups[0]["lr"], 6))
        return made

    s = optim.lr_scheduler
    assert rates(lambda o: s.StepLR(o, 2, 0.5)) == [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]
    assert rates(lambda o: s.ExponentialLR(o, 0.5), 2) == [1.0, 0.5, 0.25]
    assert rates(lambda o: s.LambdaLR(o, lambda e: 1 / (e + 1)), 2) == [1.0, 0.5, 0.333333]
    assert rates(lambda o: s.CosineAnnealingLR(o, 4), 4) == [1.0, 0.853553, 0.5, 0.146447, 0.0]
    assert rates(lambda o: s.LinearLR(o, 0.5, total_iters=2), 3) == [0.5, 0.75, 1.0, 1.0]
    assert rates(lambda o: s.MultiStepLR(o, [1, 3], 0.1), 3) == [1.0, 0.1, 0.1, 0.01]


def test_clipping():
    p = nn.Parameter(torch.tensor([3.0, 4.0]))
    (p * p).sum().backward()
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == 10.0
    assert torch.allclose(p.grad, torch.tensor([0.6, 0.8]), atol=1e-5)
    assert nn.utils.parameters_to_vector([p]).shape == (2,)
