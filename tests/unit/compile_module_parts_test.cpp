// A graph in the parts of its model's modules: names, and the same values with any of them compiled.
#include "engine/pipeline/module_parts.h"

#include <gmock/gmock.h>

#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::expectClose;
using testing_support::parsed;

GraphModule twoLayers() {
  GraphModule module = parsed(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3, 4]", w: "f32[4, 4]"):
        mm: "f32[3, 4]" = torch.ops.aten.mm.default(x, w)
        relu: "f32[3, 4]" = torch.ops.aten.relu.default(mm)
        mm_1: "f32[3, 4]" = torch.ops.aten.mm.default(relu, w)
        add_: "f32[3, 4]" = torch.ops.aten.add_.Tensor(mm_1, relu)
        sum_1: "f32[]" = torch.ops.aten.sum.default(mm_1)
        return (sum_1, relu)
)");
  const auto name = [&](const char* node, const char* path) {
    const NodeId id = *module.graph.find(node);
    NodeMeta meta = module.graph.node(id).meta();
    meta.modulePath = path;
    module.graph.setMeta(id, std::move(meta));
  };
  name("mm", "fc1");
  name("relu", "fc1");
  name("mm_1", "fc2");
  name("add_", "fc2");
  return module;
}

TEST(ModuleParts, AreNamedAfterModulesOrCalls) {
  const GraphModule module = twoLayers();
  const auto parts = ModuleParts::of(module);
  ASSERT_TRUE(parts) << parts.error().text();
  EXPECT_THAT(parts->names(), ::testing::ElementsAre("fc1", "fc2", "sum_1"));
}

TEST(ModuleParts, GiveTheSameValuesHoweverTheyRun) {
  const GraphModule module = twoLayers();
  const auto parts = ModuleParts::of(module);
  ASSERT_TRUE(parts) << parts.error().text();
  const ValueList inputs{counted({3, 4}), counted({4, 4}, 0.5)};
  const auto whole = Interpreter(module, referenceOps()).run(inputs);
  ASSERT_TRUE(whole);
  for (const std::vector<bool>& on : {std::vector{false, false, false}, {true, false, true}, {true, true, true}}) {
    const auto result = parts->run(inputs, on, {});
    ASSERT_TRUE(result) << result.error().text();
    for (std::size_t i = 0; i < 2; ++i)
      expectClose(whole->list()[i].tensor(), result->list()[i].tensor(), 1e-5, fmt::format("output {}", i));
  }
}

}  // namespace
}  // namespace kerf
