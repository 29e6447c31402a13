// What the random graphs found, cut down: values, dtypes and random numbers.
#include "tests/differential/fuzzgraph/finds_testing.h"

namespace kerf::fuzzgraph {
namespace {

constexpr FoundGraph finds[] = {
    // Compiled, the parts of a complex tensor were views of the dtype of the whole.
    {"PartsOfAComplexTensorAreReal", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "c64[3, 4]"):
        acosh: "c64[3, 4]" = torch.ops.aten.acosh.default(x)
        imag: "f32[3, 4]" = torch.ops.aten.imag.default(acosh)
        real: "f32[3, 4]" = torch.ops.aten.real.default(acosh)
        erf: "f32[3, 4]" = torch.ops.aten.erf.default(imag)
        return (imag, real, erf)
)x"},
    // The mean of real numbers as a complex one reached the generator of machine code, which knows none.
    {"AReductionToComplexIsNotGenerated", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3, 4]"):
        mean: "c128[]" = torch.ops.aten.mean.default(x, dtype = torch.complex128)
        return (mean,)
)x"},
    // Eager rounds the number that a half tensor is compared with to its dtype first: 1 < 1.001 is false in bfloat16.
    {"NumbersAreComparedInTheTensorsDtype", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[2, 3]"):
        ones: "bf16[2, 3]" = torch.ops.aten.full_like.default(x, 1)
        lt: "b8[2, 3]" = torch.ops.aten.lt.Scalar(ones, 1.001)
        many: "bf16[2, 3]" = torch.ops.aten.full_like.default(x, 256)
        lt_1: "b8[2, 3]" = torch.ops.aten.lt.Scalar(many, 257)
        return (lt, lt_1)
)x"},
    // The fill was cast to the element's integer before it was a truth.
    {"AFractionFillsAMask", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "b8[2, 3]"):
        fill: "b8[2, 3]" = torch.ops.aten.fill.Scalar(x, -0.57)
        fill_1: "b8[2, 3]" = torch.ops.aten.fill.Scalar(x, 2)
        return (fill, fill_1)
)x"},
    // Limits that are tensors were zero in compiled code.
    {"LimitsOfAQuantizationMayBeTensors", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3, 5]"):
        scale: "f64[1]" = torch.ops.aten.full.default([1], 0.25, dtype = torch.float64)
        zero: "i64[1]" = torch.ops.aten.full.default([1], 7, dtype = torch.int64)
        low: "i64[1]" = torch.ops.aten.full.default([1], 2, dtype = torch.int64)
        high: "i64[1]" = torch.ops.aten.full.default([1], 200, dtype = torch.int64)
        quantize: "u8[3, 5]" = torch.ops.quantized_decomposed.quantize_per_tensor.tensor2(x, scale, zero, low, high, torch.uint8)
        return (quantize,)
)x"},
    // Eager rounds other * alpha to the 16-bit type; the view keeps the graph from running in float64.
    {"AlphaTimesOtherIsRounded", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[32, 8]", y: "bf16[8]"):
        rsub: "bf16[32, 8]" = torch.ops.aten.rsub.Tensor(x, y, alpha = 3)
        add: "bf16[32, 8]" = torch.ops.aten.add.Tensor(x, y, alpha = 3)
        view: "bf16[32, 8]" = torch.ops.aten.view.dtype(x, torch.bfloat16)
        return (rsub, add, view)
)x"},
    // Likewise where masks are filled by their own ops; the interpreter read the fill as an integer where it is a tensor.
    {"AFractionFillsAMaskOfTruths", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "b8[2, 3]", index: "i64[2]", value: "f32[]"):
        masked_fill: "b8[2, 3]" = torch.ops.aten.masked_fill.Scalar(x, x, -0.25)
        neg: "f32[]" = torch.ops.aten.mul.Scalar(value, 0.125)
        masked_fill_1: "b8[2, 3]" = torch.ops.aten.masked_fill.Tensor(x, x, neg)
        row: "b8[2]" = torch.ops.aten.select.int(x, 1, 0)
        clamp: "i64[2]" = torch.ops.aten.clamp.default(index, 0, 1)
        _unsafe_masked_index: "b8[2]" = torch.ops.aten._unsafe_masked_index.default(row, row, [clamp], 0.5)
        return (masked_fill, masked_fill_1, _unsafe_masked_index)
)x"},
    // The interpreter compared as int64, where numbers from 2^63 on are negative; a negative number is one of them.
    {"BigUnsignedNumbersAreNotNegative", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        hash_tensor: "u64[]" = torch.ops.aten.hash_tensor.default(x)
        lt: "b8[]" = torch.ops.aten.lt.Scalar(hash_tensor, -2)
        full: "u64[3]" = torch.ops.aten.full.default([3], -5, dtype = torch.uint64)
        gt: "b8[3]" = torch.ops.aten.gt.Tensor(full, hash_tensor)
        clamp_max: "u64[3]" = torch.ops.aten.clamp_max.default(full, 7)
        clamp: "u64[3]" = torch.ops.aten.clamp.default(full, 9)
        abs_1: "u64[3]" = torch.ops.aten.abs.default(full)
        sign: "u64[3]" = torch.ops.aten.sign.default(full)
        return (lt, gt, clamp_max, clamp, abs_1, sign)
)x"},
    // Eager rounds tensors of other dtypes to the 16-bit one before it adds; only mul takes those without dimensions as
    // they are.
    {"OperandsOfOtherDtypesAreRounded", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[3, 4]", y: "f64[]", whole: "i64[]"):
        big: "i64[]" = torch.ops.aten.add.Scalar(whole, 1001)
        add: "bf16[3, 4]" = torch.ops.aten.add.Tensor(x, y)
        sub: "bf16[3, 4]" = torch.ops.aten.sub.Tensor(x, big)
        mul: "bf16[3, 4]" = torch.ops.aten.mul.Tensor(x, y)
        lt: "b8[3, 4]" = torch.ops.aten.lt.Tensor(add, y)
        view: "bf16[3, 4]" = torch.ops.aten.view.dtype(x, torch.bfloat16)
        return (add, sub, mul, lt, view)
)x"},
    // A kernel that needs one random op ran it before those of the graph that come first: numbers of the generator went to
    // others than in eager.
    {"RandomOpsDrawInTheirOrder", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "u8[5]", y: "f32[5]"):
        logical_xor: "b8[5]" = torch.ops.aten.logical_xor.default(x, x)
        randn_like: "f32[5]" = torch.ops.aten.randn_like.default(y)
        random: "u8[5]" = torch.ops.aten.random.default(x)
        bitwise_xor: "u8[5]" = torch.ops.aten.bitwise_xor.Tensor(random, x)
        normal_functional: "f32[5]" = torch.ops.aten.normal_functional.default(y)
        dropout: "f32[5]" = torch.ops.aten.dropout.default(y, 0.5, True)
        return (logical_xor, bitwise_xor, dropout, normal_functional, randn_like)
)x"},
    // Rows were added in float64 and rounded once, where eager adds in memory; of these results there is no fp64 reference.
    {"RowsAreAddedAsInMemory", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, place: "i64[2, 2][2, 1]", x: "bf16[2, 5][5, 1]"):
        view: "i16[2, 5]" = torch.ops.aten.view.dtype(x, torch.int16)
        _unsafe_index_put: "bf16[2, 5]" = torch.ops.aten._unsafe_index_put.default(x, [place, None], x, True)
        return (view, _unsafe_index_put)
)x"},
    // A pass made the write one in place, which did not add complex numbers.
    {"ComplexNumbersAreAddedInPlace", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "c64[3][1]", place: "i64[2][1]", y: "c64[2][1]"):
        neg: "c64[3]" = torch.ops.aten.neg.default(x)
        index_put: "c64[3]" = torch.ops.aten.index_put.default(neg, [place], y, True)
        return (index_put,)
)x"},
    // A loop took the maximum of bytes from them in bytes: 1 - 2 was 255, and its exponential the whole sum.
    {"DifferencesOfBytesAreNoBytes", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "u8[3][1]"):
        arange: "u8[3]" = torch.ops.aten.arange.default(3, dtype = torch.uint8)
        add: "u8[3]" = torch.ops.aten.add.Tensor(x, arange)
        prepare_softmax_online = torch.ops.prims.prepare_softmax_online.default(add, -1)
        getitem: "u8[1]" = prepare_softmax_online[0]
        getitem_1: "u8[1]" = prepare_softmax_online[1]
        return (getitem, getitem_1)
)x"},
    // In float64 the op records each index's bag, in float32 it does not: no fp64 reference for that result.
    {"ResultsOfAnotherShapeInFp64", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, weight: "f32[3, 4][4, 1]", indices: "i64[2][1]"):
        _embedding_bag = torch.ops.aten._embedding_bag.default(weight, indices, indices, False, 0, False, None)
        getitem: "i64[0][1]" = _embedding_bag[1]
        convert_element_type: "f32[0][1]" = torch.ops.prims.convert_element_type.default(getitem, torch.float32)
        return (convert_element_type,)
)x"},
    // A number becomes an element of self before it is written: 0.5 and -1 are true.
    {"NumbersBecomeTruths", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, i: "i64[1, 2][2, 1]", e: "b8[3, 4][4, 1]"):
        scatter: "b8[3, 4][4, 1]" = torch.ops.aten.scatter.value(e, 0, i, 0.5)
        view: "i64[2][1]" = torch.ops.aten.view.default(i, [2])
        index_fill: "b8[3, 4][4, 1]" = torch.ops.aten.index_fill.int_Scalar(e, 0, view, 0.5)
        slice: "b8[2, 4][4, 1]" = torch.ops.aten.slice.Tensor(e, 0, 0, 2)
        index_add: "b8[3, 4][4, 1]" = torch.ops.aten.index_add.default(e, 0, view, slice, alpha = -1)
        return (scatter, index_fill, index_add)
)x"},
    // Rows of the result share memory, as self's do: the op's own order of writing counts.
    {"ResultsThatOverlapThemselvesAreNoLoops", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 7][7, 1]", y: "f32[24][1]"):
        as_strided: "f32[2, 20][4, 1]" = torch.ops.aten.as_strided.default(y, [2, 20], [4, 1])
        slice_scatter: "f32[2, 20][4, 1]" = torch.ops.aten.slice_scatter.default(as_strided, x, 1, 13, None, 1)
        return (slice_scatter,)
)x"},
    // A diagonal that no row reaches: row + diagonal is beyond 64 bits.
    {"DiagonalsFarOutside", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 5][5, 1]"):
        tril: "f32[4, 5][5, 1]" = torch.ops.aten.tril.default(x, 9223372036854775807)
        triu: "f32[4, 5][5, 1]" = torch.ops.aten.triu.default(x, 9223372036854775807)
        triu_1: "f32[4, 5][5, 1]" = torch.ops.aten.triu.default(x, -9223372036854775808)
        return (tril, triu, triu_1)
)x"},
};

INSTANTIATE_TEST_SUITE_P(Values, FuzzGraphFinds, ::testing::ValuesIn(finds), nameOf);

}  // namespace
}  // namespace kerf::fuzzgraph
