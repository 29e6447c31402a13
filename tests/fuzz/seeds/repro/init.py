
import torch

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.g = <lambda>()
        self.seq = Sequential(
          (0): ReLU()
        )
        self.register_buffer('c', tensor([[1., -inf], [nan, 2.5000e-05]]))
        self.register_buffer('d', torch.randint(1, size=[7], dtype=torch.int64).cuda())
        self.p = torch.nn.Parameter(torch.randn([3], dtype=torch.float16, device="cuda"))



    def forward(self, x):
        c = self.c
        d = self.d
        p = self.p
        return (c, d, p, x)

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4))  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
