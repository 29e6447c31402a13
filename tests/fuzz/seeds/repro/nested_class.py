
import torch
class true_graph_0(torch.nn.Module):
    def forward(self, y):
        sin = torch.ops.aten.sin.default(y);  y = None
        return (sin,)

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.true_graph_0 = true_graph_0()



    def forward(self, x):
        true_graph_0 = self.true_graph_0
        cond = torch.ops.higher_order.cond(x, true_graph_0, true_graph_0, (x,));  x = true_graph_0 = None
        getitem = cond[0];  cond = None
        return (getitem,)

def load_args(reader):
    buf0 = reader.storage(None, 64)
    reader.tensor(buf0, (4, 4))  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
