
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



    def forward(self, primals_1, primals_2, primals_3, primals_4, primals_5, primals_6, primals_7, primals_8, primals_9, primals_10, primals_11, primals_12, primals_13, primals_14, primals_15, primals_16, primals_17):
        convolution = torch.ops.aten.convolution.default(primals_3, primals_1, primals_2, [1, 1], [1, 1], [1, 1], False, [0, 0], 1);  primals_2 = None
        add = torch.ops.aten.add.Tensor(primals_4, 1);  primals_4 = None
        var_mean = torch.ops.aten.var_mean.correction(convolution, [0, 2, 3], correction = 0, keepdim = True)
        getitem = var_mean[0]
        getitem_1 = var_mean[1];  var_mean = None
        add_1 = torch.ops.aten.add.Tensor(getitem, 1e-05)
        rsqrt = torch.ops.aten.rsqrt.default(add_1);  add_1 = None
        sub = torch.ops.aten.sub.Tensor(convolution, getitem_1)
        mul = torch.ops.aten.mul.Tensor(sub, rsqrt);  sub = None
        squeeze = torch.ops.aten.squeeze.dims(getitem_1, [0, 2, 3]);  getitem_1 = None
        squeeze_1 = torch.ops.aten.squeeze.dims(rsqrt, [0, 2, 3]);  rsqrt = None
        mul_1 = torch.ops.aten.mul.Tensor(squeeze, 0.1)
        mul_2 = torch.ops.aten.mul.Tensor(primals_5, 0.9);  primals_5 = None
        add_2 = torch.ops.aten.add.Tensor(mul_1, mul_2);  mul_1 = mul_2 = None
        squeeze_2 = torch.ops.aten.squeeze.dims(getitem, [0, 2, 3]);  getitem = None
        mul_3 = torch.ops.aten.mul.Tensor(squeeze_2, 1.0019569471624266);  squeeze_2 = None
        mul_4 = torch.ops.aten.mul.Tensor(mul_3, 0.1);  mul_3 = None
        mul_5 = torch.ops.aten.mul.Tensor(primals_6, 0.9);  primals_6 = None
        add_3 = torch.ops.aten.add.Tensor(mul_4, mul_5);  mul_4 = mul_5 = None
        unsqueeze = torch.ops.aten.unsqueeze.default(primals_7, -1)
        unsqueeze_1 = torch.ops.aten.unsqueeze.default(unsqueeze, -1);  unsqueeze = None
        mul_6 = torch.ops.aten.mul.Tensor(mul, unsqueeze_1);  mul = unsqueeze_1 = None
        unsqueeze_2 = torch.ops.aten.unsqueeze.default(primals_8, -1);  primals_8 = None
        unsqueeze_3 = torch.ops.aten.unsqueeze.default(unsqueeze_2, -1);  unsqueeze_2 = None
        add_4 = torch.ops.aten.add.Tensor(mul_6, unsqueeze_3);  mul_6 = unsqueeze_3 = None
        relu = torch.ops.aten.relu.default(add_4);  add_4 = None
        convolution_1 = torch.ops.aten.convolution.default(relu, primals_9, primals_10, [2, 2], [1, 1], [1, 1], False, [0, 0], 1);  primals_10 = None
        add_5 = torch.ops.aten.add.Tensor(primals_11, 1);  primals_11 = None
        var_mean_1 = torch.ops.aten.var_mean.correction(convolution_1, [0, 2, 3], correction = 0, keepdim = True)
        getitem_2 = var_mean_1[0]
        getitem_3 = var_mean_1[1];  var_mean_1 = None
        add_6 = torch.ops.aten.add.Tensor(getitem_2, 1e-05)
        rsqrt_1 = torch.ops.aten.rsqrt.default(add_6);  add_6 = None
        sub_1 = torch.ops.aten.sub.Tensor(convolution_1, getitem_3)
        mul_7 = torch.ops.aten.mul.Tensor(sub_1, rsqrt_1);  sub_1 = None
        squeeze_3 = torch.ops.aten.squeeze.dims(getitem_3, [0, 2, 3]);  getitem_3 = None
        squeeze_4 = torch.ops.aten.squeeze.dims(rsqrt_1, [0, 2, 3]);  rsqrt_1 = None
        mul_8 = torch.ops.aten.mul.Tensor(squeeze_3, 0.1)
        mul_9 = torch.ops.aten.mul.Tensor(primals_12, 0.9);  primals_12 = None
        add_7 = torch.ops.aten.add.Tensor(mul_8, mul_9);  mul_8 = mul_9 = None
        squeeze_5 = torch.ops.aten.squeeze.dims(getitem_2, [0, 2, 3]);  getitem_2 = None
        mul_10 = torch.ops.aten.mul.Tensor(squeeze_5, 1.0078740157480315);  squeeze_5 = None
        mul_11 = torch.ops.aten.mul.Tensor(mul_10, 0.1);  mul_10 = None
        mul_12 = torch.ops.aten.mul.Tensor(primals_13, 0.9);  primals_13 = None
        add_8 = torch.ops.aten.add.Tensor(mul_11, mul_12);  mul_11 = mul_12 = None
        unsqueeze_4 = torch.ops.aten.unsqueeze.default(primals_14, -1)
        unsqueeze_5 = torch.ops.aten.unsqueeze.default(unsqueeze_4, -1);  unsqueeze_4 = None
        mul_13 = torch.ops.aten.mul.Tensor(mul_7, unsqueeze_5);  mul_7 = unsqueeze_5 = None
        unsqueeze_6 = torch.ops.aten.unsqueeze.default(primals_15, -1);  primals_15 = None
        unsqueeze_7 = torch.ops.aten.unsqueeze.default(unsqueeze_6, -1);  unsqueeze_6 = None
        add_9 = torch.ops.aten.add.Tensor(mul_13, unsqueeze_7);  mul_13 = unsqueeze_7 = None
        relu_1 = torch.ops.aten.relu.default(add_9);  add_9 = None
        _low_memory_max_pool_with_offsets = torch.ops.prims._low_memory_max_pool_with_offsets.default(relu_1, [2, 2], [2, 2], [0, 0], [1, 1], False)
        getitem_4 = _low_memory_max_pool_with_offsets[0]
        getitem_5 = _low_memory_max_pool_with_offsets[1];  _low_memory_max_pool_with_offsets = None
        mean = torch.ops.aten.mean.dim(getitem_4, [2, 3]);  getitem_4 = None
        permute = torch.ops.aten.permute.default(primals_16, [1, 0])
        addmm = torch.ops.aten.addmm.default(primals_17, mean, permute);  primals_17 = permute = None
        unsqueeze_10 = torch.ops.aten.unsqueeze.default(squeeze_3, 0);  squeeze_3 = None
        unsqueeze_11 = torch.ops.aten.unsqueeze.default(unsqueeze_10, 2);  unsqueeze_10 = None
        unsqueeze_12 = torch.ops.aten.unsqueeze.default(unsqueeze_11, 3);  unsqueeze_11 = None
        unsqueeze_22 = torch.ops.aten.unsqueeze.default(squeeze, 0);  squeeze = None
        unsqueeze_23 = torch.ops.aten.unsqueeze.default(unsqueeze_22, 2);  unsqueeze_22 = None
        unsqueeze_24 = torch.ops.aten.unsqueeze.default(unsqueeze_23, 3);  unsqueeze_23 = None
        return (add, add_2, add_3, add_5, add_7, add_8, addmm, primals_1, primals_3, primals_7, primals_9, primals_14, primals_16, convolution, squeeze_1, relu, convolution_1, squeeze_4, relu_1, getitem_5, mean, unsqueeze_12, unsqueeze_24)

