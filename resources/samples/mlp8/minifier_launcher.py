
import os

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
torch._functorch.config.fake_tensor_allow_unsafe_data_ptr_access = True



isolate_fails_code_str = None





if "__compile_source__" in globals():
    import inspect as __after_aot_inspect
    import linecache as __after_aot_linecache
    __after_aot_filename = __after_aot_inspect.currentframe().f_code.co_filename
    __after_aot_linecache.cache[__after_aot_filename] = (
        len(__compile_source__),
        None,
        __compile_source__.splitlines(True),
        __after_aot_filename,
    )
# torch version: 2.11.0+cu130
# torch cuda version: 13.0
# torch git version: 70d99e998b4955e0049d13a98d77ae1b14db1f45


# CUDA Info: 
# nvcc: NVIDIA (R) Cuda compiler driver 
# Copyright (c) 2005-2025 NVIDIA Corporation 
# Built on Wed_Aug_20_01:58:59_PM_PDT_2025 
# Cuda compilation tools, release 13.0, V13.0.88 
# Build cuda_13.0.r13.0/compiler.36424714_0 

# GPU Hardware Info: 
# NVIDIA H200 : 1 

torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1, arg6_1, arg7_1, arg8_1, arg9_1, arg10_1, arg11_1, arg12_1, arg13_1, arg14_1, arg15_1, arg16_1, arg17_1, arg18_1, arg19_1, arg20_1, arg21_1, arg22_1, arg23_1, arg24_1):
        permute = torch.ops.aten.permute.default(arg0_1, [1, 0]);  arg0_1 = None
        addmm = torch.ops.aten.addmm.default(arg1_1, arg2_1, permute);  arg1_1 = permute = None
        tanh = torch.ops.aten.tanh.default(addmm);  addmm = None
        mul = torch.ops.aten.mul.Tensor(arg2_1, 0.5);  arg2_1 = None
        add = torch.ops.aten.add.Tensor(tanh, mul);  tanh = mul = None
        permute_1 = torch.ops.aten.permute.default(arg3_1, [1, 0]);  arg3_1 = None
        addmm_1 = torch.ops.aten.addmm.default(arg4_1, add, permute_1);  arg4_1 = permute_1 = None
        sigmoid = torch.ops.aten.sigmoid.default(addmm_1);  addmm_1 = None
        mul_1 = torch.ops.aten.mul.Tensor(add, 0.5);  add = None
        add_1 = torch.ops.aten.add.Tensor(sigmoid, mul_1);  sigmoid = mul_1 = None
        permute_2 = torch.ops.aten.permute.default(arg5_1, [1, 0]);  arg5_1 = None
        addmm_2 = torch.ops.aten.addmm.default(arg6_1, add_1, permute_2);  arg6_1 = permute_2 = None
        mul_2 = torch.ops.aten.mul.Tensor(addmm_2, 0.5)
        mul_3 = torch.ops.aten.mul.Tensor(addmm_2, 0.7071067811865476);  addmm_2 = None
        erf = torch.ops.aten.erf.default(mul_3);  mul_3 = None
        add_2 = torch.ops.aten.add.Tensor(erf, 1);  erf = None
        mul_4 = torch.ops.aten.mul.Tensor(mul_2, add_2);  mul_2 = add_2 = None
        mul_5 = torch.ops.aten.mul.Tensor(add_1, 0.5);  add_1 = None
        add_3 = torch.ops.aten.add.Tensor(mul_4, mul_5);  mul_4 = mul_5 = None
        permute_3 = torch.ops.aten.permute.default(arg7_1, [1, 0]);  arg7_1 = None
        addmm_3 = torch.ops.aten.addmm.default(arg8_1, add_3, permute_3);  arg8_1 = permute_3 = None
        tanh_1 = torch.ops.aten.tanh.default(addmm_3);  addmm_3 = None
        mul_6 = torch.ops.aten.mul.Tensor(add_3, 0.5);  add_3 = None
        add_4 = torch.ops.aten.add.Tensor(tanh_1, mul_6);  tanh_1 = mul_6 = None
        permute_4 = torch.ops.aten.permute.default(arg9_1, [1, 0]);  arg9_1 = None
        addmm_4 = torch.ops.aten.addmm.default(arg10_1, add_4, permute_4);  arg10_1 = permute_4 = None
        sigmoid_1 = torch.ops.aten.sigmoid.default(addmm_4);  addmm_4 = None
        mul_7 = torch.ops.aten.mul.Tensor(add_4, 0.5);  add_4 = None
        add_5 = torch.ops.aten.add.Tensor(sigmoid_1, mul_7);  sigmoid_1 = mul_7 = None
        permute_5 = torch.ops.aten.permute.default(arg11_1, [1, 0]);  arg11_1 = None
        addmm_5 = torch.ops.aten.addmm.default(arg12_1, add_5, permute_5);  arg12_1 = permute_5 = None
        relu = torch.ops.aten.relu.default(addmm_5);  addmm_5 = None
        mul_8 = torch.ops.aten.mul.Tensor(add_5, 0.5);  add_5 = None
        add_6 = torch.ops.aten.add.Tensor(relu, mul_8);  relu = mul_8 = None
        permute_6 = torch.ops.aten.permute.default(arg13_1, [1, 0]);  arg13_1 = None
        addmm_6 = torch.ops.aten.addmm.default(arg14_1, add_6, permute_6);  arg14_1 = permute_6 = None
        tanh_2 = torch.ops.aten.tanh.default(addmm_6);  addmm_6 = None
        mul_9 = torch.ops.aten.mul.Tensor(add_6, 0.5);  add_6 = None
        add_7 = torch.ops.aten.add.Tensor(tanh_2, mul_9);  tanh_2 = mul_9 = None
        permute_7 = torch.ops.aten.permute.default(arg15_1, [1, 0]);  arg15_1 = None
        addmm_7 = torch.ops.aten.addmm.default(arg16_1, add_7, permute_7);  arg16_1 = permute_7 = None
        neg = torch.ops.aten.neg.default(addmm_7)
        exp = torch.ops.aten.exp.default(neg);  neg = None
        add_8 = torch.ops.aten.add.Tensor(exp, 1);  exp = None
        div = torch.ops.aten.div.Tensor(addmm_7, add_8);  addmm_7 = add_8 = None
        mul_10 = torch.ops.aten.mul.Tensor(add_7, 0.5);  add_7 = None
        add_9 = torch.ops.aten.add.Tensor(div, mul_10);  div = mul_10 = None
        permute_8 = torch.ops.aten.permute.default(arg17_1, [1, 0]);  arg17_1 = None
        addmm_8 = torch.ops.aten.addmm.default(arg18_1, add_9, permute_8);  arg18_1 = permute_8 = None
        tanh_3 = torch.ops.aten.tanh.default(addmm_8);  addmm_8 = None
        mul_11 = torch.ops.aten.mul.Tensor(add_9, 0.5);  add_9 = None
        add_10 = torch.ops.aten.add.Tensor(tanh_3, mul_11);  tanh_3 = mul_11 = None
        permute_9 = torch.ops.aten.permute.default(arg19_1, [1, 0]);  arg19_1 = None
        addmm_9 = torch.ops.aten.addmm.default(arg20_1, add_10, permute_9);  arg20_1 = permute_9 = None
        sigmoid_2 = torch.ops.aten.sigmoid.default(addmm_9);  addmm_9 = None
        mul_12 = torch.ops.aten.mul.Tensor(add_10, 0.5);  add_10 = None
        add_11 = torch.ops.aten.add.Tensor(sigmoid_2, mul_12);  sigmoid_2 = mul_12 = None
        var_mean = torch.ops.aten.var_mean.correction(add_11, [1], correction = 0, keepdim = True)
        getitem = var_mean[0]
        getitem_1 = var_mean[1];  var_mean = None
        add_12 = torch.ops.aten.add.Tensor(getitem, 1e-05);  getitem = None
        rsqrt = torch.ops.aten.rsqrt.default(add_12);  add_12 = None
        sub = torch.ops.aten.sub.Tensor(add_11, getitem_1);  add_11 = getitem_1 = None
        mul_13 = torch.ops.aten.mul.Tensor(sub, rsqrt);  sub = rsqrt = None
        mul_14 = torch.ops.aten.mul.Tensor(mul_13, arg21_1);  mul_13 = arg21_1 = None
        add_13 = torch.ops.aten.add.Tensor(mul_14, arg22_1);  mul_14 = arg22_1 = None
        permute_10 = torch.ops.aten.permute.default(arg23_1, [1, 0]);  arg23_1 = None
        addmm_10 = torch.ops.aten.addmm.default(arg24_1, add_13, permute_10);  arg24_1 = add_13 = permute_10 = None
        return (addmm_10,)

