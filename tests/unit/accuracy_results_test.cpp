// What a run leaves behind beside its outputs: mutated values, aliases and strides as rows of a comparison.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"

namespace kerf {
namespace {

using Answer = MemoryWrites::Answer;
using ::testing::ElementsAre;

GraphModule parsed(const std::string& body) {
  auto module = parseReadable("class GraphModule(torch.nn.Module):\n" + body);
  EXPECT_TRUE(module.has_value()) << module.error().text();
  return module ? std::move(*module) : GraphModule();
}

Tensor floats(const Sizes& sizes, float first) {
  Tensor t = Tensor::zeros(DType::Float32, sizes).value();
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = first + float(i);
  return t;
}

/// The compiled side: `module` itself, interpreted.
RunModel modelOf(const GraphModule& module) {
  return [&module](const ValueList& inputs) { return Interpreter(module, referenceOps()).run(inputs); };
}

ComparisonReport compared(const GraphModule& reference, const GraphModule& compiled, const ValueList& inputs,
                          const CompareOptions& options = {}) {
  auto report = sameTwoModels(reference, referenceOps(), modelOf(compiled), inputs, options);
  EXPECT_TRUE(report.has_value()) << report.error().text();
  return report ? std::move(*report) : ComparisonReport();
}

std::vector<std::string> names(const ComparisonReport& report) {
  std::vector<std::string> out;
  for (const auto& row : report.outputs) out.push_back(row.name + (row.same ? "" : " !"));
  return out;
}

TEST(MemoryWrites, FollowsViewsInPlaceOpsAndOutArguments) {
  const GraphModule module = parsed(R"(
    def forward(self, a: "f32[4, 4]", b: "f32[4, 4]", c: "f32[4]", d: "f32[4, 4]", e: "f32[4, 4]"):
        select: "f32[4]" = torch.ops.aten.select.int(a, 0, 1)
        view: "f32[2, 2]" = torch.ops.aten.view.default(select, [2, 2])
        mul_: "f32[2, 2]" = torch.ops.aten.mul_.Tensor(view, 2.0)
        add: "f32[4, 4]" = torch.ops.aten.add.out(b, b, out = d)
        copy_: "f32[4]" = torch.ops.aten.copy_.default(c, select)
        clone: "f32[4, 4]" = torch.ops.aten.clone.default(e)
        relu_: "f32[4, 4]" = torch.ops.aten.relu_.default(clone)
        return (relu_,)
)");
  EXPECT_THAT(memoryWrites(module).placeholders,
              ElementsAre(Answer::Yes, Answer::No, Answer::Yes, Answer::Yes, Answer::No));
}

TEST(MemoryWrites, KnowsForeachStatisticsMethodsAndWhatIsUnknown) {
  const GraphModule module = parsed(R"(
    def forward(self, a: "f32[4]", b: "f32[4]", m: "f32[3]", v: "f32[3]", x: "f32[2, 3, 4]", t: "f32[4]", u: "f32[4]"):
        _foreach_add_ = torch.ops.aten._foreach_add_.Scalar([a, b], 1)
        legit = torch.ops.aten._native_batch_norm_legit.default(x, None, None, m, v, True, 0.1, 1e-05)
        getitem: "f32[2, 3, 4]" = legit[0]
        tr: "f32[4]" = t.detach()
        add_: "f32[4]" = tr.add_(1)
        relu: "f32[4]" = torch.ops.mylib.mystery.default(u)
        return (getitem, add_, relu)
)");
  EXPECT_THAT(memoryWrites(module).placeholders,
              ElementsAre(Answer::Yes, Answer::Yes, Answer::Yes, Answer::Yes, Answer::No, Answer::Yes, Answer::Maybe));
}

TEST(MemoryWrites, KnowsResultsThatMayBeTheirArgument) {
  const GraphModule module = parsed(R"(
    def forward(self, x: "f32[4, 4]", y: "f32[4]", z: "f32[4, 4]", u: "f32[2, 4]"):
        chain: "f32[4, 4]" = torch.ops.aten.chain_matmul.default([x])
        add_: "f32[4, 4]" = torch.ops.aten.add_.Tensor(chain, 1)
        at: "f32[1, 4]" = torch.ops.aten.atleast_2d.default(y)
        mul_: "f32[1, 4]" = torch.ops.aten.mul_.Tensor(at, 2)
        sum: "f32[4, 4]" = torch.ops.aten.einsum.default('ij->ji', [z])
        relu_: "f32[4, 4]" = torch.ops.aten.relu_.default(sum)
        split = torch.ops.aten.unsafe_split.Tensor(u, 1)
        part: "f32[1, 4]" = split[0]
        neg_: "f32[1, 4]" = torch.ops.aten.neg_.default(part)
        return (add_, mul_, relu_, neg_)
)");
  EXPECT_THAT(memoryWrites(module).placeholders, ElementsAre(Answer::Maybe, Answer::Maybe, Answer::Maybe, Answer::Yes));
}

TEST(MemoryWrites, KnowsPythonsCallsAndBatchNormsWithoutMarks) {
  const GraphModule module = parsed(R"(
    def forward(self, x: "f32[2, 3, 4]", m: "f32[3]", v: "f32[3]", a: "f32[4]", b: "f32[4]", o: "f32[4]"):
        norm = torch.ops.aten.native_batch_norm.default(x, None, None, m, v, True, 0.1, 1e-05)
        getitem: "f32[2, 3, 4]" = norm[0]
        iadd = operator.iadd(a, b)
        add = torch.add(a, b, out = o)
        return (getitem, iadd, add)
)");
  EXPECT_THAT(memoryWrites(module).placeholders,
              ElementsAre(Answer::No, Answer::Maybe, Answer::Maybe, Answer::Yes, Answer::Maybe, Answer::Yes));
}

/// Each call may give memory of all that came before it: 20,000 sets of up to 20,000 inputs are not kept.
TEST(MemoryWrites, FollowsLongChainsOfWhatIsUnknown) {
  constexpr int many = 20'000;
  std::string signature = "self, x: \"f32[4]\"", body, last = "x";
  for (int i = 0; i < many; ++i) {
    signature += fmt::format(", w{}: \"f32[4]\"", i);
    body += fmt::format("        v{0} = torch.ops.mylib.see{1}.default({2}, w{0})\n", i, i % 3, last);
    last = fmt::format("v{}", i);
  }
  const GraphModule module =
      parsed(fmt::format("    def forward({}, y: \"f32[4]\"):\n{}        u = {}.add_(1)\n        z = y.add_(1)\n"
                         "        return (u, z)\n",
                         signature, body, last));
  const auto writes = memoryWrites(module).placeholders;
  ASSERT_EQ(writes.size(), std::size_t(many + 2));
  for (std::size_t i = 0; i + 1 < writes.size(); ++i) ASSERT_EQ(writes[i], Answer::Maybe) << i;
  EXPECT_EQ(writes.back(), Answer::Yes);
}

/// Each graph calls the next one twice: 2 to the 40th ways lead to the innermost.
TEST(MemoryWrites, LooksThroughANestedGraphOnce) {
  std::string text;
  for (int i = 0; i <= 40; ++i) {
    const std::string indent(std::size_t(4 * i), ' ');
    text += fmt::format("{0}class {1}(torch.nn.Module):\n{0}    def forward(self, a: \"f32[4]\", b: \"f32[4]\"):\n",
                        indent, i == 0 ? "GraphModule" : fmt::format("inner{}", i));
    if (i < 40)
      text += fmt::format(
          "{0}        f = self.inner{1}\n"
          "{0}        u = torch.ops.higher_order.invoke_subgraph(f, 'p', b, a)\n"
          "{0}        w = torch.ops.higher_order.invoke_subgraph(f, 'p', b, a)\n"
          "{0}        return (w,)\n",
          indent, i + 1);
    else
      text += fmt::format("{0}        u = a.add_(1)\n{0}        return (u,)\n", indent);
  }
  const auto module = parseReadable(text);
  ASSERT_TRUE(module) << module.error().text();
  EXPECT_THAT(memoryWrites(*module).placeholders, ElementsAre(Answer::Yes, Answer::No));
}

const char* adamLike = R"(
    def forward(self, p: "f32[4]", g: "f32[4]", m: "f32[4]"):
        mul: "f32[4]" = torch.ops.aten.mul.Tensor(m, 0.9)
        add: "f32[4]" = torch.ops.aten.add.Tensor(mul, g, alpha = FACTOR)
        sub: "f32[4]" = torch.ops.aten.sub.Tensor(p, add)
        copy_: "f32[4]" = torch.ops.aten.copy_.default(p, sub)
        copy__1: "f32[4]" = torch.ops.aten.copy_.default(m, add)
        return ()
)";

GraphModule adam(const std::string& factor) {
  std::string text = adamLike;
  return parsed(text.replace(text.find("FACTOR"), 6, factor));
}

TEST(SameTwoModels, MutatedInputsAreResults) {
  const ValueList inputs{floats({4}, 0), floats({4}, 1), floats({4}, 2)};
  const auto good = compared(adam("0.1"), adam("0.1"), inputs);
  EXPECT_TRUE(good.same);
  EXPECT_THAT(names(good), ElementsAre("mutates p", "mutates m"));
  EXPECT_EQ(good.outputs[0].kind, ResultKind::Mutation);
  EXPECT_LT(good.outputs[0].rmseRef, 1e-6);
  EXPECT_EQ(inputs[0].tensor().itemAsDouble(0), 0) << "the caller's values stay";
  const auto bad = compared(adam("0.1"), adam("0.3"), inputs);
  EXPECT_FALSE(bad.same);
  EXPECT_THAT(names(bad), ElementsAre("mutates p !", "mutates m !"));
  EXPECT_NEAR(bad.outputs[1].maxAbsError, 0.2 * 4, 1e-5);
}

TEST(SameTwoModels, AToleranceOfItsOwnDecidesOneResult) {
  const ValueList inputs{floats({4}, 0), floats({4}, 1), floats({4}, 2)};
  CompareOptions options;
  options.tolerances = {{"m", 10}};
  EXPECT_THAT(names(compared(adam("0.1"), adam("0.3"), inputs, options)), ElementsAre("mutates p !", "mutates m"));
}

TEST(SameTwoModels, BuffersAreWrittenByEachRunForItself) {
  const std::string body = R"(
    def forward(self, x: "f32[2]"):
        stat = self.stat
        add_: "f32[2]" = torch.ops.aten.add_.Tensor(stat, x)
        mul: "f32[2]" = torch.ops.aten.mul.Tensor(add_, 2.0)
        return (mul,)
)";
  GraphModule module = parsed(body);
  module.attributes.add("stat", {floats({2}, 5), false, ""});
  const auto report = compared(module, module, {floats({2}, 1)});
  EXPECT_TRUE(report.same);
  EXPECT_THAT(names(report), ElementsAre("out0", "mutates stat"));
  EXPECT_EQ(module.attribute("stat")->tensor.itemAsDouble(0), 5) << "restored";
}

