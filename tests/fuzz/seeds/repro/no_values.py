import torch

class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, x, y):
        add = torch.add(x, y);  x = y = None
        return (add,)

def load_args(reader):
    reader.symint(None)  # a
    buf0 = reader.storage(None, 0)
    reader.tensor(buf0, (2, 3))  # x
    buf1 = reader.storage(None, 4*s5)
    reader.tensor(buf1, (s5,))  # y
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
