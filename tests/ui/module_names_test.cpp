// Names of modules through all stages of a compilation: what one stage says of its inputs, later ones show too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/layout/group_tree.h"

namespace kerf::ui {
namespace {

class ModuleNames : public Window {
 protected:
  /// Shows a graph of the trace by the beginning of its name; whether there is one.
  bool show(const std::string& name) {
    const auto captures = session().captures();
    const auto trace = std::ranges::find(captures, "torch_trace", [](const auto& each) { return each->kind; });
    if (trace == captures.end()) return false;
    const auto capture = *trace;
    const auto graph =
        std::ranges::find_if(capture->graphs, [&](const GraphEntry& each) { return each.name.starts_with(name); });
    if (graph == capture->graphs.end()) return false;
    session().go({capture->id, int(graph - capture->graphs.begin()), Location::Stage::Captured, -1, {}});
    return test::waitFor([&] { return m_window->idle() && session().graph(); });
  }
};

TEST_F(ModuleNames, ComeFromEarlierStagesWhereALaterOneHasNone) {
  const auto path = recordingsFolder() / "traces/efficientnet_b0";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no recording of efficientnet_b0";
  open(QString::fromStdString(path.string()));
  std::map<std::string, std::string> said;
  for (const char* stage : {"aot_inference_graph", "inductor_post_grad_graph"}) {
    ASSERT_TRUE(show(stage)) << stage;
    int named = 0;
    for (const auto& node : session().graph()->nodes) {
      if (node.opcode != "placeholder" || node.modulePath.empty()) continue;
      ++named;
      const auto [known, isNew] = said.emplace(node.name, node.modulePath);
      EXPECT_EQ(known->second, node.modulePath) << node.name << " of " << stage;
    }
    EXPECT_GT(named, 300) << stage;
    const auto modules = inferModules(*session().graph());
    EXPECT_GT(std::ranges::count_if(modules, [](const auto& each) { return each.starts_with("features."); }), 800);
  }
}

TEST_F(ModuleNames, OpsOfDynamoHaveTheKindsOfWhatTheyBecome) {
  const auto path = recordingsFolder() / "traces/efficientnet_b0";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no recording of efficientnet_b0";
  open(QString::fromStdString(path.string()));
  ASSERT_TRUE(show("dynamo_output_graph"));
  const std::map<std::string, NodeKind> kinds{{"conv2d", NodeKind::Convolution},
                                              {"batch_norm", NodeKind::Reduction},
                                              {"silu", NodeKind::Pointwise},
                                              {"sigmoid", NodeKind::Pointwise},
                                              {"linear", NodeKind::Matmul},
                                              {"flatten", NodeKind::View},
                                              {"adaptive_avg_pool2d", NodeKind::Reduction}};
  std::set<std::string> met;
  for (const auto& node : session().graph()->nodes) {
    const auto known = kinds.find(node.op);
    if (known == kinds.end()) continue;
    met.insert(node.op);
    EXPECT_EQ(nodeKindName(node.kind), nodeKindName(known->second)) << node.name << " " << node.target;
  }
  EXPECT_GE(met.size(), 5u);
}

}  // namespace
}  // namespace kerf::ui
