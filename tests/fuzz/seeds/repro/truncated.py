
import torch

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, x):
        relu = torch.ops.aten.relu.default(x);  x = None
        return (relu,)

def load_args(reader):
    buf0 = reader.storage(None, 64)
    