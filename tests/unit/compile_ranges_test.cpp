// Loops in parts: what a comparison of the innermost loop's variable with a number chooses, beside the interpreter.
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::expectLikeInterpreter;
using testing_support::parsed;

std::string compiledText(const char* text, const ValueList& inputs, const char* format) {
  const GraphModule module = parsed(text);
  auto graph = compileFx(module);
  EXPECT_TRUE(graph);
  if (!graph) return {};
  expectLikeInterpreter(module, **graph, inputs);
  return std::string((*graph)->kernels().front().text(format));
}

TEST(LoopParts, PiecesAlongTheRowsAreReadWithoutACondition) {
  const std::string code = compiledText(R"(def forward(self, x: "f32[7, 96]", y: "f32[7, 40]"):
    cat = torch.ops.aten.cat.default([x, y, x], 1)
    return (cat,)
)",
                                        {counted({7, 96}), counted({7, 40}, 5)}, "llvm");
  EXPECT_EQ(code.find("masked.load"), std::string::npos) << code;
}

TEST(LoopParts, OfEveryWayToBeComparedWith) {
  for (const char* call :
       {"constant_pad_nd.default(x, [3, 5], 2.5)", "constant_pad_nd.default(x, [-3, 5], 2.5)",
        "constant_pad_nd.default(x, [1, 70, 2, 1], 0.0)", "roll.default(x, [5], [1])",
        "roll.default(x, [-1, 2], [1, 0])", "reflection_pad1d.default(x, [7, 9])",
        "replication_pad1d.default(x, [7, 9])", "cat.default([x, x, x, x, x], 1)", "stack.default([x, x], 2)",
        "slice_scatter.default(x, y, 1, 40, 50)", "select_scatter.default(x, z, 1, 63)",
        "select_scatter.default(x, z, 1, 0)", "slice_backward.default(y, [6, 200], 1, 190, 200, 1)"}) {
    SCOPED_TRACE(call);
    const std::string text = fmt::format(
        "def forward(self, x: \"f32[6, 64]\", y: \"f32[6, 10]\", z: \"f32[6]\"):\n    r = torch.ops.aten.{}\n    n = "
        "torch.ops.aten.neg.default(r)\n    s = torch.ops.aten.sum.default(n)\n    return (n, s)\n",
        call);
    compiledText(text.c_str(), {counted({6, 64}), counted({6, 10}, 100), counted({6}, -7)}, "loop");
  }
}

/// Threads may take any piece of the loop that is in parts.
TEST(LoopParts, OfOneLoopThatThreadsShare) {
  const ValueList inputs{counted({300000}), counted({200001}, 5)};
  compiledText(R"(def forward(self, x: "f32[300000]", y: "f32[200001]"):
    cat = torch.ops.aten.cat.default([x, y], 0)
    exp = torch.ops.aten.sin.default(cat)
    return (exp, cat)
)",
               inputs, "loop");
}

TEST(LoopParts, TriangularAndComputedPlacesStayWhole) {
  const ValueList inputs{counted({70, 80}), counted({70, 80}, 3)};
  compiledText(R"(def forward(self, x: "f32[70, 80]", y: "f32[70, 80]"):
    tril = torch.ops.aten.tril.default(x, 2)
    roll = torch.ops.aten.roll.default(y, [3], [1])
    add = torch.ops.aten.add.Tensor(tril, roll)
    amax = torch.ops.aten.amax.default(add, [1])
    return (add, amax)
)",
               inputs, "loop");
}

}  // namespace
}  // namespace kerf
