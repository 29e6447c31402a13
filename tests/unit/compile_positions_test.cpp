// Positions of extrema in generated loops: two reductions over a row in one kernel.
#include <limits>

#include <gtest/gtest.h>

#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::expectLikeInterpreter;
using testing_support::hasGenerated;
using testing_support::parsed;

const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

std::unique_ptr<CompiledGraph> expectSame(const char* text, const ValueList& inputs) {
  SCOPED_TRACE(text);
  const GraphModule module = parsed(text);
  auto graph = compileFx(module);
  EXPECT_TRUE(graph) << graph.error().text();
  if (!graph) return nullptr;
  expectLikeInterpreter(module, **graph, inputs);
  for (const KernelInfo& kernel : (*graph)->kernels()) EXPECT_EQ(kernel.kind, "fused") << kernel.name;
  return std::move(*graph);
}

/// Values that repeat, with rows whose extremum comes several times, of NaN, of infinities and of one value.
Tensor rows() {
  Tensor t = Tensor::zeros(DType::Float32, {6, 37}).value();
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = float((i * 7919) % 11) - 5;
  float* at = t.data<float>();
  at[37 + 9] = nan, at[37 + 20] = nan;
  at[2 * 37] = infinity, at[2 * 37 + 36] = infinity;
  for (std::int64_t i = 0; i < 37; ++i) at[3 * 37 + i] = -infinity;
  for (std::int64_t i = 0; i < 37; ++i) at[4 * 37 + i] = i % 2 == 0 ? -0.0f : 0.0f;
  return t;
}

TEST(GeneratedPositions, AreTheFirstOnes) {
  for (const char* text : {R"(def forward(self, x: "f32[6, 37]"):
    a = torch.ops.aten.argmax.default(x, 1)
    b = torch.ops.aten.argmin.default(x, -1, True)
    c = torch.ops.aten.argmax.default(x, 0)
    d = torch.ops.aten.argmin.default(x, 0)
    return (a, b, c, d)
)",
                           R"(def forward(self, x: "f32[6, 37]"):
    a = torch.ops.aten.max.dim(x, 1)
    b = a[0]
    c = a[1]
    d = torch.ops.aten.min.dim(x, 0, True)
    e = d[0]
    f = d[1]
    return (b, c, e, f)
)",
                           R"(def forward(self, x: "f32[6, 37]"):
    a = torch.ops.aten.mul.Tensor(x, x)
    b = torch.ops.aten.argmax.default(a, 1, True)
    c = torch.ops.aten.sub.Tensor(b, 3)
    d = torch.ops.aten.aminmax.default(x, dim = 1)
    e = d[0]
    f = d[1]
    g = torch.ops.aten.nansum.default(x, [1])
    return (c, e, f, g)
)"})
    expectSame(text, {Value(rows())});
}

TEST(GeneratedPositions, OfOtherTypesAndSizes) {
  const Tensor whole = rows().to(DType::Int64).value(), half = rows().to(DType::BFloat16).value();
  expectSame(R"(def forward(self, x: "i64[6, 37]"):
    a = torch.ops.aten.argmax.default(x, 1)
    b = torch.ops.aten.argmin.default(x, 0)
    return (a, b)
)",
             {Value(whole)});
  expectSame(R"(def forward(self, x: "bf16[6, 37]"):
    a = torch.ops.aten.argmax.default(x, 1)
    b = torch.ops.aten.max.dim(x, 0)
    c = b[0]
    return (a, c)
)",
             {Value(half)});
  expectSame(R"(def forward(self, x: "f32[6, 37]"):
    u = torch.ops.aten.unsqueeze.default(x, 1)
    a = torch.ops.aten.argmax.default(u, 1)
    b = torch.ops.aten.max.dim(u, 1, True)
    c = b[0]
    d = b[1]
    return (a, c, d)
)",
             {Value(rows())});
}

TEST(GeneratedPositions, InTheMiddleOfLargeTensors) {
  Tensor t = Tensor::zeros(DType::Float32, {5, 300, 70}).value();
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = float((i * 104729) % 100003);
  expectSame(R"(def forward(self, x: "f32[5, 300, 70]"):
    a = torch.ops.aten.argmax.default(x, 1)
    b = torch.ops.aten.argmin.default(x, 2)
    c = torch.ops.aten.argmin.default(x, 0)
    return (a, b, c)
)",
             {Value(t)});
}

}  // namespace
}  // namespace kerf
