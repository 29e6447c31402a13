
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



    def forward(self, primals_3, primals_4, primals_6, relu, addmm_1, mul_2, tangents_1):
        permute_2 = torch.ops.aten.permute.default(primals_6, [1, 0]);  primals_6 = None
        permute_3 = torch.ops.aten.permute.default(permute_2, [1, 0]);  permute_2 = None
        mm = torch.ops.aten.mm.default(tangents_1, permute_3);  permute_3 = None
        permute_4 = torch.ops.aten.permute.default(tangents_1, [1, 0])
        mm_1 = torch.ops.aten.mm.default(permute_4, mul_2);  permute_4 = mul_2 = None
        permute_5 = torch.ops.aten.permute.default(mm_1, [1, 0]);  mm_1 = None
        sum_1 = torch.ops.aten.sum.dim_IntList(tangents_1, [0], True);  tangents_1 = None
        view = torch.ops.aten.view.default(sum_1, [8]);  sum_1 = None
        permute_6 = torch.ops.aten.permute.default(permute_5, [1, 0]);  permute_5 = None
        mul_1 = torch.ops.aten.mul.Tensor(addmm_1, 0.7071067811865476)
        erf = torch.ops.aten.erf.default(mul_1);  mul_1 = None
        add = torch.ops.aten.add.Tensor(erf, 1);  erf = None
        mul_4 = torch.ops.aten.mul.Tensor(add, 0.5);  add = None
        mul_5 = torch.ops.aten.mul.Tensor(addmm_1, addmm_1)
        mul_6 = torch.ops.aten.mul.Tensor(mul_5, -0.5);  mul_5 = None
        exp = torch.ops.aten.exp.default(mul_6);  mul_6 = None
        mul_7 = torch.ops.aten.mul.Tensor(exp, 0.3989422804014327);  exp = None
        mul_8 = torch.ops.aten.mul.Tensor(addmm_1, mul_7);  addmm_1 = mul_7 = None
        add_2 = torch.ops.aten.add.Tensor(mul_4, mul_8);  mul_4 = mul_8 = None
        mul_9 = torch.ops.aten.mul.Tensor(mm, add_2);  mm = add_2 = None
        permute_1 = torch.ops.aten.permute.default(primals_4, [1, 0]);  primals_4 = None
        permute_7 = torch.ops.aten.permute.default(permute_1, [1, 0]);  permute_1 = None
        mm_2 = torch.ops.aten.mm.default(mul_9, permute_7);  permute_7 = None
        permute_8 = torch.ops.aten.permute.default(mul_9, [1, 0])
        mm_3 = torch.ops.aten.mm.default(permute_8, relu);  permute_8 = None
        permute_9 = torch.ops.aten.permute.default(mm_3, [1, 0]);  mm_3 = None
        sum_2 = torch.ops.aten.sum.dim_IntList(mul_9, [0], True);  mul_9 = None
        view_1 = torch.ops.aten.view.default(sum_2, [32]);  sum_2 = None
        permute_10 = torch.ops.aten.permute.default(permute_9, [1, 0]);  permute_9 = None
        alias = torch.ops.aten.alias.default(relu);  relu = None
        alias_1 = torch.ops.aten.alias.default(alias);  alias = None
        le = torch.ops.aten.le.Scalar(alias_1, 0);  alias_1 = None
        scalar_tensor = torch.ops.aten.scalar_tensor.default(0, dtype = torch.float32, layout = torch.strided, device = device(type='cpu'))
        where = torch.ops.aten.where.self(le, scalar_tensor, mm_2);  le = scalar_tensor = mm_2 = None
        permute_11 = torch.ops.aten.permute.default(where, [1, 0])
        mm_4 = torch.ops.aten.mm.default(permute_11, primals_3);  permute_11 = primals_3 = None
        permute_12 = torch.ops.aten.permute.default(mm_4, [1, 0]);  mm_4 = None
        sum_3 = torch.ops.aten.sum.dim_IntList(where, [0], True);  where = None
        view_2 = torch.ops.aten.view.default(sum_3, [32]);  sum_3 = None
        permute_13 = torch.ops.aten.permute.default(permute_12, [1, 0]);  permute_12 = None
        return (permute_13, view_2, None, permute_10, view_1, permute_6, view)

def load_args(reader):
    buf0 = reader.storage('7f2622801703826ab0f96bade53a31c7f6bf6bc8', 256)
    reader.tensor(buf0, (4, 16), is_leaf=True)  # primals_3
    buf1 = reader.storage('c02e67462d5dad6235cabd16fe8053acb9e80ffc', 4096)
    reader.tensor(buf1, (32, 32), requires_grad=True, is_leaf=True)  # primals_4
    buf2 = reader.storage('48ab134b11c4e451cbc6b6d51965028f4a409549', 1024)
    reader.tensor(buf2, (8, 32), requires_grad=True, is_leaf=True)  # primals_6
    buf3 = reader.storage('b86285c9b03e68b8cb5900bbcd899fa3e60db369', 512)
    reader.tensor(buf3, (4, 32), is_leaf=True)  # relu
    buf4 = reader.storage('2b1712a4bdeb060d6ca794b0342d41265b658c53', 512)
    reader.tensor(buf4, (4, 32), is_leaf=True)  # addmm_1
    buf5 = reader.storage('9073f99edba71b2e1582cbba7139cf015cdab055', 512)
    reader.tensor(buf5, (4, 32), is_leaf=True)  # mul_2
    buf6 = reader.storage('26b0337bd5c94a5ee9d6d913cbdabd558a10cda7', 128)
    reader.tensor(buf6, (4, 8), is_leaf=True)  # tangents_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir='.', tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir='.', tracing_mode='real', check_str=None)
        # mod(*args)