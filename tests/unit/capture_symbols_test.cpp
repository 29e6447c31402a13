// Captured graphs with symbolic sizes: run at the recorded values and at others; inputs generated from annotations.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/capture/common/capture.h"
#include "engine/capture/inputs/annotation_inputs.h"
#include "engine/capture/inputs/generated_inputs.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"

namespace kerf {
namespace {

constexpr const char* dynamicRepro = R"(s33 = 4
s7 = 6
import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, arg0_1, arg1_1, arg2_1):
        sym_size_int = torch.ops.aten.sym_size.int(arg1_1, 1)
        mul = arg0_1 * sym_size_int
        view = torch.ops.aten.view.default(arg1_1, [mul])
        add = mul + 1
        full = torch.ops.aten.full.default([add], 2.0, dtype = torch.float32)
        sum_1 = torch.ops.aten.sum.default(view)
        mul_1 = torch.ops.aten.mul.Tensor(full, sum_1)
        floordiv = mul // 2
        expand = torch.ops.aten.expand.default(arg2_1, [arg0_1, floordiv])
        return (mul_1, expand, mul)

def load_args(reader):
    reader.symint(4)  # arg0_1
    buf0 = reader.storage(None, 4*s33*s7)
    reader.tensor(buf0, (s33, s7), is_leaf=True)  # arg1_1
    buf1 = reader.storage(None, 4)
    reader.tensor(buf1, (1, 1), is_leaf=True)  # arg2_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='symbolic', check_str=None)
)";

CapturedGraph imported(std::string text) {
  auto capture = importRepro(text, "repro.py");
  EXPECT_TRUE(capture) << (capture ? "" : capture.error().text());
  return capture ? std::move(capture->graphs.at(0)) : CapturedGraph();
}

ValueList outputsOf(const CapturedGraph& graph, const LoadOptions& options) {
  const auto inputs = graph.loadInputs(options, nullptr);
  EXPECT_TRUE(inputs) << (inputs ? "" : inputs.error().text());
  if (!inputs) return {};
  const auto result = Interpreter(graph.module, referenceOps()).run(*inputs);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result && result->isList() ? result->list() : ValueList();
}

void expectEqual(const ValueList& a, const ValueList& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].isTensor(), b[i].isTensor());
    if (!a[i].isTensor()) {
      EXPECT_EQ(*a[i].as<std::int64_t>(), *b[i].as<std::int64_t>());
      continue;
    }
    ASSERT_EQ(a[i].tensor().sizes(), b[i].tensor().sizes());
    for (std::int64_t k = 0; k < a[i].tensor().numel(); ++k)
      ASSERT_EQ(a[i].tensor().itemAsDouble(k), b[i].tensor().itemAsDouble(k));
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(SymbolicInputs, ListTheSymbolsWithTheirValues) {
  const auto symbols = imported(dynamicRepro).symbols();
  EXPECT_EQ(symbols, (std::vector<SymExpr>{{"s33", 4}, {"s7", 6}}));
}

TEST(SymbolicInputs, RunAtTheRecordedSizesAndAtOthers) {
  const CapturedGraph graph = imported(dynamicRepro);
  const ValueList recorded = outputsOf(graph, {});
  ASSERT_EQ(recorded.size(), 3u);
  EXPECT_EQ(recorded[0].tensor().sizes(), Sizes{25});
  EXPECT_EQ(recorded[1].tensor().sizes(), (Sizes{4, 12}));
  EXPECT_EQ(*recorded[2].as<std::int64_t>(), 24);
  // the same file with the sizes written as numbers
  std::string text = replaced(replaced(dynamicRepro, "s33 = 4\ns7 = 6\n", ""), "symint(4)", "symint(9)");
  text = replaced(replaced(text, "4*s33*s7", "180"), "(s33, s7)", "(9, 5)");
  LoadOptions options;
  options.symbols = {{"s33", 9}, {"s7", 5}};
  const ValueList other = outputsOf(graph, options);
  ASSERT_EQ(other.size(), 3u);
  EXPECT_EQ(other[0].tensor().sizes(), Sizes{46});
  expectEqual(other, outputsOf(imported(text), {}));
}

