
import os
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/x'

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

torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, primals_1, primals_2, primals_3, primals_4, primals_5, primals_6, primals_7):
        permute = torch.ops.aten.permute.default(primals_1, [1, 0]);  primals_1 = None
        addmm = torch.ops.aten.addmm.default(primals_2, primals_3, permute);  primals_2 = permute = None
        relu = torch.ops.aten.relu.default(addmm);  addmm = None
        permute_1 = torch.ops.aten.permute.default(primals_4, [1, 0])
        addmm_1 = torch.ops.aten.addmm.default(primals_5, relu, permute_1);  primals_5 = permute_1 = None
        mul = torch.ops.aten.mul.Tensor(addmm_1, 0.5)
        mul_1 = torch.ops.aten.mul.Tensor(addmm_1, 0.7071067811865476)
        erf = torch.ops.aten.erf.default(mul_1);  mul_1 = None
        add = torch.ops.aten.add.Tensor(erf, 1);  erf = None
        mul_2 = torch.ops.aten.mul.Tensor(mul, add);  mul = add = None
        permute_2 = torch.ops.aten.permute.default(primals_6, [1, 0])
        addmm_2 = torch.ops.aten.addmm.default(primals_7, mul_2, permute_2);  primals_7 = permute_2 = None
        return (addmm_2, primals_3, primals_4, primals_6, relu, addmm_1, mul_2)

def load_args(reader):
    buf0 = reader.storage('8a87cbd80447553e793b582dff94b89fc3b4b9d7', 2048)
    reader.tensor(buf0, (32, 16), requires_grad=True, is_leaf=True)  # primals_1
    buf1 = reader.storage('fe3b05753c73eb826621f69b9e19990d6e1342b7', 128)
    reader.tensor(buf1, (32,), requires_grad=True, is_leaf=True)  # primals_2
    buf2 = reader.storage('7f2622801703826ab0f96bade53a31c7f6bf6bc8', 256)
    reader.tensor(buf2, (4, 16), is_leaf=True)  # primals_3
    buf3 = reader.storage('c02e67462d5dad6235cabd16fe8053acb9e80ffc', 4096)
    reader.tensor(buf3, (32, 32), requires_grad=True, is_leaf=True)  # primals_4
    buf4 = reader.storage('fe8424514c37340b425f25c9dc4d6ff683f3077a', 128)
    reader.tensor(buf4, (32,), requires_grad=True, is_leaf=True)  # primals_5
    buf5 = reader.storage('48ab134b11c4e451cbc6b6d51965028f4a409549', 1024)
    reader.tensor(buf5, (8, 32), requires_grad=True, is_leaf=True)  # primals_6
    buf6 = reader.storage('61221c48b4bb5a25e9d0e58c2b3a3b3675254fea', 32)
    reader.tensor(buf6, (8,), requires_grad=True, is_leaf=True)  # primals_7
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir='.', tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir='.', tracing_mode='real', check_str=None)
        # mod(*args)