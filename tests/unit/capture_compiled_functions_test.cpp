// Folders of one file per graph of a compiled function: one capture with stages.
#include <algorithm>

#include "engine/capture/debug/compiled_functions.h"
#include "engine/capture/import_all.h"
#include "engine/compilation/compile_stages.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

using testing::TemporaryFolder;

void writeFile(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  testing::writeFile(path, text);
}

std::string graph(const std::string& op) {
  return "from __future__ import annotations\n\n\n\ndef forward(self, x : \"f32[4]\"):\n    y: \"f32[4]\" = "
         "torch.ops.aten." +
         op + ".default(x);  x = None\n    return (y,)\n    ";
}

TEST(CompiledFunctions, NamesOfAllVersionsAreRead) {
  struct Case {
    const char *name, *function, *stage;
    std::int64_t number;
  };
  const Case cases[] = {
      {"__compiled_fn_1.AFTER_POST_GRAD.0.py", "__compiled_fn_1", "AFTER_POST_GRAD", 0},
      {"__compiled_fn_11 Captured Graph 2.py", "__compiled_fn_11", "Captured_Graph", 2},
      {"__compiled_fn_0_Backward_graph_1.py", "__compiled_fn_0", "Backward_graph", 1},
      {"__compiled_fn_3_44395168_0eed_433e_ad4e_aa6d649ef6ca.kernel.0.py", "__compiled_fn_3", "kernel", 0},
      {"__compiled_fn_1.pre_insert_deferred_runtime_asserts___compiled_fn_1.0.py", "__compiled_fn_1",
       "pre_insert_deferred_runtime_asserts___compiled_fn_1", 0},
  };
  for (const Case& one : cases) {
    const auto file = compiledFunctionFile(one.name);
    ASSERT_TRUE(file) << one.name;
    EXPECT_EQ(file->function, one.function);
    EXPECT_EQ(file->stage, one.stage);
    EXPECT_EQ(file->number, one.number);
  }
  for (const char* other : {"__compiled_fn_1.py", "__compiled_fn_.A.0.py", "__compiled_fn_1.A.py",
                            "full_code_for_f_0.py", "__compiled_fn_1.A.0.txt", "__compiled_fn_1..0.py"})
    EXPECT_FALSE(compiledFunctionFile(other)) << other;
}

TEST(CompiledFunctions, AFolderIsOneCaptureWithStages) {
  const TemporaryFolder folder;
  const auto dump = folder.path() / "dump";
  for (const std::string rank : {"rank_0", "rank_1"}) {
    writeFile(dump / rank / "__compiled_fn_1.AFTER_POST_GRAD.0.py", graph("cos"));
    writeFile(dump / rank / "__compiled_fn_1.Captured_Graph.0.py", graph("sin"));
    writeFile(dump / rank / "__compiled_fn_1.Forward_graph.0.py", graph("tan"));
    writeFile(dump / rank / "__compiled_fn_1.kernel.0.py", "import torch\n");
    writeFile(dump / rank / "__compiled_fn_5.Forward_graph.0.py", graph("exp"));
    writeFile(dump / rank / "__compiled_fn_5.Backward_graph.0.py", graph("exp"));
    writeFile(dump / rank / "__transformed_code_0_for_toy.py",
              "def __transformed_code_0_for_toy(a):\n    return __compiled_fn_1(a)\n");
    writeFile(dump / rank / "full_code_for_toy_0.py", "def __guard_0_for_toy(L, G):\n    return True\n");
  }
  const auto capture = importCapture(dump);
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(importAll(folder.path())->size(), 1u);
  EXPECT_EQ(capture->graphs.size(), 10u);
  ASSERT_EQ(capture->details->compiles.size(), 4u);
  const CompileEntry* first = capture->details->compile("__compiled_fn_1", 1);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->frame, "toy");
  std::vector<std::string> labels;
  for (const CompileStage& stage : compileStages(*capture, {}, first->graphs.at(2))) labels.push_back(stage.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"Dynamo", "inference", "after post-grad passes"}));
  EXPECT_EQ(capture->graphs[first->graphs[0]].name, "__compiled_fn_1.Captured_Graph@rank1");
  const auto& second = capture->graphs[capture->details->compile("__compiled_fn_5", 0)->graphs.at(0)];
  EXPECT_EQ(second.origin.stage, "aot_forward_graph");
  const auto kinds = [&](std::string_view kind) {
    return std::ranges::count(capture->details->records, kind, &CaptureRecord::kind);
  };
  EXPECT_EQ(kinds("inductor_output_code"), 2);
  EXPECT_EQ(kinds("transformed_code"), 2);
  EXPECT_EQ(kinds("guards_and_code"), 2);
}

TEST(CompiledFunctions, AFileThatIsNoGraphIsANote) {
  const TemporaryFolder folder;
  writeFile(folder.path() / "d" / "__compiled_fn_1.Captured_Graph.0.py", graph("sin"));
  writeFile(folder.path() / "d" / "__compiled_fn_1.Joint_graph.0.py", "nothing\n");
  const auto capture = importCapture(folder.path() / "d");
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->graphs.size(), 1u);
  EXPECT_TRUE(capture->notes[0].starts_with("not read: ")) << capture->notes[0];
  std::filesystem::remove(folder.path() / "d" / "__compiled_fn_1.Captured_Graph.0.py");
  EXPECT_FALSE(importCapture(folder.path() / "d"));
}

}  // namespace
}  // namespace kerf
