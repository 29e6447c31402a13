// Moves of elements, reads by index and Inductor's random numbers as generated loops: the very values of the op's own
// kernel, in one kernel with what uses them, and the op's own error where an index is out of bounds.
#include <gmock/gmock.h>

#include "engine/ir/value_meta.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::parsed;
using testing_support::partsOf;

struct MoveCase {
  const char* name;
  const char* text;
};

const MoveCase moveCases[] = {
    {"Cat", R"(def forward(self, x: "f32[3, 5]", y: "f32[3, 1]", z: "f32[3, 9]"):
    cat = torch.ops.aten.cat.default([x, y, z], 1)
    add = torch.ops.aten.add.Tensor(cat, 1)
    return (add,)
)"},
    {"CatOfOuterDimension", R"(def forward(self, x: "f32[3, 5]", y: "f32[40, 5]"):
    cat = torch.ops.aten.cat.default([x, y, x])
    return (cat,)
)"},
    {"CatWithNothing", R"(def forward(self, x: "f32[3, 5]", y: "f32[3, 0]"):
    cat = torch.ops.aten.cat.default([y, x, y], -1)
    return (cat,)
)"},
    {"CatOfStridedHalves", R"(def forward(self, x: "f32[4, 8]", y: "f32[4, 6]"):
    permute = torch.ops.aten.permute.default(x, [1, 0])
    permute_1 = torch.ops.aten.permute.default(y, [1, 0])
    convert_element_type = torch.ops.prims.convert_element_type.default(permute, torch.bfloat16)
    convert_element_type_1 = torch.ops.prims.convert_element_type.default(permute_1, torch.bfloat16)
    cat = torch.ops.aten.cat.default([convert_element_type, convert_element_type_1])
    return (cat,)
)"},
    {"Stack", R"(def forward(self, x: "f32[3, 5]", y: "f32[3, 5]"):
    stack = torch.ops.aten.stack.default([x, y], 2)
    mul = torch.ops.aten.mul.Tensor(stack, 2)
    return (mul,)
)"},
    {"Pad", R"(def forward(self, x: "f32[3, 5, 7]"):
    constant_pad_nd = torch.ops.aten.constant_pad_nd.default(x, [1, 2, 3, 0], 1.5)
    constant_pad_nd_1 = torch.ops.aten.constant_pad_nd.default(x, [-1, -2])
    constant_pad_nd_2 = torch.ops.aten.constant_pad_nd.default(x, [-1, 4, 2, -3, 0, 1], -2.0)
    return (constant_pad_nd, constant_pad_nd_1, constant_pad_nd_2)
)"},
    {"FoldingPads", R"(def forward(self, x: "f32[2, 5, 7]", y: "f32[2, 3, 5, 7]"):
    reflection_pad1d = torch.ops.aten.reflection_pad1d.default(x, [4, 6])
    reflection_pad2d = torch.ops.aten.reflection_pad2d.default(y, [1, 2, 3, 4])
    replication_pad2d = torch.ops.aten.replication_pad2d.default(y, [1, 9, 0, 4])
    return (reflection_pad1d, reflection_pad2d, replication_pad2d)
)"},
    {"PartsAmongZeros", R"(def forward(self, x: "f32[5, 12]", y: "f32[7]", z: "f32[4, 6]"):
    slice_backward = torch.ops.aten.slice_backward.default(x, [20, 12], 0, 3, 8, 1)
    slice_backward_1 = torch.ops.aten.slice_backward.default(x, [5, 40], -1, -12, 9223372036854775807, 1)
    slice_backward_2 = torch.ops.aten.slice_backward.default(z, [4, 6], 1, -100, 100, 1)
    select_backward = torch.ops.aten.select_backward.default(y, [7, 3], 1, -1)
    select_backward_1 = torch.ops.aten.select_backward.default(x, [5, 2, 12], -2, 0)
    return (slice_backward, slice_backward_1, slice_backward_2, select_backward, select_backward_1)
)"},
    {"Triangles", R"(def forward(self, x: "f32[6, 5]", y: "f32[2, 3, 4]", z: "f32[1, 7]"):
    tril = torch.ops.aten.tril.default(x)
    triu = torch.ops.aten.triu.default(x, 1)
    tril_1 = torch.ops.aten.tril.default(y, -1)
    triu_1 = torch.ops.aten.triu.default(y, -2)
    triu_2 = torch.ops.aten.triu.default(z, 3)
    add = torch.ops.aten.add.Tensor(tril, triu)
    return (tril_1, triu_1, triu_2, add)
)"},
    {"FlipAndRoll", R"(def forward(self, x: "f32[3, 5, 7]"):
    flip = torch.ops.aten.flip.default(x, [0, -1])
    roll = torch.ops.aten.roll.default(x, [2, -3], [1, 2])
    roll_1 = torch.ops.aten.roll.default(x, [12], [0])
    return (flip, roll, roll_1)
)"},
    {"Scatters", R"(def forward(self, x: "f32[6, 5]", y: "f32[2, 5]", z: "f32[6]", d: "f32[4]"):
    slice_scatter = torch.ops.aten.slice_scatter.default(x, y, 0, 1, 3)
    slice_scatter_1 = torch.ops.aten.slice_scatter.default(x, y, 0, -2)
    slice_scatter_2 = torch.ops.aten.slice_scatter.default(x, x, 1, 0, 9223372036854775807)
    select_scatter = torch.ops.aten.select_scatter.default(x, z, 1, -2)
    diagonal_scatter = torch.ops.aten.diagonal_scatter.default(x, d, 1)
    diagonal_scatter_1 = torch.ops.aten.diagonal_scatter.default(x, d, -2)
    return (slice_scatter, slice_scatter_1, slice_scatter_2, select_scatter, diagonal_scatter, diagonal_scatter_1)
)"},
    {"TransposeInTiles", R"(def forward(self, x: "f32[70, 131]", y: "f32[3, 131, 70]"):
    permute = torch.ops.aten.permute.default(x, [1, 0])
    clone = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
    add = torch.ops.aten.add.Tensor(permute, y)
    permute_1 = torch.ops.aten.permute.default(y, [2, 0, 1])
    clone_1 = torch.ops.aten.clone.default(permute_1, memory_format = torch.contiguous_format)
    return (clone, add, clone_1)
)"},
    {"PadOfATranspose", R"(def forward(self, x: "f32[75, 40]"):
    permute = torch.ops.aten.permute.default(x, [1, 0])
    constant_pad_nd = torch.ops.aten.constant_pad_nd.default(permute, [3, 4, 0, 1], 2.5)
    cat = torch.ops.aten.cat.default([permute, permute], 1)
    return (constant_pad_nd, cat)
)"},
    {"OnlineSoftmax", R"(def forward(self, x: "f32[4, 33]"):
    prepare_softmax_online = torch.ops.prims.prepare_softmax_online.default(x, 1)
    getitem = prepare_softmax_online[0]
    getitem_1 = prepare_softmax_online[1]
    sub = torch.ops.aten.sub.Tensor(x, getitem)
    exp = torch.ops.aten.exp.default(sub)
    div = torch.ops.aten.div.Tensor(exp, getitem_1)
    return (div, getitem, getitem_1)
)"},
};

