import torch
class class(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x):
        return x

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4))  # a0
load_args._version = 0
mod = class()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None)
