import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, args_list):
        args_iter = iter(args_list)
        s0 = next(4)
        x = f(s0)
        return x

def load_args(reader):
    pass
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None)
