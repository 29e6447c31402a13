"""Initial weights and random layers: the numbers of PyTorch."""

import torch
import torch.nn as nn


def near(tensor, values):
    assert torch.allclose(tensor.detach().reshape(-1), torch.tensor(values), atol=5e-5), tensor


def test_randn_after_seed_0():
    torch.manual_seed(0)
    near(torch.randn(3), [1.5410, -0.2934, -2.1788])


def test_linear_after_seed_0():
    torch.manual_seed(0)
    lin = nn.Linear(2, 2)
    near(lin.weight, [-0.0053, 0.3793, -0.5820, -0.5204])
    near(lin.bias, [-0.2723, 0.1896])


def test_fork_rng_leaves_the_state():
    torch.manual_seed(0)
    with torch.random.fork_rng():
        torch.randn(10)
    near(torch.randn(3), [1.5410, -0.2934, -2.1788])


def test_constant_and_orthogonal():
    w = torch.empty(3, 3)
    nn.init.eye_(w)
    assert torch.equal(w, torch.eye(3))
    nn.init.orthogonal_(w)
    assert torch.allclose(w @ w.T, torch.eye(3), atol=1e-5)
    t = nn.init.trunc_normal_(torch.empty(1000), std=0.5, a=-0.6, b=0.6)
    assert t.abs().max() <= 0.6
    assert nn.init.calculate_gain("leaky_relu", 0.2) == (2 / (1 + 0.2**2)) ** 0.5
