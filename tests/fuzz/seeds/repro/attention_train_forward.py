
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



    def forward(self, primals_1, primals_2, primals_3, primals_4, primals_5, primals_6, primals_7, primals_8, primals_9):
        view = torch.ops.aten.view.default(primals_1, [20, 32])
        permute = torch.ops.aten.permute.default(primals_2, [1, 0]);  primals_2 = None
        addmm = torch.ops.aten.addmm.default(primals_3, view, permute);  primals_3 = permute = None
        view_1 = torch.ops.aten.view.default(addmm, [2, 10, 32]);  addmm = None
        view_2 = torch.ops.aten.view.default(view_1, [2, 10, 4, 8]);  view_1 = None
        permute_1 = torch.ops.aten.permute.default(view_2, [0, 2, 1, 3]);  view_2 = None
        permute_2 = torch.ops.aten.permute.default(primals_4, [1, 0]);  primals_4 = None
        addmm_1 = torch.ops.aten.addmm.default(primals_5, view, permute_2);  primals_5 = permute_2 = None
        view_4 = torch.ops.aten.view.default(addmm_1, [2, 10, 32]);  addmm_1 = None
        view_5 = torch.ops.aten.view.default(view_4, [2, 10, 4, 8]);  view_4 = None
        permute_3 = torch.ops.aten.permute.default(view_5, [0, 2, 1, 3]);  view_5 = None
        permute_4 = torch.ops.aten.permute.default(primals_6, [1, 0]);  primals_6 = None
        addmm_2 = torch.ops.aten.addmm.default(primals_7, view, permute_4);  primals_7 = permute_4 = None
        view_7 = torch.ops.aten.view.default(addmm_2, [2, 10, 32]);  addmm_2 = None
        view_8 = torch.ops.aten.view.default(view_7, [2, 10, 4, 8]);  view_7 = None
        permute_5 = torch.ops.aten.permute.default(view_8, [0, 2, 1, 3]);  view_8 = None
        permute_6 = torch.ops.aten.permute.default(permute_3, [0, 1, 3, 2]);  permute_3 = None
        expand = torch.ops.aten.expand.default(permute_1, [2, 4, 10, 8]);  permute_1 = None
        clone = torch.ops.aten.clone.default(expand, memory_format = torch.contiguous_format);  expand = None
        view_9 = torch.ops.aten.view.default(clone, [8, 10, 8]);  clone = None
        expand_1 = torch.ops.aten.expand.default(permute_6, [2, 4, 8, 10]);  permute_6 = None
        clone_1 = torch.ops.aten.clone.default(expand_1, memory_format = torch.contiguous_format);  expand_1 = None
        view_10 = torch.ops.aten.view.default(clone_1, [8, 8, 10]);  clone_1 = None
        bmm = torch.ops.aten.bmm.default(view_9, view_10)
        view_11 = torch.ops.aten.view.default(bmm, [2, 4, 10, 10]);  bmm = None
        div = torch.ops.aten.div.Tensor(view_11, 2.8284271247461903);  view_11 = None
        amax = torch.ops.aten.amax.default(div, [-1], True)
        sub = torch.ops.aten.sub.Tensor(div, amax);  div = amax = None
        exp = torch.ops.aten.exp.default(sub);  sub = None
        sum_1 = torch.ops.aten.sum.dim_IntList(exp, [-1], True)
        div_1 = torch.ops.aten.div.Tensor(exp, sum_1);  exp = sum_1 = None
        expand_2 = torch.ops.aten.expand.default(div_1, [2, 4, 10, 10])
        view_12 = torch.ops.aten.view.default(expand_2, [8, 10, 10]);  expand_2 = None
        expand_3 = torch.ops.aten.expand.default(permute_5, [2, 4, 10, 8]);  permute_5 = None
        clone_2 = torch.ops.aten.clone.default(expand_3, memory_format = torch.contiguous_format);  expand_3 = None
        view_13 = torch.ops.aten.view.default(clone_2, [8, 10, 8]);  clone_2 = None
        bmm_1 = torch.ops.aten.bmm.default(view_12, view_13);  view_12 = None
        view_14 = torch.ops.aten.view.default(bmm_1, [2, 4, 10, 8]);  bmm_1 = None
        permute_7 = torch.ops.aten.permute.default(view_14, [0, 2, 1, 3]);  view_14 = None
        clone_3 = torch.ops.aten.clone.default(permute_7, memory_format = torch.contiguous_format);  permute_7 = None
        view_15 = torch.ops.aten.view.default(clone_3, [2, 10, 32]);  clone_3 = None
        add = torch.ops.aten.add.Tensor(primals_1, view_15);  primals_1 = view_15 = None
        var_mean = torch.ops.aten.var_mean.correction(add, [2], correction = 0, keepdim = True)
        getitem = var_mean[0]
        getitem_1 = var_mean[1];  var_mean = None
        add_1 = torch.ops.aten.add.Tensor(getitem, 1e-05);  getitem = None
        rsqrt = torch.ops.aten.rsqrt.default(add_1);  add_1 = None
        sub_1 = torch.ops.aten.sub.Tensor(add, getitem_1);  add = getitem_1 = None
        mul = torch.ops.aten.mul.Tensor(sub_1, rsqrt);  sub_1 = None
        mul_1 = torch.ops.aten.mul.Tensor(mul, primals_8)
        add_2 = torch.ops.aten.add.Tensor(mul_1, primals_9);  mul_1 = primals_9 = None
        div_2 = torch.ops.aten.div.Tensor(rsqrt, 32);  rsqrt = None
        permute_10 = torch.ops.aten.permute.default(view_13, [0, 2, 1]);  view_13 = None
        permute_11 = torch.ops.aten.permute.default(view_9, [0, 2, 1]);  view_9 = None
        permute_12 = torch.ops.aten.permute.default(view_10, [0, 2, 1]);  view_10 = None
        return (add_2, primals_8, view, div_1, mul, div_2, permute_10, permute_11, permute_12)