def load_args(reader):
    buf0 = reader.storage('35bcbe4fe226660d94f220ab0d7007b6a9f7abfc', 864)
    reader.tensor(buf0, (8, 3, 3, 3), requires_grad=True, is_leaf=True)  # primals_1
    buf1 = reader.storage('41c6b295bbb76dc6f44c87e77ee91262700e022e', 32)
    reader.tensor(buf1, (8,), requires_grad=True, is_leaf=True)  # primals_2
    buf2 = reader.storage('c9e6c4f9d2e38eb77dcf17f493ac33400c771d77', 6144)
    reader.tensor(buf2, (2, 3, 16, 16), is_leaf=True)  # primals_3
    buf3 = reader.storage('32850beb23036d2f0c121f7a5a566d975fb17679', 8, dtype_hint=torch.int64)
    reader.tensor(buf3, (), dtype=torch.int64, is_leaf=True)  # primals_4
    buf4 = reader.storage('141e970a599c1019469e5a20398744ce3e2bc5c4', 32)
    reader.tensor(buf4, (8,), is_leaf=True)  # primals_5
    buf5 = reader.storage('551e970ab79c1019451e5a20c08744ce1c2bc5c4', 32)
    reader.tensor(buf5, (8,), is_leaf=True)  # primals_6
    buf6 = reader.storage('551e970ab79c1019451e5a20c08744ce1c2bc5c4', 32)
    reader.tensor(buf6, (8,), requires_grad=True, is_leaf=True)  # primals_7
    buf7 = reader.storage('141e970a599c1019469e5a20398744ce3e2bc5c4', 32)
    reader.tensor(buf7, (8,), requires_grad=True, is_leaf=True)  # primals_8
    buf8 = reader.storage('5ff09cb0b099b604a1c92d378a2630e9b4eac8d2', 4608)
    reader.tensor(buf8, (16, 8, 3, 3), requires_grad=True, is_leaf=True)  # primals_9
    buf9 = reader.storage('281cf39e9c742ff4ee0ec63e1e88405af1a5086c', 64)
    reader.tensor(buf9, (16,), requires_grad=True, is_leaf=True)  # primals_10
    buf10 = reader.storage('32850beb23036d2f0c121f7a5a566d975fb17679', 8, dtype_hint=torch.int64)
    reader.tensor(buf10, (), dtype=torch.int64, is_leaf=True)  # primals_11
    buf11 = reader.storage('3f187cb133f589f5136cb0ec5c84fcc70cf2e005', 64)
    reader.tensor(buf11, (16,), is_leaf=True)  # primals_12
    buf12 = reader.storage('e0987cb184f589f5d16cb0ec3604fcc793f2e005', 64)
    reader.tensor(buf12, (16,), is_leaf=True)  # primals_13
    buf13 = reader.storage('e0987cb184f589f5d16cb0ec3604fcc793f2e005', 64)
    reader.tensor(buf13, (16,), requires_grad=True, is_leaf=True)  # primals_14
    buf14 = reader.storage('3f187cb133f589f5136cb0ec5c84fcc70cf2e005', 64)
    reader.tensor(buf14, (16,), requires_grad=True, is_leaf=True)  # primals_15
    buf15 = reader.storage('c6fca369f33804afe08ebe3ae67f60c57e14d330', 640)
    reader.tensor(buf15, (10, 16), requires_grad=True, is_leaf=True)  # primals_16
    buf16 = reader.storage('cf9c70dd1ebcf2bcdf33257de06ef291b83715b1', 40)
    reader.tensor(buf16, (10,), requires_grad=True, is_leaf=True)  # primals_17
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir='.', tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir='.', tracing_mode='real', check_str=None)
        # mod(*args)