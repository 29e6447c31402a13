// Calls that give an operand other sizes (x.t_(), out=x, x.resize_()): every name that the tensor has shows them afterwards, in
// the interpreter and in compiled code. The values are PyTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ir/tensor_objects.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/pipeline/dtype_module.h"

namespace kerf::callforms {
namespace {

using ::testing::ElementsAre;

Tensor counted(const Sizes& sizes) {
  Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = float(i);
  return tensor;
}

GraphModule graphOf(std::string_view signature, std::string_view body) {
  auto module = parseReadable(
      fmt::format("class GraphModule(torch.nn.Module):\n    def forward(self, {}):\n{}", signature, body));
  EXPECT_TRUE(module) << module.error().text();
  return std::move(*module);
}

/// What both engines return.
std::vector<ValueList> bothOf(const GraphModule& module, const std::vector<Sizes>& sizes) {
  std::vector<ValueList> results;
  for (const bool compiled : {false, true}) {
    ValueList inputs;
    for (const Sizes& own : sizes) inputs.emplace_back(counted(own));
    Result<Value> result = fail(ErrorCode::Internal, "not run");
    if (compiled) {
      const auto graph = compileFx(module, {});
      result = graph ? (*graph)->run(inputs) : Result<Value>(fail(graph.error()));
    } else {
      result = Interpreter(module, referenceOps()).run(inputs);
    }
    EXPECT_TRUE(result) << result.error().text();
    results.push_back(result ? result->list() : ValueList{});
  }
  return results;
}

std::vector<double> numbersOf(const Tensor& tensor) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers.push_back(tensor.itemAsDouble(i));
  return numbers;
}

TEST(ReshapedTensors, ATurnedTensorIsTurnedUnderItsOldName) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]")", R"(        y = x + 1
        t = y.t_()
        z = y * 2
        return (z, t)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}})) {
    ASSERT_EQ(results.size(), 2u);
    EXPECT_THAT(results[0].tensor().sizes(), ElementsAre(3, 2));
    EXPECT_THAT(numbersOf(results[0].tensor()), ElementsAre(2, 8, 4, 10, 6, 12));
    EXPECT_THAT(numbersOf(results[1].tensor()), ElementsAre(1, 4, 2, 5, 3, 6));
  }
}

TEST(ReshapedTensors, OutIsResizedToTheResult) {
  const GraphModule module = graphOf(R"(x: "f32[2, 2]", o: "f32[0]")", R"(        s = torch.add(x, 1, out=o)
        z = o * 2
        w = o.mul_(10)
        return (z, s, o)
)");
  for (const ValueList& results : bothOf(module, {{2, 2}, {0}})) {
    ASSERT_EQ(results.size(), 3u);
    EXPECT_THAT(results[0].tensor().sizes(), ElementsAre(2, 2));
    EXPECT_THAT(numbersOf(results[0].tensor()), ElementsAre(2, 4, 6, 8));
    EXPECT_THAT(numbersOf(results[1].tensor()), ElementsAre(10, 20, 30, 40));
    EXPECT_THAT(results[2].tensor().sizes(), ElementsAre(2, 2));
    EXPECT_THAT(numbersOf(results[2].tensor()), ElementsAre(10, 20, 30, 40));
  }
}

TEST(ReshapedTensors, EachOfSeveralOutsIsResized) {
  const GraphModule module =
      graphOf(R"(x: "f32[2, 3]", v: "f32[1]")", R"(        i = torch.empty(0, dtype = torch.int64)
        r = torch.max(x, 1, out=(v, i))
        a = v + 1
        b = i + 1
        return (a, b)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}, {1}})) {
    ASSERT_EQ(results.size(), 2u);
    EXPECT_THAT(numbersOf(results[0].tensor()), ElementsAre(3, 6));
    EXPECT_THAT(numbersOf(results[1].tensor()), ElementsAre(3, 3));
  }
}

TEST(ReshapedTensors, OneOfSeveralOutsIsReshapedOnceMore) {
  const GraphModule module =
      graphOf(R"(x: "f32[2, 3]", v: "f32[2]")", R"(        i = torch.empty(2, dtype = torch.int64)
        r = torch.max(x, 1, out=(v, i))
        t = v.unsqueeze_(0)
        a = v + 1
        return (a,)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}, {2}})) {
    ASSERT_EQ(results.size(), 1u);
    EXPECT_THAT(results[0].tensor().sizes(), ElementsAre(1, 2));
    EXPECT_THAT(numbersOf(results[0].tensor()), ElementsAre(3, 6));
  }
}