TEST(SameTwoModels, AliasesMustAgree) {
  const GraphModule view = parsed(R"(
    def forward(self, x: "f32[2, 3]"):
        t: "f32[3, 2]" = torch.ops.aten.permute.default(x, [1, 0])
        relu: "f32[2, 3]" = torch.ops.aten.relu.default(x)
        alias: "f32[2, 3]" = torch.ops.aten.alias.default(relu)
        return (t, relu, alias)
)");
  GraphModule copy = parsed(R"(
    def forward(self, x: "f32[2, 3]"):
        permute: "f32[3, 2]" = torch.ops.aten.permute.default(x, [1, 0])
        t: "f32[3, 2]" = torch.ops.aten.clone.default(permute, memory_format = torch.preserve_format)
        relu: "f32[2, 3]" = torch.ops.aten.relu.default(x)
        alias: "f32[2, 3]" = torch.ops.aten.alias.default(relu)
        return (t, relu, alias)
)");
  const ValueList inputs{floats({2, 3}, 0)};
  EXPECT_THAT(names(compared(view, view, inputs)),
              ElementsAre("out0", "out1", "out2", "out0 is a view of x", "out2 is a view of out1"));
  const auto bad = compared(view, copy, inputs);
  EXPECT_FALSE(bad.same);
  EXPECT_THAT(names(bad), ElementsAre("out0", "out1", "out2", "out0 is a view of x !", "out2 is a view of out1"));
  EXPECT_EQ(bad.outputs[3].reason, "Aliasing failed: in the compiled side it has memory of its own");
}