ValueList countedInputs(const GraphModule& module) {
  ValueList inputs;
  for (const NodeId id : module.graph.placeholders()) {
    const auto meta = valueOf(module.graph.node(id).meta().value);
    inputs.push_back(counted(meta->tensor().sizes(), -1.5 - double(inputs.size())));
  }
  return inputs;
}

class ElementMoves : public ::testing::TestWithParam<MoveCase> {};

TEST_P(ElementMoves, AreGeneratedAndKeepEveryValue) {
  const GraphModule module = parsed(GetParam().text);
  const auto graph = compileFx(module);
  ASSERT_TRUE(graph) << graph.error().text();
  for (const KernelInfo& kernel : (*graph)->kernels()) EXPECT_NE(kernel.kind, "extern") << kernel.name;
  testing_support::expectLikeInterpreter(module, **graph, countedInputs(module));
}

INSTANTIATE_TEST_SUITE_P(All, ElementMoves, ::testing::ValuesIn(moveCases),
                         [](const auto& info) { return std::string(info.param.name); });

// --- indices

Tensor indicesOf(const Sizes& sizes, std::initializer_list<std::int64_t> values) {
  Tensor tensor = *Tensor::zeros(DType::Int64, sizes);
  std::ranges::copy(values, tensor.data<std::int64_t>());
  return tensor;
}

struct IndexCase {
  const char* name;
  const char* call;
  bool mayBeNegative;
};

