// Calls that give an operand other sizes (x.t_(), out=x, x.resize_()): every name that the tensor has shows them afterwards, in
// the interpreter and in compiled code. The values are PyTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ir/tensor_objects.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"

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
  EXPECT_EQ(given->list()[2].tensor().dtype(), DType::Float32);
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
