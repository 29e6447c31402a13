// What the random graphs found, cut down, each checked in every way.
#include "tests/differential/fuzzgraph/finds_testing.h"

namespace kerf::fuzzgraph {
namespace {

/// The third of three equal calls was merged into the first although both are returned through views: groups of shared
/// memory were those of before the second merge.
TEST(FuzzGraphFinds, EqualCallsReturnedThroughViewsKeepTheirOwnMemory) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 3]"):
        sin: "f32[2, 3]" = torch.ops.aten.sin.default(x)
        sin_1: "f32[2, 3]" = torch.ops.aten.sin.default(x)
        sin_2: "f32[2, 3]" = torch.ops.aten.sin.default(x)
        view: "f32[6]" = torch.ops.aten.view.default(sin_1, [6])
        view_1: "f32[6]" = torch.ops.aten.view.default(sin_2, [6])
        neg: "f32[2, 3]" = torch.ops.aten.neg.default(sin)
        return (view, view_1, neg)
)");
}

/// atleast_3d gives a view though its schema does not say so; `mul` by one was replaced by what that view looks at.
TEST(FuzzGraphFinds, AProgramThatGivesAViewCountsAsOne) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "i8[5]"):
        clone: "i8[5]" = torch.ops.aten.clone.default(x)
        atleast_3d: "i8[1, 5, 1]" = torch.ops.aten.atleast_3d.default(clone)
        mul: "i8[5]" = torch.ops.aten.mul.Scalar(clone, 1)
        return (atleast_3d, mul)
)");
}

/// Compiled, the parts of a complex tensor were views of the dtype of the whole.
TEST(FuzzGraphFinds, PartsOfAComplexTensorAreReal) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "c64[3, 4]"):
        acosh: "c64[3, 4]" = torch.ops.aten.acosh.default(x)
        imag: "f32[3, 4]" = torch.ops.aten.imag.default(acosh)
        real: "f32[3, 4]" = torch.ops.aten.real.default(acosh)
        erf: "f32[3, 4]" = torch.ops.aten.erf.default(imag)
        return (imag, real, erf)
)");
}

/// The mean of real numbers as a complex one reached the generator of machine code, which knows none.
TEST(FuzzGraphFinds, AReductionToComplexIsNotGenerated) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3, 4]"):
        mean: "c128[]" = torch.ops.aten.mean.default(x, dtype = torch.complex128)
        return (mean,)
)");
}

/// Accumulating into complex numbers gave row-major memory whatever self's was.
TEST(FuzzGraphFinds, ComplexIndexPutKeepsStrides) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "c64[2, 6][1, 2]", index: "i64[2]", values: "c64[2, 6]"):
        index_put: "c64[2, 6][1, 2]" = torch.ops.aten.index_put.default(x, [index], values, True)
        return (index_put,)
)");
}

/// Eager rounds the number that a half tensor is compared with to its dtype first: 1 < 1.001 is false in bfloat16.
TEST(FuzzGraphFinds, NumbersAreComparedInTheTensorsDtype) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[2, 3]"):
        ones: "bf16[2, 3]" = torch.ops.aten.full_like.default(x, 1)
        lt: "b8[2, 3]" = torch.ops.aten.lt.Scalar(ones, 1.001)
        many: "bf16[2, 3]" = torch.ops.aten.full_like.default(x, 256)
        lt_1: "b8[2, 3]" = torch.ops.aten.lt.Scalar(many, 257)
        return (lt, lt_1)
)");
}

/// Programs write float expressions of sizes; only integers were computed for the sizes of a run.
TEST(FuzzGraphFinds, FloatsOfSizesAreComputed) {
  expectAgreement(R"x(
class GraphModule(torch.nn.Module):
    def forward(self, q: "f32[1, 2, 4, s0][8*s0, 4*s0, s0, 1]", x: "f32[s0, 3][3, 1]"):
        scaled_dot_product_attention: "f32[1, 2, 4, s0]" = torch.ops.aten.scaled_dot_product_attention.default(q, q, q)
        linalg_matrix_rank: "i64[]" = torch.ops.aten.linalg_matrix_rank.atol_rtol_float(x)
        return (scaled_dot_product_attention, linalg_matrix_rank)
)x");
}

