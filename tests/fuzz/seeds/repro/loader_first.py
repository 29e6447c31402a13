import torch

def load_args(reader):
    buf0 = reader.storage(None, 0)
    reader.tensor(buf0, (2, 3))  # x
    buf1 = reader.storage(None, 4*s5)
    reader.tensor(buf1, (s5,))  # y
load_args._version = 0

class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x : torch.Tensor, y : torch.Tensor):
        add = torch.add(x, y);  x = y = None
        return (add,)

mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