TEST(SymbolicInputs, OneValueMayStayAsRecorded) {
  LoadOptions options;
  options.symbols = {{"s7", 10}};
  const ValueList out = outputsOf(imported(dynamicRepro), options);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(*out[2].as<std::int64_t>(), 40);
}

TEST(SymbolicInputs, RefuseUnknownSymbolsAndBadValues) {
  const CapturedGraph graph = imported(dynamicRepro);
  LoadOptions options;
  options.symbols = {{"s99", 3}};
  const auto unknown = graph.loadInputs(options, nullptr);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::BadUsage);
  EXPECT_NE(unknown.error().message.find("s33, s7"), std::string::npos) << unknown.error().text();
  options.symbols = {{"s33", -2}};
  EXPECT_EQ(graph.loadInputs(options, nullptr).error().code, ErrorCode::BadInput);
  options.symbols = {{"s33", INT64_MAX}};
  EXPECT_EQ(graph.loadInputs(options, nullptr).error().code, ErrorCode::BadInput);
  options.symbols = {{"s33", std::int64_t{1} << 40}};
  EXPECT_EQ(graph.loadInputs(options, nullptr).error().code, ErrorCode::TooLarge);
}

/// As PyTorch writes a batch of square matrices.
TEST(SymbolicInputs, StridesMayBePowers) {
  const CapturedGraph graph = imported(
      replaced(replaced(dynamicRepro, "4*s33*s7)", "4*s33*s7**2)"), "(s33, s7)", "(s33, s7, s7), (s7**2, s7, 1)"));
  ASSERT_EQ(graph.inputs.size(), 3u);
  EXPECT_EQ(graph.inputs[1].strides, (Sizes{36, 6, 1}));
  EXPECT_EQ(graph.inputs[1].strideTexts, (std::vector<std::string>{"s7**2", "s7", "1"}));
  EXPECT_EQ(graph.storages[0].bytes, 4 * 4 * 36);
  EXPECT_FALSE(importRepro(replaced(dynamicRepro, "4*s33*s7)", "4**99)"), "repro.py"));
}

TEST(SymbolicInputs, OfAnnotationsAreTextsThatPythonEvaluates) {
  auto module = parseReadable(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[s0, s1, s1][s1**2, s1, 1]\", y: \"f32[s0, s1][Max(1, s1), 1]\", z: "
      "\"f32[Mod(s0, 4)]\"):\n"
      "        return (x, y, z)\n");
  ASSERT_TRUE(module) << module.error().text();
  bindAnnotations(*module, {{"s0", 6}, {"s1", 5}});
  const auto made = inputsFromAnnotations(*module);
  EXPECT_EQ(made.inputs[0].strideTexts, (std::vector<std::string>{"s1**2", "s1", "1"}));
  EXPECT_EQ(made.inputs[1].strideTexts, (std::vector<std::string>{"max(1, s1)", "1"}));
  EXPECT_TRUE(made.inputs[2].sizeTexts.empty());
  EXPECT_EQ(made.inputs[2].sizes, Sizes{2});
}

TEST(SymbolicInputs, ComputedSizesGetExpressions) {
  CapturedGraph graph = imported(dynamicRepro);
  const auto done = graph.annotateShapes();
  ASSERT_TRUE(done) << done.error().text();
  const auto metaOf = [&](const char* name) {
    return graph.module.graph.node(*graph.module.graph.find(name)).meta().value;
  };
  EXPECT_EQ(metaOf("sym_size_int").sym()->expr, (SymExpr{"s7", 6}));
  EXPECT_EQ(metaOf("mul").sym()->expr, (SymExpr{"s33*s7", 24}));
  EXPECT_EQ(metaOf("add").sym()->expr, (SymExpr{"s33*s7 + 1", 25}));
  EXPECT_EQ(metaOf("floordiv").sym()->expr, (SymExpr{"((s33*s7)//2)", 12}));
  EXPECT_EQ(metaOf("view").tensor()->sizes, (std::vector<Dim>{{"s33*s7", 24}}));
  EXPECT_EQ(metaOf("full").tensor()->sizes[0].hint, 25);
  EXPECT_EQ(metaOf("sum_1").tensor()->sizes.size(), 0u);
}

