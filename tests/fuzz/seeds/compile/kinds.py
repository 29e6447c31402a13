
import torch

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, a, b, c, d, e, f):
        add = a + 2
        return (a, b, add, None, [c, d], {'k': e}, f)

def load_args(reader):
    reader.symint(7)  # a
    reader.symint(14, expr='2*s0')  # b
    reader.const('c')  # c, filtered out during compilation
    reader.unsupported('d')  # unsupported type for dumping: <class 'list'>
    """
    buf0 = reader.storage(None, 16)
    reader.tensor(buf0, (4,))  # d[0]
    """
    reader.generator('cuda', 0)  # e
    reader.tensor(buf0, (2, 2))  # f
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
