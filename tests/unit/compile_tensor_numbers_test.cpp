// Tensors without dimensions where ops take numbers: only running tells the number, and compiled code takes that one.
#include <gtest/gtest.h>

#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::expectLikeInterpreter;
using testing_support::parsed;

TEST(TensorNumbers, AreThoseThatTheTensorsHold) {
  Tensor x = Tensor::zeros(DType::Float32, {4}).value();
  for (int i = 0; i < 4; ++i) x.data<float>()[i] = float(i) - 2;
  const Tensor s = Tensor::scalar(0.25, DType::Float32);
  for (const char* call : {"leaky_relu.default(x, s)", "add.Tensor(x, x, alpha = s)", "clamp.default(x, 0, s)",
                           "clamp.default(x, max = s)", "elu.default(x, s)", "full_like.default(x, s)"}) {
    const std::string text = std::string("def forward(self, x: \"f32[4]\", s: \"f32[]\"):\n    a = torch.ops.aten.") +
                             call + "\n    return (a,)\n";
    SCOPED_TRACE(text);
    const GraphModule module = parsed(text.c_str());
    const auto graph = compileFx(module);
    ASSERT_TRUE(graph) << graph.error().text();
    expectLikeInterpreter(module, **graph, {Value(x), Value(s)});
  }
}

}  // namespace
}  // namespace kerf