CapturedGraph readable(std::string_view text) {
  auto module = parseReadable(text);
  EXPECT_TRUE(module) << (module ? "" : module.error().text());
  CapturedGraph graph;
  if (module) graph.module = std::move(*module);
  return graph;
}

constexpr const char* annotated = R"py(
class GraphModule(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", ids: "i64[s0, 5]", weight: "f32[11, 3]", var: "f32[3]", mask: "b8[s0, 5]", seed: "i64[]", turned: "f32[3, s0][1, 3]"):
        unsqueeze: "i64[s0, 5, 1]" = torch.ops.aten.unsqueeze.default(ids, -1)
        squeeze: "i64[s0, 5]" = torch.ops.aten.squeeze.dim(unsqueeze, -1)
        embedding: "f32[s0, 5, 3]" = torch.ops.aten.embedding.default(weight, squeeze)
        add: "f32[3]" = torch.ops.aten.add.Tensor(var, 1e-05)
        rsqrt: "f32[3]" = torch.ops.aten.rsqrt.default(add)
        mul: "f32[s0, 5, 3]" = torch.ops.aten.mul.Tensor(embedding, rsqrt)
        return (mul, mask, turned)
)py";

TEST(GeneratedInputs, FitTheirUsers) {
  const CapturedGraph graph = readable(annotated);
  LoadOptions options;
  options.symbols = {{"s0", 40}};
  std::vector<std::string> notes;
  const auto inputs = graph.loadInputs(options, &notes);
  ASSERT_TRUE(inputs) << inputs.error().text();
  ASSERT_EQ(inputs->size(), 7u);
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_EQ(*inputs->at(0).as<std::int64_t>(), 40);
  const Tensor& ids = inputs->at(1).tensor();
  EXPECT_EQ(ids.sizes(), (Sizes{40, 5}));
  std::set<std::int64_t> values;
  for (std::int64_t i = 0; i < ids.numel(); ++i) values.insert(ids.itemAsInt(i));
  EXPECT_GE(*values.begin(), 0);
  EXPECT_LT(*values.rbegin(), 11);
  EXPECT_GT(values.size(), 5u);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_GE(inputs->at(3).tensor().itemAsDouble(i), 0.5);
  EXPECT_EQ(inputs->at(4).tensor().dtype(), DType::Bool);
  EXPECT_EQ(inputs->at(6).tensor().strides(), (Sizes{1, 3}));
  const auto again = graph.loadInputs(options, nullptr);
  ASSERT_TRUE(again);
  for (std::int64_t i = 0; i < 33; ++i)
    EXPECT_EQ(inputs->at(2).tensor().itemAsDouble(i), again->at(2).tensor().itemAsDouble(i));
  const auto result = Interpreter(graph.module, referenceOps()).run(*inputs);
  ASSERT_TRUE(result) << result.error().text();
  for (std::int64_t i = 0; i < 600; ++i) ASSERT_TRUE(std::isfinite(result->list()[0].tensor().itemAsDouble(i)));
}

TEST(GeneratedInputs, AskForSymbolsWithoutValue) {
  const CapturedGraph graph = readable(annotated);
  const auto inputs = graph.loadInputs(LoadOptions{}, nullptr);
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().code, ErrorCode::BadInput);
  EXPECT_NE(inputs.error().message.find("s0"), std::string::npos);
  EXPECT_EQ(graph.symbols(), (std::vector<SymExpr>{{"s0", {}}}));
  LoadOptions strict;
  strict.strict = true;
  EXPECT_EQ(graph.loadInputs(strict, nullptr).error().code, ErrorCode::NotFound);
}

