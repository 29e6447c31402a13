from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        mm = torch.ops.aten.mm.default(a, b);  a = b = None
        return [mm]

import torch._dynamo.repro.after_aot
reader = torch._dynamo.repro.after_aot.InputReader(save_dir='/tmp/minifier')
buf0 = reader.storage(None, 256)
t0 = reader.tensor(buf0, (8, 8))
t1 = reader.tensor(buf0, (8, 4), stride=(8, 1))
args = [t0, t1]
mod = make_fx(Repro(), tracing_mode='symbolic')(*args)
