s0 = 4


import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, s0, x):
        view = torch.ops.aten.view.default(x, [s0, 4]);  x = s0 = None
        return (view,)

def load_args(reader):
    reader.symint(4, expr='s0')  # s0
    buf0 = reader.storage(None, 16*s0)
    reader.tensor(buf0, (s0, s0 // 2 + 2), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
