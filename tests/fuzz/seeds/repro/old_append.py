
import torch
class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        relu = torch.ops.aten.relu.default(x);  x = None
        return (relu,)

args = []
args.append(rand_strided((4, 8), (8, 1), torch.float32, 'cuda'))  # shape
mod = make_fx(Repro())(*args)
