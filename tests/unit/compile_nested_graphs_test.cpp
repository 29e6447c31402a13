// Branches and loop bodies on their way through a compilation: passes work on them, and results stay.
#include <gmock/gmock.h>

#include "engine/ir/parser.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;

/// A loop whose body computes one sum twice.
constexpr const char* loopText = R"(
class <lambda>(torch.nn.Module):
    def forward(self, i: "i64[]", x: "f32[2]"):
        cond_fn = self.cond_fn
        body_fn = self.body_fn
        while_loop = torch.ops.higher_order.while_loop(cond_fn, body_fn, (i, x), ())
        getitem: "i64[]" = while_loop[0]
        getitem_1: "f32[2]" = while_loop[1]
        return (getitem, getitem_1)

    class cond_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[2]"):
            lt: "b8[]" = torch.ops.aten.lt.Scalar(i, 5)
            return lt

    class body_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[2]"):
            add: "i64[]" = torch.ops.aten.add.Tensor(i, 1)
            exp: "f32[2]" = torch.ops.aten.exp.default(x)
            exp_1: "f32[2]" = torch.ops.aten.exp.default(x)
            sub: "f32[2]" = torch.ops.aten.sub.Tensor(exp, exp_1)
            cos: "f32[2]" = torch.ops.aten.cos.default(sub)
            return (add, cos)
)";

struct Loop {
  GraphModule module;
  ValueList inputs{Tensor::scalarInt(0, DType::Int64), *Tensor::zeros(DType::Float32, {2})};
  Loop() {
    auto parsed = parseReadable(loopText);
    EXPECT_TRUE(parsed) << parsed.error().text();
    module = std::move(*parsed);
    EXPECT_TRUE(propagateShapes(module));
  }
};

std::vector<std::string> changes(const CompiledGraph& graph) {
  std::vector<std::string> changes;
  for (const PassRecord& record : graph.passRecords())
    if (record.changed)
      changes.push_back(fmt::format("{} {} -> {}", record.path, record.nodesBefore, record.nodesAfter));
  return changes;
}

TEST(NestedGraphs, OfALoopAreWorkedOnByEveryPass) {
  const Loop loop;
  const auto reference = Interpreter(loop.module, referenceOps()).run(loop.inputs);
  ASSERT_TRUE(reference) << reference.error().text();
  for (const char* backend : {"llvm", "interp"}) {
    const auto graph = compileFx(loop.module, {.backend = backend});
    ASSERT_TRUE(graph) << graph.error().text();
    EXPECT_THAT(changes(**graph), testing::ElementsAre("body_fn 8 -> 7"));
    const auto result = (*graph)->run(loop.inputs);
    ASSERT_TRUE(result) << result.error().text();
    for (const std::size_t i : {0, 1})
      expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), 1e-6, backend);
  }
  EXPECT_EQ(loop.module.submodule("body_fn")->graph->graph.size(), 8u) << "the captured module must not change";
}

TEST(NestedGraphs, OfALoopCanHoldFaults) {
  const Loop loop;
  CompileOptions options;
  options.faults.faults.push_back(*parseFault("cos=accuracy"));
  const auto graph = compileFx(loop.module, options);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run(loop.inputs);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->list()[1].tensor().itemAsDouble(), 2) << "cos(0) + 1";
}

}  // namespace
}  // namespace kerf
