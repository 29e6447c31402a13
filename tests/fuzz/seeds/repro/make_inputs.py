import torch
from torch._dynamo.testing import rand_strided

def make_inputs():
    return [torch.zeros(s1, 3), torch.ones([s1, 3])]

class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x : torch.Tensor, y : torch.Tensor):
        add = torch.add(x, y);  x = y = None
        return (add,)

mod = Repro()