TEST(GeneratedInputs, NameThePlaceholderWithoutAnnotation) {
  const CapturedGraph graph = readable(
      "class G(torch.nn.Module):\n    def forward(self, x):\n        neg = torch.ops.aten.neg.default(x)\n        "
      "return (neg,)\n");
  const auto inputs = graph.loadInputs(LoadOptions{}, nullptr);
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().node, "x");
}

TEST(DataDependent, SizesComeFromValues) {
  const CapturedGraph graph = readable(R"py(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[6]", n: "i64[]"):
        gt: "b8[6]" = torch.ops.aten.gt.Scalar(x, 0)
        nonzero: "i64[u0, 1]" = torch.ops.aten.nonzero.default(gt)
        sym_size_int: "Sym(u0)" = torch.ops.aten.sym_size.int(nonzero, 0)
        ge: "Sym(u0 >= 0)" = sym_size_int >= 0
        _assert_scalar = torch.ops.aten._assert_scalar.default(ge, "Runtime assertion failed for expression u0 >= 0")
        constrain = torch.ops.aten.sym_constrain_range_for_size.default(sym_size_int, min = 0, max = 6)
        _local_scalar_dense: "Sym(u1)" = torch.ops.aten._local_scalar_dense.default(n)
        add: "Sym(u0 + u1)" = sym_size_int + _local_scalar_dense
        full: "f32[u0 + u1]" = torch.ops.aten.full.default([add], 1)
        return (full, sym_size_int)
)py");
  Tensor x = *Tensor::zeros(DType::Float32, {6});
  x.data<float>()[1] = x.data<float>()[4] = 1;
  const ValueList inputs{Value(x), Value(Tensor::scalarInt(3, DType::Int64))};
  const auto result = Interpreter(graph.module, referenceOps()).run(inputs);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->list()[0].tensor().sizes(), Sizes{5});
  EXPECT_EQ(*result->list()[1].as<std::int64_t>(), 2);
}

TEST(DataDependent, ConstraintsThatFailSayWhich) {
  const CapturedGraph graph = readable(R"py(
class GraphModule(torch.nn.Module):
    def forward(self, n: "i64[]"):
        item: "Sym(u0)" = torch.ops.aten.item.default(n)
        check = torch.ops.aten.sym_constrain_range.default(item, min = 2, max = 4)
        return (item,)
)py");
  const ValueList inputs{Value(Tensor::scalarInt(9, DType::Int64))};
  const auto result = Interpreter(graph.module, referenceOps()).run(inputs);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::RuntimeFailed);
  EXPECT_EQ(result.error().node, "check");
}

TEST(SymbolicInputs, KeepTheirTextsAtOtherValues) {
  const CapturedGraph graph = imported(dynamicRepro);
  const auto sized = withSymbolValues(graph, {{"s33", 9}, {"s7", 10}});
  ASSERT_TRUE(sized) << sized.error().text();
  EXPECT_EQ(sized->inputs[0].sym.hint, 9);
  EXPECT_EQ(sized->inputs[1].sizes, (Sizes{9, 10}));
  EXPECT_EQ(sized->inputs[1].sizeTexts, graph.inputs[1].sizeTexts);
  EXPECT_EQ(sized->storages[0].bytes, 360);
  EXPECT_EQ(sized->symbols(), (std::vector<SymExpr>{{"s33", 9}, {"s7", 10}}));
  EXPECT_EQ(withSymbolValues(graph, {{"s1", 9}}).error().code, ErrorCode::BadUsage);
}

TEST(SymbolicInputs, AnIntegerMayBeWrittenAsAnExpression) {
  const CapturedGraph graph = imported(replaced(dynamicRepro, "reader.symint(4)", "reader.symint(2*s33 - 4)"));
  EXPECT_EQ(graph.inputs[0].sym, (SymExpr{"2*s33 - 4", 4}));
  const auto sized = withSymbolValues(graph, {{"s33", 9}});
  ASSERT_TRUE(sized) << sized.error().text();
  EXPECT_EQ(sized->inputs[0].sym.hint, 14);
}

}  // namespace
}  // namespace kerf