const IndexCase indexCases[] = {
    {"Embedding", "torch.ops.aten.embedding.default(x, i)", false},
    {"IndexSelect", "torch.ops.aten.index_select.default(x, 0, j)", false},
    {"Gather", "torch.ops.aten.gather.default(x, 0, i)", false},
    {"Index", "torch.ops.aten.index.Tensor(x, [i])", true},
    {"IndexOfTheLast", "torch.ops.aten.index.Tensor(x, [None, i])", true},
    {"IndicesBroadcast", "torch.ops.aten.index.Tensor(x, [i, j])", true},
};

class IndexedReads : public ::testing::TestWithParam<IndexCase> {
 protected:
  GraphModule module() const {
    const std::string text = fmt::format(R"(def forward(self, x: "f32[5, 6]", i: "i64[3, 2]", j: "i64[2]"):
    call = {}
    mul = torch.ops.aten.mul.Tensor(call, 2)
    return (mul,)
)",
                                         GetParam().call);
    return parsed(text.c_str());
  }
};

TEST_P(IndexedReads, GiveTheValuesOfTheOpsOwnKernel) {
  const GraphModule graph = module();
  const auto compiled = compileFx(graph);
  ASSERT_TRUE(compiled) << compiled.error().text();
  ASSERT_EQ((*compiled)->kernels().size(), 1u);
  EXPECT_EQ((*compiled)->kernels()[0].kind, "fused");
  const std::int64_t first = GetParam().mayBeNegative ? -1 : 1;
  const ValueList inputs{counted({5, 6}), indicesOf({3, 2}, {0, 4, 3, 2, first, 1}), indicesOf({2}, {4, 0})};
  testing_support::expectLikeInterpreter(graph, **compiled, inputs);
}

TEST_P(IndexedReads, RefuseAnIndexOutOfBoundsInTheOpsOwnWords) {
  const GraphModule graph = module();
  const auto compiled = compileFx(graph);
  ASSERT_TRUE(compiled) << compiled.error().text();
  for (const std::int64_t wrong : {6, 1000000007, -7}) {
    const ValueList inputs{counted({5, 6}), indicesOf({3, 2}, {0, 4, wrong, 2, 1, 1}), indicesOf({2}, {wrong, 0})};
    const auto expected = Interpreter(graph, referenceOps()).run(inputs);
    const auto given = (*compiled)->run(inputs);
    ASSERT_FALSE(expected);
    ASSERT_FALSE(given);
    EXPECT_EQ(given.error().message, expected.error().message);
    EXPECT_EQ(given.error().code, expected.error().code);
  }
}

INSTANTIATE_TEST_SUITE_P(All, IndexedReads, ::testing::ValuesIn(indexCases),
                         [](const auto& info) { return std::string(info.param.name); });

// --- random numbers

TEST(InductorRandom, DrawsTheSameBitsInGeneratedLoops) {
  const GraphModule module = parsed(R"(def forward(self, seeds: "i64[3]"):
    inductor_lookup_seed = torch.ops.prims.inductor_lookup_seed.default(seeds, 1)
    inductor_random = torch.ops.prims.inductor_random.default([7, 33], inductor_lookup_seed, 'rand')
    gt = torch.ops.aten.gt.Scalar(inductor_random, 0.1)
    return (inductor_random, gt)
)");
  const auto graph = compileFx(module);
  ASSERT_TRUE(graph) << graph.error().text();
  for (const KernelInfo& kernel : (*graph)->kernels()) EXPECT_NE(kernel.kind, "extern") << kernel.name;
  for (const std::int64_t seed : {0L, 42L, -1L, 0x7123456789abcdefL}) {
    const ValueList inputs{indicesOf({3}, {1, seed, 2})};
    const ValueList expected = partsOf(*Interpreter(module, referenceOps()).run(inputs));
    const ValueList given = partsOf(*(*graph)->run(inputs));
    for (std::size_t i = 0; i < 2; ++i)
      testing_support::expectClose(expected[i].tensor(), given[i].tensor(), 0, fmt::format("output {}", i));
  }
}

TEST(InductorRandom, DrawsNormalNumbers) {
  const GraphModule module = parsed(R"(def forward(self, seed: "i64[]"):
    inductor_random = torch.ops.prims.inductor_random.default([1000], seed, 'randn')
    return (inductor_random,)
)");
  const auto graph = compileFx(module);
  ASSERT_TRUE(graph) << graph.error().text();
  testing_support::expectLikeInterpreter(module, **graph, {indicesOf({}, {12345})});
}

}  // namespace
}  // namespace kerf
