import torch
from torch._dynamo.testing import rand_strided

class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x : torch.Tensor, y : torch.Tensor):
        add = torch.add(x, y);  x = y = None
        return (add,)

args = [torch.randn(2, 3), torch.full((2, 3), 1.0, requires_grad=True)]
mod = Repro()
