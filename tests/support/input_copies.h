// Graphs that copy into their inputs.
#pragma once

#include "engine/tensor/copy.h"
#include "tests/support/compiled_fixture.h"

namespace kerf::testing_support {

struct CopyCase {
  const char* what;
  const char* inputs;
  std::vector<const char*> calls;  ///< of aten, or items of results
  const char* outputs;
  std::int64_t left = 0;  ///< copies that stay calls
};

inline GraphModule moduleOf(const CopyCase& c) {
  std::string text = fmt::format("def forward(self, {}):\n", c.inputs);
  for (const std::string_view call : c.calls) {
    const std::size_t op = call.find(" = ") + 3;
    const std::string_view prefix = call.ends_with(')') ? "torch.ops.aten." : "";
    text += fmt::format("    {}{}{}\n", call.substr(0, op), prefix, call.substr(op));
  }
  return parsed((text + fmt::format("    return ({})\n", c.outputs)).c_str());
}

/// Random values, the same each time, in memory as the placeholders say.
inline ValueList inputsOf(const GraphModule& module) {
  std::mt19937 random(11);
  ValueList inputs;
  for (const NodeId id : module.graph.placeholders()) {
    const TensorMeta& meta = *module.graph.node(id).meta().value.tensor();
    const Sizes sizes = *meta.concreteSizes();
    Sizes strides = contiguousStrides(sizes);
    for (std::size_t d = 0; d < meta.strides.size(); ++d) strides[d] = meta.strides[d].hint.value();
    Tensor tensor = *Tensor::zerosStrided(meta.dtype, sizes, strides);
    EXPECT_TRUE(copyElements(randomTensor(meta.dtype, sizes, random), tensor));
    inputs.emplace_back(std::move(tensor));
  }
  return inputs;
}

/// An optimizer's step.
inline const CopyCase adam{
    "adam",
    "p: \"f32[70, 33]\", g: \"f32[70, 33]\", m: \"f32[70, 33]\", v: \"f32[70, 33]\"",
    {"a = mul.Tensor(m, 0.9)", "b = mul.Tensor(g, 0.1)", "m1 = add.Tensor(a, b)", "c = mul.Tensor(v, 0.99)",
     "d = mul.Tensor(g, g)", "v1 = add.Tensor(c, d)", "e = abs.default(v1)", "f = sqrt.default(e)",
     "h = add.Tensor(f, 1.0)", "k = div.Tensor(m1, h)", "p1 = sub.Tensor(p, k)", "x = copy_.default(p, p1)",
     "y = copy_.default(m, m1)", "z = copy_.default(v, v1)"},
    "x, y, z"};

}  // namespace kerf::testing_support
