#include "app/bench/memory_kernels.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace kerf::bench {
namespace {

/// A group on other sizes than a built-in case whose operations it has, or with its own.
struct MemoryGroup {
  std::string_view name, like, parameters, body;
};

/// Operands and results of each fill 200 to 270 MB in float32.
constexpr MemoryGroup groups[] = {
    {"tanh_gelu", "tanh_gelu", R"(x: "f32[8192, 4096]")", ""},
    {"erf_gelu", "erf_gelu", R"(x: "f32[8192, 4096]")", ""},
    {"silu_mul", "silu_mul", R"(x: "f32[7168, 3072]", y: "f32[7168, 3072]")", ""},
    {"add", "", R"(x: "f32[7168, 3072]", y: "f32[7168, 3072]")",
     R"(    add = torch.ops.aten.add.Tensor(x, y)
    return (add,)
)"},
    {"dropout", "", R"(x: "f32[8192, 4096]")",
     R"(    inductor_seeds = torch.ops.prims.inductor_seeds.default(1, device(type='cpu'))
    inductor_lookup_seed = torch.ops.prims.inductor_lookup_seed.default(inductor_seeds, 0)
    inductor_random = torch.ops.prims.inductor_random.default([8192, 4096], inductor_lookup_seed, 'rand')
    gt = torch.ops.aten.gt.Scalar(inductor_random, 0.1)
    mul = torch.ops.aten.mul.Tensor(gt, x)
    mul_1 = torch.ops.aten.mul.Tensor(mul, 1.1111111111111112)
    return (mul_1,)
)"},
    {"softmax", "softmax", R"(x: "f32[128, 512, 512]")", ""},
    {"softmax_long", "softmax", R"(x: "f32[640, 1, 50257]")", ""},
    {"log_softmax_long", "", R"(x: "f32[640, 50257]")",
     R"(    amax = torch.ops.aten.amax.default(x, [1], True)
    sub = torch.ops.aten.sub.Tensor(x, amax)
    exp = torch.ops.aten.exp.default(sub)
    sum_1 = torch.ops.aten.sum.dim_IntList(exp, [1], True)
    log = torch.ops.aten.log.default(sum_1)
    sub_1 = torch.ops.aten.sub.Tensor(sub, log)
    return (sub_1,)
)"},
    {"softmax_backward", "softmax_backward", R"(grad: "f32[84, 512, 512]", out: "f32[84, 512, 512]")", ""},
    {"layer_norm", "layer_norm", R"(x: "f32[43000, 768]", w: "f32[768]", b: "f32[768]")", ""},
    {"layer_norm_long", "layer_norm", R"(x: "f32[256, 131072]", w: "f32[131072]", b: "f32[131072]")", ""},
    {"layer_norm_odd", "layer_norm", R"(x: "f32[256, 131071]", w: "f32[131071]", b: "f32[131071]")", ""},
    {"layer_norm_backward", "", R"(g: "f32[28672, 768]", x: "f32[28672, 768]", w: "f32[768]", r: "f32[28672, 1]")",
     R"(    mul = torch.ops.aten.mul.Tensor(g, w)
    mul_1 = torch.ops.aten.mul.Tensor(mul, 768)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [1], True)
    mul_2 = torch.ops.aten.mul.Tensor(mul, x)
    sum_2 = torch.ops.aten.sum.dim_IntList(mul_2, [1], True)
    mul_3 = torch.ops.aten.mul.Tensor(x, sum_2)
    sub = torch.ops.aten.sub.Tensor(mul_1, sum_1)
    sub_1 = torch.ops.aten.sub.Tensor(sub, mul_3)
    mul_4 = torch.ops.aten.mul.Tensor(r, sub_1)
    return (mul_4,)
)"},
    {"layer_norm_weights", "", R"(g: "f32[43000, 768]", x: "f32[43000, 768]")",
     R"(    mul = torch.ops.aten.mul.Tensor(g, x)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul, [0])
    sum_2 = torch.ops.aten.sum.dim_IntList(g, [0])
    return (sum_1, sum_2)
)"},
    {"group_norm", "", R"(x: "f32[32, 256, 64, 64]", w: "f32[256]", b: "f32[256]")",
     R"(    view = torch.ops.aten.view.default(x, [32, 32, 8, 4096])
    var_mean = torch.ops.aten.var_mean.correction(view, [2, 3], correction = 0, keepdim = True)
    getitem = var_mean[0]
    getitem_1 = var_mean[1]
    add = torch.ops.aten.add.Tensor(getitem, 1e-05)
    rsqrt = torch.ops.aten.rsqrt.default(add)
    sub = torch.ops.aten.sub.Tensor(view, getitem_1)
    mul = torch.ops.aten.mul.Tensor(sub, rsqrt)
    view_1 = torch.ops.aten.view.default(mul, [32, 256, 64, 64])
    view_2 = torch.ops.aten.view.default(w, [1, 256, 1, 1])
    view_3 = torch.ops.aten.view.default(b, [1, 256, 1, 1])
    mul_1 = torch.ops.aten.mul.Tensor(view_1, view_2)
    add_1 = torch.ops.aten.add.Tensor(mul_1, view_3)
    return (add_1,)
)"},
    {"bias_gradient", "bias_gradient", R"(x: "f32[43000, 768]", y: "f32[43000, 768]")", ""},
    {"batch_norm_sums", "channel_sums", R"(x: "f32[40, 64, 112, 112]", y: "f32[40, 64, 112, 112]")", ""},
    {"sum", "", R"(x: "f32[16384, 4096]")",
     R"(    sum_1 = torch.ops.aten.sum.default(x)
    return (sum_1,)
)"},
    {"transpose", "transpose", R"(x: "f32[8192, 4096]")", ""},
    {"transpose_odd", "transpose", R"(x: "f32[8211, 4097]")", ""},
    {"transposed_add", "", R"(x: "f32[8192, 2816]", y: "f32[2816, 8192]")",
     R"(    permute = torch.ops.aten.permute.default(y, [1, 0])
    add = torch.ops.aten.add.Tensor(x, permute)
    return (add,)
)"},
    {"head_permute", "", R"(x: "f32[84, 512, 768]")",
     R"(    view = torch.ops.aten.view.default(x, [84, 512, 12, 64])
    permute = torch.ops.aten.permute.default(view, [0, 2, 1, 3])
    clone = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
    return (clone,)
)"},
    {"cat", "cat", R"(x: "f32[896, 128, 196]", y: "f32[896, 64, 196]")", ""},
    {"embedding", "embedding", R"(w: "f32[32768, 768]", i: "i64[64, 512]", p: "f32[512, 768]")", ""},
    {"index_rows", "", R"(w: "f32[32768, 1024]", i: "i64[32768]")",
     R"(    index_select = torch.ops.aten.index_select.default(w, 0, i)
    return (index_select,)
)"},
    {"gather", "", R"(x: "f32[4096, 8192]", i: "i64[4096, 4096]")",
     R"(    gather = torch.ops.aten.gather.default(x, 1, i)
    return (gather,)
)"},
};

std::string_view bodyOf(const MemoryGroup& group) {
  if (group.like.empty()) return group.body;
  const std::string_view text = std::ranges::find(kernelBenchCases(), group.like, &KernelBenchCase::name)->text;
  return text.substr(text.find('\n') + 1);
}

KernelBenchCase caseOf(const MemoryGroup& group) {
  return {.name = fmt::format("memory/{}", group.name),
          .text = fmt::format("def forward(self, {}):\n{}", group.parameters, bodyOf(group))};
}

}  // namespace

const std::vector<KernelBenchCase>& memoryBenchCases() {
  static const std::vector<KernelBenchCase> cases = [] {
    std::vector<KernelBenchCase> all;
    for (const MemoryGroup& group : groups) all.push_back(caseOf(group));
    for (const MemoryGroup& group : groups) all.push_back(inBfloat16(caseOf(group)));
    for (const MemoryGroup& group : groups) all.push_back(roundedWhenStored(inBfloat16(caseOf(group))));
    return all;
  }();
  return cases;
}

}  // namespace kerf::bench