/// _foreach_add_ gives the list, whose tensor is turned in it.
TEST(ReshapedTensors, AListOfOneTensorIsNotTheTensor) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]")", R"(        y = x + 0
        f = torch._foreach_add_([y], 1)
        t = y.t_()
        return (t, y)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}})) {
    ASSERT_EQ(results.size(), 2u);
    EXPECT_THAT(results[0].tensor().sizes(), ElementsAre(3, 2));
    EXPECT_THAT(results[1].tensor().sizes(), ElementsAre(3, 2));
    EXPECT_THAT(numbersOf(results[1].tensor()), ElementsAre(1, 4, 2, 5, 3, 6));
  }
}

/// Parts of one memory that do not meet, and a mask with one value of any shape, as PyTorch 2.11 takes them.
TEST(ReshapedTensors, WhatPyTorchTakesIsTaken) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]", b: "f32[8]", w: "f64[]")", R"(        p = b + 0
        r = torch.cat([p[0:2], p[2:4]], 0, out=p[4:8])
        q = torch.cosine_similarity(x, w, 1)
        y = b + 0
        m = y > 5
        s = operator.setitem(y, m, w.reshape(1))
        return (p, y, q)
)");
  const ValueList inputs{Value(counted({2, 3})), Value(counted({8})), Value(*Tensor::zeros(DType::Float64, {}))};
  const auto given = Interpreter(module, referenceOps()).run(inputs);
  ASSERT_TRUE(given) << given.error().text();
  EXPECT_THAT(numbersOf(given->list()[0].tensor()), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(numbersOf(given->list()[1].tensor()), ElementsAre(0, 1, 2, 3, 4, 5, 0, 0));
  EXPECT_EQ(given->list()[2].tensor().dtype(), DType::Float64);  // floats of two types are not cast before the norms
}

TEST(ReshapedTensors, AnItemOfSeveralOutsIsTheTensorThatWasGiven) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]")", R"(        v = torch.empty(2)
        i = torch.empty(2, dtype = torch.int64)
        r = torch.max(x, 1, out=(v, i))
        a = r[0]
        t = v.unsqueeze_(0)
        b = r[0]
        p = a + 1
        q = b + 1
        return (p, q)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}})) {
    ASSERT_EQ(results.size(), 2u);
    for (const Value& result : results) {
      EXPECT_THAT(result.tensor().sizes(), ElementsAre(1, 2));
      EXPECT_THAT(numbersOf(result.tensor()), ElementsAre(3, 6));
    }
  }
}

/// The list of out= is what still names the tensor.
TEST(ReshapedTensors, AnItemThatIsTakenLateIsReshapedToo) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]")", R"(        v = torch.empty(0)
        i = torch.empty(0, dtype = torch.int64)
        r = torch.max(x, 1, keepdim=True, out=(v, i))
        t = v.t_()
        g = r[0]
        return (g,)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}})) {
    ASSERT_EQ(results.size(), 1u);
    EXPECT_THAT(results[0].tensor().sizes(), ElementsAre(1, 2));
    EXPECT_THAT(numbersOf(results[0].tensor()), ElementsAre(2, 5));
  }
}

TEST(ReshapedTensors, AListOfOneOutIsAList) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]")", R"(        a = torch.empty(3)
        r = torch.unbind_copy(x[0:1], out=[a])
        z = a + 1
        return (z,)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}})) {
    ASSERT_EQ(results.size(), 1u);
    EXPECT_THAT(numbersOf(results[0].tensor()), ElementsAre(1, 2, 3));
  }
}

/// torch.full takes the dtype of its fill, which is of no cast.
TEST(ReshapedTensors, WholeNumbersOfAFactoryStayInFloat64) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]")", R"(        o = torch.full((2,), 0)
        r = torch.argmax(x, dim=1, out=o)
        return (o, r)
)");
  const auto cast = castGraph(module, {Value(counted({2, 3}))}, DType::Float64);
  ASSERT_TRUE(cast) << cast.error().text();
  const auto given = Interpreter(cast->module, referenceOps()).run(cast->inputs);
  ASSERT_TRUE(given) << given.error().text();
  EXPECT_EQ(given->list()[0].tensor().dtype(), DType::Int64);
  EXPECT_THAT(numbersOf(given->list()[0].tensor()), ElementsAre(2, 2));
}

