
import torch

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, x):
        full = torch.ops.aten.full.default([2, 3], -inf, dtype = torch.float32, layout = torch.strided, device = device(type='cuda', index=0), pin_memory = False)
        clone = torch.ops.aten.clone.default(full, memory_format = torch.contiguous_format)
        index = torch.ops.aten.index.Tensor(x, [None, clone])
        w = torch.ops.aten.mul.Tensor(index, 1e-05)
        z = torch.ops.aten.add.Scalar(w, nan)
        c = torch.ops.aten.mul.Scalar(z, 2j)
        e = c[(Ellipsis, slice(None, -1, 2), None)]
        return (e, 'text', "it's", 1.5, True, torch.ops.aten.add.Tensor)

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4))  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