/// Of a line, dim=0 is no dim for eager PyTorch: what was not asked for has no elements. The shape rule filled it.
TEST(FuzzGraphFinds, UniqueConsecutiveOfALine) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f64[4]"):
        unique_consecutive = torch.ops.aten.unique_consecutive.default(x, False, False, 0)
        getitem: "i64[0]" = unique_consecutive[1]
        unique_consecutive_1 = torch.ops.aten.unique_consecutive.default(x, False, False, -1)
        getitem_1: "i64[4]" = unique_consecutive_1[1]
        return (getitem, getitem_1)
)");
}

/// The kernel gave its argument itself, whose memory was given to the next op before the result was read.
TEST(FuzzGraphFinds, ACopiedConjugateHasItsOwnMemory) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[8, 6]"):
        sin: "bf16[8, 6]" = torch.ops.aten.sin.default(x)
        _conj_physical: "bf16[8, 6]" = torch.ops.aten._conj_physical.default(sin)
        cos: "bf16[8, 6]" = torch.ops.aten.cos.default(x)
        sort = torch.ops.aten.sort.default(cos)
        getitem: "bf16[8, 6]" = sort[0]
        return (_conj_physical, getitem)
)");
}
TEST(FuzzGraphFinds, AnArgumentThatIsGivenBackIsKept) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[8, 6]"):
        sin: "f32[8, 6]" = torch.ops.aten.sin.default(x)
        conj_physical: "f32[8, 6]" = torch.ops.aten.conj_physical.default(sin)
        cos: "f32[8, 6]" = torch.ops.aten.cos.default(x)
        sort = torch.ops.aten.sort.default(cos)
        getitem: "f32[8, 6]" = sort[0]
        return (conj_physical, getitem)
)");
}

/// The fill was cast to the element's integer before it was a truth.
TEST(FuzzGraphFinds, AFractionFillsAMask) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "b8[2, 3]"):
        fill: "b8[2, 3]" = torch.ops.aten.fill.Scalar(x, -0.57)
        fill_1: "b8[2, 3]" = torch.ops.aten.fill.Scalar(x, 2)
        return (fill, fill_1)
)");
}

/// Limits that are tensors were zero in compiled code.
TEST(FuzzGraphFinds, LimitsOfAQuantizationMayBeTensors) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3, 5]"):
        scale: "f64[1]" = torch.ops.aten.full.default([1], 0.25, dtype = torch.float64)
        zero: "i64[1]" = torch.ops.aten.full.default([1], 7, dtype = torch.int64)
        low: "i64[1]" = torch.ops.aten.full.default([1], 2, dtype = torch.int64)
        high: "i64[1]" = torch.ops.aten.full.default([1], 200, dtype = torch.int64)
        quantize: "u8[3, 5]" = torch.ops.quantized_decomposed.quantize_per_tensor.tensor2(x, scale, zero, low, high, torch.uint8)
        return (quantize,)
)");
}

/// Eager rounds other * alpha to the 16-bit type; the view keeps the graph from running in float64.
TEST(FuzzGraphFinds, AlphaTimesOtherIsRounded) {
  expectAgreement(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[32, 8]", y: "bf16[8]"):
        rsub: "bf16[32, 8]" = torch.ops.aten.rsub.Tensor(x, y, alpha = 3)
        add: "bf16[32, 8]" = torch.ops.aten.add.Tensor(x, y, alpha = 3)
        view: "bf16[32, 8]" = torch.ops.aten.view.dtype(x, torch.bfloat16)
        return (rsub, add, view)
)");
}

/// Its program padded by a size that only running it tells, which code for several sizes could not.
TEST(FuzzGraphFinds, MaskedScatterBackwardHasNoSizeFromData) {
  expectAgreement(R"x(
class GraphModule(torch.nn.Module):
    def forward(self, gradient: "f32[3, 1][1, 1]", mask: "b8[3, 4][4, 1]", x: "f32[s0, 2][2, 1]"):
        masked_scatter_backward: "f32[2, 7]" = torch.ops.aten.masked_scatter_backward.default(gradient, mask, [2, 7])
        sin: "f32[s0, 2]" = torch.ops.aten.sin.default(x)
        return (masked_scatter_backward, sin)
)x");
}

}  // namespace
}  // namespace kerf::fuzzgraph