/// operator.iadd(number, tensor) makes a new tensor, and the number stays one.
TEST(ReshapedTensors, NumbersAreNoTensors) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]", y: "f32[2, 3]")", R"(        n = x.size(0)
        m1 = operator.iadd(n, x)
        m2 = operator.iadd(n, y)
        t = m1.t_()
        u = y + n
        return (m2, m1, u)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}, {2, 3}})) {
    ASSERT_EQ(results.size(), 3u);
    EXPECT_THAT(results[0].tensor().sizes(), ElementsAre(2, 3));
    EXPECT_THAT(numbersOf(results[0].tensor()), ElementsAre(2, 3, 4, 5, 6, 7));
    EXPECT_THAT(results[1].tensor().sizes(), ElementsAre(3, 2));
    EXPECT_THAT(numbersOf(results[1].tensor()), ElementsAre(2, 5, 3, 6, 4, 7));
    EXPECT_THAT(results[2].tensor().sizes(), ElementsAre(2, 3));
  }
}

TEST(ReshapedTensors, InplaceMethodsGiveTheTensorBack) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]")", R"(        y = x + 0
        w = y.__iadd__(1)
        t = y.t_()
        z = w * 2
        return (z,)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}})) {
    ASSERT_EQ(results.size(), 1u);
    EXPECT_THAT(results[0].tensor().sizes(), ElementsAre(3, 2));
    EXPECT_THAT(numbersOf(results[0].tensor()), ElementsAre(2, 8, 4, 10, 6, 12));
  }
}

TEST(ReshapedTensors, NestedGraphsReshapeToo) {
  for (const char* body : {"            y = x + 1\n            t = y.t_()\n",
                           "            y = torch.zeros(1)\n            t = torch.add(x.t(), 1, out=y)\n"}) {
    const auto module = parseReadable(fmt::format(R"(class GraphModule(torch.nn.Module):
    def forward(self, p: "b8[]", x: "f32[2, 3]"):
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(p, true_graph_0, false_graph_0, (x,))
        getitem = cond[0]
        return (getitem,)

    class true_graph_0(torch.nn.Module):
        def forward(self, x: "f32[2, 3]"):
{0}            z = y * 2
            return (z,)

    class false_graph_0(torch.nn.Module):
        def forward(self, x: "f32[2, 3]"):
{0}            z = y * 3
            return (z,)
)",
                                                  body));
    ASSERT_TRUE(module) << module.error().text();
    for (const bool compiled : {false, true}) {
      const ValueList inputs{Value(Tensor::scalarInt(1, DType::Bool)), Value(counted({2, 3}))};
      const auto graph =
          compiled ? compileFx(*module, {}) : Result<std::unique_ptr<CompiledGraph>>(std::unique_ptr<CompiledGraph>());
      ASSERT_TRUE(graph) << graph.error().text();
      const auto given = compiled ? (*graph)->run(inputs) : Interpreter(*module, referenceOps()).run(inputs);
      ASSERT_TRUE(given) << given.error().text();
      EXPECT_THAT(given->list()[0].tensor().sizes(), ElementsAre(3, 2)) << body;
      EXPECT_THAT(numbersOf(given->list()[0].tensor()), ElementsAre(2, 8, 4, 10, 6, 12)) << body;
    }
  }
}

/// The backward of attention takes the forward's own result as `out`.
TEST(ReshapedTensors, AnArgumentNamedOutIsNotAlwaysWritten) {
  const GraphModule module = graphOf(
      R"(q: "f32[1, 1, 2, 2]", o: "f32[1, 1, 2, 2]", l: "f32[1, 1, 2]")",
      R"(        b = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default(q, q, q, q, out=o, logsumexp=l, dropout_p=0.0, is_causal=False)
        t = torch.ops.aten.t_copy.default(l[0])
        return (b, t)
)");
  std::size_t reshaping = 0;
  for (const NodeId id : module.graph.order()) reshaping += !reshapedOperands(module.graph.node(id)).empty();
  EXPECT_EQ(reshaping, 0u);
}

