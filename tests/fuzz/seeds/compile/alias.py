
import torch

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, a, b):
        add = torch.ops.aten.add.Tensor(a, b, alpha = 2);  a = b = None
        getitem = add[(slice(None, None, None), 1)]
        return (getitem,)

def load_args(reader):
    buf0 = reader.storage('0123456789abcdef0123456789abcdef01234567', 128, device=device(type='cuda', index=0), dtype_hint=torch.float16)
    reader.tensor(buf0, (4, 4), (1, 4), dtype=torch.float16, storage_offset=3, conj=True, requires_grad=True, is_leaf=True)  # a
    reader.tensor(buf0, (4, 4), dtype=torch.float16)  # b
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
