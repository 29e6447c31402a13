// What the random graphs found, cut down: who shares memory with whom, and how results lie in it.
#include "tests/differential/fuzzgraph/finds_testing.h"

namespace kerf::fuzzgraph {
namespace {

constexpr FoundGraph finds[] = {
    // The third of three equal calls was merged into the first although both are returned through views: groups of shared
    // memory were those of before the second merge.
    {"EqualCallsReturnedThroughViewsKeepTheirOwnMemory", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 3]"):
        sin: "f32[2, 3]" = torch.ops.aten.sin.default(x)
        sin_1: "f32[2, 3]" = torch.ops.aten.sin.default(x)
        sin_2: "f32[2, 3]" = torch.ops.aten.sin.default(x)
        view: "f32[6]" = torch.ops.aten.view.default(sin_1, [6])
        view_1: "f32[6]" = torch.ops.aten.view.default(sin_2, [6])
        neg: "f32[2, 3]" = torch.ops.aten.neg.default(sin)
        return (view, view_1, neg)
)x"},
    // atleast_3d gives a view though its schema does not say so; `mul` by one was replaced by what that view looks at.
    {"AProgramThatGivesAViewCountsAsOne", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "i8[5]"):
        clone: "i8[5]" = torch.ops.aten.clone.default(x)
        atleast_3d: "i8[1, 5, 1]" = torch.ops.aten.atleast_3d.default(clone)
        mul: "i8[5]" = torch.ops.aten.mul.Scalar(clone, 1)
        return (atleast_3d, mul)
)x"},
    // Accumulating into complex numbers gave row-major memory whatever self's was.
    {"ComplexIndexPutKeepsStrides", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "c64[2, 6][1, 2]", index: "i64[2]", values: "c64[2, 6]"):
        index_put: "c64[2, 6][1, 2]" = torch.ops.aten.index_put.default(x, [index], values, True)
        return (index_put,)
)x"},
    // The kernel gave its argument itself, whose memory was given to the next op before the result was read.
    {"ACopiedConjugateHasItsOwnMemory", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[8, 6]"):
        sin: "bf16[8, 6]" = torch.ops.aten.sin.default(x)
        _conj_physical: "bf16[8, 6]" = torch.ops.aten._conj_physical.default(sin)
        cos: "bf16[8, 6]" = torch.ops.aten.cos.default(x)
        sort = torch.ops.aten.sort.default(cos)
        getitem: "bf16[8, 6]" = sort[0]
        return (_conj_physical, getitem)
)x"},
    {"AnArgumentThatIsGivenBackIsKept", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[8, 6]"):
        sin: "f32[8, 6]" = torch.ops.aten.sin.default(x)
        conj_physical: "f32[8, 6]" = torch.ops.aten.conj_physical.default(sin)
        cos: "f32[8, 6]" = torch.ops.aten.cos.default(x)
        sort = torch.ops.aten.sort.default(cos)
        getitem: "f32[8, 6]" = sort[0]
        return (conj_physical, getitem)
)x"},
    // `clone` was skipped, after which its view looks at an input; then `_to_copy` was skipped, too.
    {"ACopyOfAViewOfASkippedCopyStays", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 3]"):
        clone: "f32[2, 3]" = torch.ops.aten.clone.default(x)
        view: "f32[6]" = torch.ops.aten.view.default(clone, [6])
        _to_copy: "f32[6]" = torch.ops.aten._to_copy.default(view, dtype = torch.float32)
        return (_to_copy,)
)x"},
    // What gives its only argument, or parts of it, without saying so.
    {"PartsThatNoSchemaCallsViewsAreViews", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 4]"):
        clone: "f32[4, 4]" = torch.ops.aten.clone.default(x)
        chain_matmul: "f32[4, 4]" = torch.ops.aten.chain_matmul.default([clone])
        unsafe_split = torch.ops.aten.unsafe_split.Tensor(x, 2)
        getitem: "f32[2, 4]" = unsafe_split[1]
        clone_1: "f32[2, 4]" = torch.ops.aten.clone.default(getitem)
        _unsafe_view: "f32[16]" = torch.ops.aten._unsafe_view.default(x, [16])
        clone_2: "f32[16]" = torch.ops.aten.clone.default(_unsafe_view)
        return (chain_matmul, clone_1, clone_2)
)x"},
    // as_strided counts from the start of the storage: that of a copy begins elsewhere than that of what is copied.
    {"WhatReadsStorageKeepsTheCopy", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 6]"):
        slice: "f32[2, 6]" = torch.ops.aten.slice.Tensor(x, 0, 1, 3)
        clone: "f32[2, 6]" = torch.ops.aten.clone.default(slice)
        as_strided: "f32[2, 2]" = torch.ops.aten.as_strided.default(clone, [2, 2], [4, 1], 0)
        sin: "f32[2, 2]" = torch.ops.aten.sin.default(as_strided)
        clone_1: "f32[2, 6]" = torch.ops.aten.clone.default(slice)
        as_strided_copy: "f32[3]" = torch.ops.aten.as_strided_copy.default(clone_1, [3], [1], 0)
        return (sin, as_strided_copy)
)x"},
    // The views of a constant that is returned share its memory: folded they had their own.
    {"PartsOfAReturnedConstantAreNotFolded", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2]"):
        arange: "f32[4]" = torch.ops.aten.arange.default(4, dtype = torch.float32)
        unbind = torch.ops.aten.unbind.int(arange)
        getitem: "f32[]" = unbind[1]
        add: "f32[2]" = torch.ops.aten.add.Tensor(x, getitem)
        getitem_1: "f32[]" = unbind[2]
        return (arange, getitem_1, add)
)x"},
    // Copies of real numbers had the strides of what they copy in the rule, dense ones in the kernel; `_conj_copy` is made
    // from a view and row-major.
    {"ConjugatesOfRealNumbersAreDense", R"x(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 3][6, 2]", y: "f64[3][0]", z: "c64[2, 3][1, 2]"):
        _conj_physical: "f32[4, 3]" = torch.ops.aten._conj_physical.default(x)
        _conj_copy: "f64[3]" = torch.ops.aten._conj_copy.default(y)
        _conj_copy_1: "c64[2, 3]" = torch.ops.aten._conj_copy.default(z)
        conj_physical: "c64[2, 3][1, 2]" = torch.ops.prims.conj_physical.default(z)
        _neg_view_copy: "f32[4, 3]" = torch.ops.aten._neg_view_copy.default(x)
        return (_conj_physical, _conj_copy, _conj_copy_1, conj_physical, _neg_view_copy)
)x"},
};

INSTANTIATE_TEST_SUITE_P(Memory, FuzzGraphFinds, ::testing::ValuesIn(finds), nameOf);

}  // namespace
}  // namespace kerf::fuzzgraph
