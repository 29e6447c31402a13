import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = torch.zeros([0, 9223372036854775807, 2])
    def forward(self, x):
        v = -self.a
        return v

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4))  # a0
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None)
