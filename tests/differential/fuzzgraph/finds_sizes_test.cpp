// What the random graphs found, cut down: symbolic sizes, and sizes that depend on data.
#include "tests/differential/fuzzgraph/finds_testing.h"

namespace kerf::fuzzgraph {
namespace {

constexpr FoundGraph finds[] = {
    // Programs write float expressions of sizes; only integers were computed for the sizes of a run.
    {"FloatsOfSizesAreComputed", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, q: "f32[1, 2, 4, s0][8*s0, 4*s0, s0, 1]", x: "f32[s0, 3][3, 1]"):
        scaled_dot_product_attention: "f32[1, 2, 4, s0]" = torch.ops.aten.scaled_dot_product_attention.default(q, q, q)
        linalg_matrix_rank: "i64[]" = torch.ops.aten.linalg_matrix_rank.atol_rtol_float(x)
        return (scaled_dot_product_attention, linalg_matrix_rank)
)x"},
    // Of a line, dim=0 is no dim for eager PyTorch: what was not asked for has no elements. The shape rule filled it.
    {"UniqueConsecutiveOfALine", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f64[4]"):
        unique_consecutive = torch.ops.aten.unique_consecutive.default(x, False, False, 0)
        getitem: "i64[0]" = unique_consecutive[1]
        unique_consecutive_1 = torch.ops.aten.unique_consecutive.default(x, False, False, -1)
        getitem_1: "i64[4]" = unique_consecutive_1[1]
        return (getitem, getitem_1)
)x"},
    // Its program padded by a size that only running it tells, which code for several sizes could not.
    {"MaskedScatterBackwardHasNoSizeFromData", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, gradient: "f32[3, 1][1, 1]", mask: "b8[3, 4][4, 1]", x: "f32[s0, 2][2, 1]"):
        masked_scatter_backward: "f32[2, 7]" = torch.ops.aten.masked_scatter_backward.default(gradient, mask, [2, 7])
        sin: "f32[s0, 2]" = torch.ops.aten.sin.default(x)
        return (masked_scatter_backward, sin)
)x"},
    // A slice that keeps everything was skipped, and with it the guard that says for which sizes it does.
    {"WhatPassesRelyOnIsGuarded", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 4][4, 1]"):
        sin: "f32[s0, 4]" = torch.ops.aten.sin.default(x)
        slice_1: "f32[s0, 4]" = torch.ops.aten.slice.Tensor(sin, 0, None, 8)
        cos: "f32[s0, 4]" = torch.ops.aten.cos.default(slice_1)
        slice_2: "f32[5, 4]" = torch.ops.aten.slice.Tensor(x, 0, None, 5)
        return (cos, slice_2)
)x"},
    // Their programs compute with the number of elements, which no size of an input tells.
    {"ProgramsOverDataSizesRunWhole", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 3][3, 1]", mask: "b8[s0, 3][3, 1]"):
        masked_select: "f32[u0][1]" = torch.ops.aten.masked_select.default(x, mask)
        cov: "f32[]" = torch.ops.aten.cov.default(masked_select)
        cumulative_trapezoid: "f32[u1][1]" = torch.ops.aten.cumulative_trapezoid.dx(masked_select, dx = -0.5)
        sin: "f32[s0, 3]" = torch.ops.aten.sin.default(x)
        return (cov, cumulative_trapezoid, sin)
)x"},
    // The code was compiled for sizes of two and more: at one, squeeze leaves no dim, and PyTorch's annotation of what
    // depends on data no longer fits.
    {"AnnotationsOfDataFitTheSizesOfTheRun", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, arg1_1: "f32[s0, 1][1, 1]"):
        squeeze: "f32[s0][1]" = torch.ops.aten.squeeze.default(arg1_1)
        _unique2 = torch.ops.aten._unique2.default(squeeze, True, True, False)
        getitem_1: "i64[s0][1]" = _unique2[1]
        return (getitem_1,)
)x"},
};

INSTANTIATE_TEST_SUITE_P(Sizes, FuzzGraphFinds, ::testing::ValuesIn(finds), nameOf);

}  // namespace
}  // namespace kerf::fuzzgraph