/// What out= writes is made in the default dtype, which a cast graph has left behind.
TEST(ReshapedTensors, OutFollowsTheGraphIntoAnotherDtype) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]")", R"(        o = torch.empty(2, 3)
        r = torch.abs(x, out=o)
        z = r + 1
        return (z, o)
)");
  for (const DType dtype : {DType::Float64, DType::BFloat16}) {
    const auto cast = castGraph(module, {Value(counted({2, 3}))}, dtype);
    ASSERT_TRUE(cast) << cast.error().text();
    const auto given = Interpreter(cast->module, referenceOps()).run(cast->inputs);
    ASSERT_TRUE(given) << given.error().text();
    for (const Value& result : given->list()) EXPECT_EQ(result.tensor().dtype(), dtype);
    EXPECT_THAT(numbersOf(given->list()[0].tensor()), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

/// x.view(dtype) of x's own dtype is x in float64, whether x was widened or not.
TEST(ReshapedTensors, ViewsOfTheirOwnDtypeFollowIntoFloat64) {
  const GraphModule module = graphOf(R"(x: "f16[4]", i: "i16[4]")",
                                     R"(        a: "f16[4]" = torch.ops.aten.view.dtype(x, torch.float16)
        b: "f16[4]" = torch.ops.aten.view.dtype(i, torch.float16)
        c: "f16[4]" = torch.ops.aten.view.dtype(b, torch.float16)
        return (a, c)
)");
  const auto halves = counted({4}).to(DType::Float16);
  ASSERT_TRUE(halves);
  const auto bits = Tensor::zeros(DType::Int16, {4});
  ASSERT_TRUE(bits);
  for (std::int64_t i = 0; i < 4; ++i) bits->data<std::int16_t>()[i] = std::int16_t(0x3c00);  // 1 as float16
  const auto cast = castGraph(module, {Value(*halves), Value(*bits)}, DType::Float64);
  ASSERT_TRUE(cast) << cast.error().text();
  const auto given = Interpreter(cast->module, referenceOps()).run(cast->inputs);
  ASSERT_TRUE(given) << given.error().text();
  EXPECT_EQ(given->list()[0].tensor().dtype(), DType::Float64);
  EXPECT_THAT(numbersOf(given->list()[0].tensor()), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbersOf(given->list()[1].tensor()), ElementsAre(1, 1, 1, 1));
}

TEST(ReshapedTensors, ViewsKeepTheirOwnSizes) {
  const GraphModule module = graphOf(R"(x: "f32[2, 3]")", R"(        y = x + 0
        v = y.view(3, 2)
        t = y.unsqueeze_(0)
        u = y.add_(1)
        return (v, y, u)
)");
  for (const ValueList& results : bothOf(module, {{2, 3}})) {
    ASSERT_EQ(results.size(), 3u);
    EXPECT_THAT(results[0].tensor().sizes(), ElementsAre(3, 2));
    EXPECT_THAT(numbersOf(results[0].tensor()), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(results[1].tensor().sizes(), ElementsAre(1, 2, 3));
    EXPECT_THAT(results[2].tensor().sizes(), ElementsAre(1, 2, 3));
  }
}

TEST(ReshapedTensors, AGraphWithoutSuchCallsIsNotLookedThrough) {
  const GraphModule plain = graphOf(R"(x: "f32[2, 3]")", "        y = x.add_(1)\n        return (y,)\n");
  EXPECT_FALSE(TensorObjects(plain.graph).any());
  GraphModule changed = plain;
  useReshapedTensors(changed.graph);
  EXPECT_EQ(changed.graph.revision(), plain.graph.revision());
}

/// Which dtypes and memory PyTorch 2.11 takes for out=.
TEST(ReshapedTensors, OutIsRefusedAsPyTorchRefusesIt) {
  struct Refusal {
    const char* call;
    const char* words;
  };
  for (const auto& [call, words] : {
           Refusal{"torch.argmax(x, 1, out=o)", "must have the dtype torch.int64"},
           Refusal{"torch.any(x, 1, out=o)", "must have the dtype torch.bool"},
           Refusal{"torch.sum(x, 1, dtype=torch.float64, out=o)", "must have the dtype torch.float64"},
           Refusal{"torch.clamp(l, 1, 2, out=o)", "must have the dtype torch.int64"},
           Refusal{"torch.exp(x, out=l)", "can't be cast"},
           Refusal{"torch.cat([x, x], 0, out=x)", "read while it is written"},
           Refusal{"torch.mul(x, o3, out=x)", "does not fit"},
       }) {
    const GraphModule module =
        graphOf(R"(x: "f32[2, 3]", o: "f32[0]", o3: "f32[4, 2, 3]")",
                fmt::format("        l = x.long()\n        r = {}\n        return (r,)\n", call));
    const ValueList inputs{Value(counted({2, 3})), Value(counted({0})), Value(counted({4, 2, 3}))};
    const auto interpreted = Interpreter(module, referenceOps()).run(inputs);
    ASSERT_FALSE(interpreted) << call;
    EXPECT_THAT(interpreted.error().message, ::testing::HasSubstr(words)) << call;
    const auto compiled = compileFx(module, {});
    const auto given = compiled ? (*compiled)->run(inputs) : Result<Value>(fail(compiled.error()));
    ASSERT_FALSE(given) << call;
    EXPECT_THAT(given.error().message, ::testing::HasSubstr(words)) << call;
  }
}

}  // namespace
}  // namespace kerf::callforms
