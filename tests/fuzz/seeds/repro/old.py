
import torch
class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        relu = torch.ops.aten.relu.default(x);  x = None
        return (relu,)

args = [((4, 8), (8, 1), torch.float32, 'cuda', True)]
args = [rand_strided(sh, st, dt, dev).requires_grad_(rg) for (sh, st, dt, dev, rg) in args]

mod = Repro()
opt_mod = torch._dynamo.optimize("inductor")(mod)