TEST(SameTwoModels, StridesMustAgreeWhereTheySaySomething) {
  const auto laidOut = [](const char* sizes, const char* format) {
    return parsed(fmt::format(R"(
    def forward(self, x: "f32[{}]"):
        clone: "f32[{}]" = torch.ops.aten.clone.default(x, memory_format = torch.{})
        return (clone,)
)",
                              sizes, sizes, format));
  };
  const auto bad = compared(laidOut("1, 2, 3, 4", "contiguous_format"), laidOut("1, 2, 3, 4", "channels_last"),
                            {floats({1, 2, 3, 4}, 0)});
  EXPECT_THAT(names(bad), ElementsAre("out0", "strides out0 !"));
  EXPECT_EQ(bad.outputs[1].reason, "Strides failed: (24, 1, 8, 2) instead of (24, 12, 4, 1)");
  const auto good = compared(laidOut("2, 3, 1, 1", "contiguous_format"), laidOut("2, 3, 1, 1", "channels_last"),
                             {floats({2, 3, 1, 1}, 0)});
  EXPECT_THAT(names(good), ElementsAre("out0")) << "dimensions of one element have any stride";
}

TEST(SameTwoModels, OpsWithoutKernelAreNoVerdict) {
  const GraphModule module = adam("0.1");
  const RunModel unsupported = [](const ValueList&) -> Result<Value> {
    return fail(ErrorCode::UnsupportedOp, "no kernel for x");
  };
  const ValueList inputs{floats({4}, 0), floats({4}, 1), floats({4}, 2)};
  EXPECT_EQ(sameTwoModels(module, referenceOps(), unsupported, inputs, {}).error().code, ErrorCode::UnsupportedOp);
}

