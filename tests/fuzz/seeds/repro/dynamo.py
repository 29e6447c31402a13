
import torch

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, L_x_ : torch.Tensor):
        l_x_ = L_x_
        view = l_x_.view(-1)
        v = view[slice(2, 6, None)];  view = None
        gt = v > 0
        return (v, gt)


mod = Repro()

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4), is_leaf=True)  # L_x_
load_args._version = 0

if __name__ == '__main__':
    from torch._dynamo.repro.after_dynamo import run_repro
    run_repro(mod, load_args, accuracy=False, command='minify',
        save_dir='/tmp/checkpoints', autocast=False, backend='inductor')
