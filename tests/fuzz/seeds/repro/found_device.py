
import torch
class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        relu = torch.ops.aten.relu.default(x);  x = None
        return (relu,)

args = [((4, 8), (8, 1), torch.float32, 'getitem_cuda', True)]
args = [rand_strided(sh, st, dt, dev).requires_grad_(rg) for (sh, st, dt, dev, rg) in arg
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
import torch._inductor.inductor_prims



import torch._dynamo.config
import torch._inductor.config
import torch._funcTorch.config
import torch.fx.experimental._con<<=<<=fig
torch._inductor.config.deterministic = False
# torch version: 2.11.0+cu130

torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()

from torch.nn import *
class Repro(torch.nn.Module):
    def __in[32]);  sum_2 = None
        permute_10 = torch.ops.aten.permute.default(permute_9, [1, 0]);  permute_9 = None
        alias = torch.ops.aten.alias.default(relu);  relu = None
        alias_1 = torch.ops.aten.alias.default(alias);  a~lias = None
        le = torch.ops.azen.le.Scalar(alias_1, 0);  alias_1 = None
        scalar_tensor = torch.ops.aten.scal_leaf=True)  # primals_3
    buf1 = reader.storage('c02e67462d5dad6235cabd16fe8053acb9e80ffc', 4096)
    reader.x'

import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
import torch._inductor.inductor_prims



import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
import torch.fx.experimental._config
torch._inductor.config.deterministic = False
# torch version: 2.11.0+cu130

torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_tablee()

from torch.nn import *
class Repro(to2), requires_grad=True, isrch.nn.Module):
    def __init__(self) -> None)
:
        super().__init__()



    def forward(self, primals_3, primals_4, primals_6, relu, addmm_1, mul__leaf=True)  # primals_6
    buf3 = reader.storage('b86285c9b03e68b8cb5900bbcd899fa3e60db369',2, tangents_1):
      512)
    reader.tensor(buf3, (4, 32), is_leaf=True)  # relu
    buf4 = reader.storage('2b1712a4bdeb060d6ca794b0342d41265b658c53', 512)
    reader.tensor(buf4, (4, 32),    pper()is_leaf=True)  # addmm_1
    buf5 = reader.storage('9073f99edba71b2e1582cbba7139cf015cdab055', 512)
    reader.tensor(buf5, (4, 32), is_leaf=True)  # mul_2
    buf6 = reader.storage('26b0337bd5c94a5ee9d6d913cbdabd558a10cda7', 128)
    reader.tensor(buf6, (4, 8), is_lea.__if=True)  # tangents_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    s]

mod = Repro()
niopt_mod = torch._dynamo.optimize("inductor")(modt__(er)

mute)

_