def load_args(reader):
    buf0 = reader.storage('f903594321a05e7059af9be8f99ce6490ccd00ce', 2560)
    reader.tensor(buf0, (2, 10, 32), is_leaf=True)  # primals_1
    buf1 = reader.storage('eca513dab143f737c0eba319703c0695506a47c3', 4096)
    reader.tensor(buf1, (32, 32), requires_grad=True, is_leaf=True)  # primals_2
    buf2 = reader.storage('b213e7404c53bdb84e984a808a757f3aba68dc80', 128)
    reader.tensor(buf2, (32,), requires_grad=True, is_leaf=True)  # primals_3
    buf3 = reader.storage('2eee99eec4d82ff01103ae45e56301becbe2e987', 4096)
    reader.tensor(buf3, (32, 32), requires_grad=True, is_leaf=True)  # primals_4
    buf4 = reader.storage('01ab07bc3f7e2a47352422bd66800c750f7a1d83', 128)
    reader.tensor(buf4, (32,), requires_grad=True, is_leaf=True)  # primals_5
    buf5 = reader.storage('6433511f24cb9dd6e97b17c99ed44b0b46e3a904', 4096)
    reader.tensor(buf5, (32, 32), requires_grad=True, is_leaf=True)  # primals_6
    buf6 = reader.storage('50aad5a7ec394dc977ee014bde94f5a35edf2a4b', 128)
    reader.tensor(buf6, (32,), requires_grad=True, is_leaf=True)  # primals_7
    buf7 = reader.storage('fd30337b59c94a5e6256d913addabd553690cda7', 128)
    reader.tensor(buf7, (32,), requires_grad=True, is_leaf=True)  # primals_8
    buf8 = reader.storage('0db0337b0bc94a5e44d6d91375dabd556110cda7', 128)
    reader.tensor(buf8, (32,), requires_grad=True, is_leaf=True)  # primals_9
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir='.', tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir='.', tracing_mode='real', check_str=None)
        # mod(*args)