TEST(SameTwoModels, KeepsTheFp64ReferenceWhereDtypesAreNamed) {
  const GraphModule module = parsed(R"(
    def forward(self, x: "f32[2, 3]", w: "f32[3, 3]"):
        softmax: "f32[2, 3]" = torch.ops.aten.softmax.int(x, -1, torch.float32)
        mm: "f32[2, 3]" = torch.ops.aten.mm.default(softmax, w)
        _assert_tensor_metadata = torch.ops.aten._assert_tensor_metadata.default(mm, None, None, torch.float32)
        return (mm,)
)");
  const auto report = compared(module, module, {floats({2, 3}, 0), floats({3, 3}, 1)});
  EXPECT_TRUE(report.haveFp64) << report.fp64Note;
  EXPECT_GT(report.outputs[0].rmseRef, 0);
  EXPECT_LT(report.outputs[0].rmseRef, 1e-5);
}

TEST(SameTwoModels, OutputsThatRequireGradientsGiveALoss) {
  const std::string body = R"(
    def forward(self, x: "f32[4]"):
        mul: "f32[4]" = torch.ops.aten.mul.Tensor(x, FACTOR)
        neg: "f32[4]" = torch.ops.aten.neg.default(x)
        return (mul, neg)
)";
  const auto scaled = [&](const std::string& factor) {
    std::string text = body;
    return parsed(text.replace(text.find("FACTOR"), 6, factor));
  };
  Tensor x = floats({4}, 1);  // 1, 2, 3, 4
  x.requiresGrad = true;
  const auto good = compared(scaled("3.0"), scaled("3.0"), {x});
  EXPECT_THAT(names(good), ElementsAre("out0", "out1", "loss"));
  EXPECT_NE(good.backwardNote, "");
  EXPECT_THAT(names(compared(scaled("3.0"), scaled("4.0"), {x})), ElementsAre("out0 !", "out1", "loss !"));
  EXPECT_EQ(names(compared(scaled("3.0"), scaled("3.0"), {x}, {.forwardOnly = true})).size(), 2u);
  x.requiresGrad = false;
  EXPECT_EQ(names(compared(scaled("3.0"), scaled("3.0"), {x})).size(), 2u);
}

TEST(Same, ComparesDictsByKeyInAnyOrder) {
  const Value one = Value(ValueList{Value("a"), Value(floats({2}, 1))}), two = Value(ValueList{Value("b"), Value(3.5)});
  const Value ref(ValueList{one, two}), turned(ValueList{two, one});
  const SameReport report = same(ref, turned, Value(), {});
  ASSERT_EQ(report.outputs.size(), 2u);
  EXPECT_TRUE(report.same);
  EXPECT_EQ(report.outputs[0].name, "out.a");
  const Value other(ValueList{one, Value(ValueList{Value("c"), Value(3.5)})});
  EXPECT_EQ(same(ref, other, Value(), {}).outputs.back().reason, "keys mismatch: b is missing");
}

TEST(Same, CountsWhatIsFinite) {
  Tensor nothing = floats({3}, 0);
  std::ranges::fill_n(nothing.data<float>(), 3, std::numeric_limits<float>::quiet_NaN());
  const SameReport empty = same(Value(nothing), Value(nothing), Value(), {.equalNan = true});
  EXPECT_TRUE(empty.same);
  EXPECT_TRUE(empty.outputs[0].nothingFinite());
  Tensor one = nothing.clone().value();
  one.data<float>()[1] = 4;
  EXPECT_EQ(same(Value(one), Value(one), Value(), {.equalNan = true}).outputs[0].finite, 1);
  EXPECT_EQ(same(Value(one), Value(nothing), Value(), {.equalNan = true}).outputs[0].finite, 0);
}

}  // namespace
}  // namespace kerf
