import torch
from torch._dynamo.testing import rand_strided

args = [((2, 3), (3, 1), torch.float32, 'cpu', False), ((2, 3), (3, 1), torch.float32, 'cpu', False)]
args = [rand_strided(sh, st, dt, dev).requires_grad_(rg) for (sh, st, dt, dev, rg) in args]

class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x : torch.Tensor, y : torch.Tensor):
        add = torch.add(x, y);  x = y = None
        return (add,)

mod = Repro()