def load_args(reader):
    buf0 = reader.storage('96910bd55b5def24db3c7dba1da4938762e1b198', 4096)
    reader.tensor(buf0, (32, 32), is_leaf=True)  # arg0_1
    buf1 = reader.storage('babcb9657bada8e05e860b564e96255f0e7ee3c3', 128)
    reader.tensor(buf1, (32,), is_leaf=True)  # arg1_1
    buf2 = reader.storage('6325feea4c7304cb0631475721bfba2c0d0b51c5', 2048)
    reader.tensor(buf2, (16, 32), is_leaf=True)  # arg2_1
    buf3 = reader.storage('4f747dd370e0d3a25aae52cce9b48e9a0b67fcaf', 4096)
    reader.tensor(buf3, (32, 32), is_leaf=True)  # arg3_1
    buf4 = reader.storage('3d64d21ab5fe0c970ca4ddc0f8de1adb6033f229', 128)
    reader.tensor(buf4, (32,), is_leaf=True)  # arg4_1
    buf5 = reader.storage('7863b2c985eb65eb0b41d19a866f9946f8211270', 4096)
    reader.tensor(buf5, (32, 32), is_leaf=True)  # arg5_1
    buf6 = reader.storage('68d4ba8650d29263839e50d9aa6b1e56f4a9d6ad', 128)
    reader.tensor(buf6, (32,), is_leaf=True)  # arg6_1
    buf7 = reader.storage('e89c17a2a0c8e7e50fdb5084512c27ec43f1d81f', 4096)
    reader.tensor(buf7, (32, 32), is_leaf=True)  # arg7_1
    buf8 = reader.storage('e49283e764adcef781578d9601a7cf2a0dcc7baa', 128)
    reader.tensor(buf8, (32,), is_leaf=True)  # arg8_1
    buf9 = reader.storage('bc2ac5b90d9e6b97c7b50b62d5ddacab9f03822c', 4096)
    reader.tensor(buf9, (32, 32), is_leaf=True)  # arg9_1
    buf10 = reader.storage('0d96f219ac09024f7cf0f82a1ccd7d38828d9e37', 128)
    reader.tensor(buf10, (32,), is_leaf=True)  # arg10_1
    buf11 = reader.storage('9f1d926b483e32a3516fa7f9f29586003fe333ad', 4096)
    reader.tensor(buf11, (32, 32), is_leaf=True)  # arg11_1
    buf12 = reader.storage('614708095da99c666cce03aa7cc191ac943d1009', 128)
    reader.tensor(buf12, (32,), is_leaf=True)  # arg12_1
    buf13 = reader.storage('eb6b723587bc22c77091c4c55a8f157ec28596f9', 4096)
    reader.tensor(buf13, (32, 32), is_leaf=True)  # arg13_1
    buf14 = reader.storage('0f3e576be2193ad64b71a7a3234679b1ce5dffb9', 128)
    reader.tensor(buf14, (32,), is_leaf=True)  # arg14_1
    buf15 = reader.storage('ce79e1825d236140dd558a808d3998b994ea666a', 4096)
    reader.tensor(buf15, (32, 32), is_leaf=True)  # arg15_1
    buf16 = reader.storage('cb6478f18d6fa6ae1039925a20b898a91440c103', 128)
    reader.tensor(buf16, (32,), is_leaf=True)  # arg16_1
    buf17 = reader.storage('ca04b37df65410defbc4da418f98ff637fb9fa4e', 4096)
    reader.tensor(buf17, (32, 32), is_leaf=True)  # arg17_1
    buf18 = reader.storage('cc9bd7e1cd91f3fcea9a62cda1ae85dd77b968b3', 128)
    reader.tensor(buf18, (32,), is_leaf=True)  # arg18_1
    buf19 = reader.storage('f700a0744998ca5b49c9a043ca63a8c2cc1fcc20', 4096)
    reader.tensor(buf19, (32, 32), is_leaf=True)  # arg19_1
    buf20 = reader.storage('1843a22c62cc0253507eee186eb8228495d3e99f', 128)
    reader.tensor(buf20, (32,), is_leaf=True)  # arg20_1
    buf21 = reader.storage('4f9470124a5784ed880ee567589a12a53f3ac18d', 128)
    reader.tensor(buf21, (32,), is_leaf=True)  # arg21_1
    buf22 = reader.storage('0ae4f711ef5d6e9d26c611fd2c8c8ac45ecbf9e7', 128)
    reader.tensor(buf22, (32,), is_leaf=True)  # arg22_1
    buf23 = reader.storage('cc58de03824b8f2cc96ba31c090865600a927f81', 1024)
    reader.tensor(buf23, (8, 32), is_leaf=True)  # arg23_1
    buf24 = reader.storage('d4f070680c93cba8ff2d4ff579db8aa10799b6d2', 32)
    reader.tensor(buf24, (8,), is_leaf=True)  # arg24_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=True, command='minify', save_dir='.', tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=True, command='get_args', save_dir='.', tracing_mode='real', check_str=None)
        # mod(*args)