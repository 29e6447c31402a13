// Replays the fuzzers' seeds in the normal build: what was found once stays found.
#include <algorithm>
#include <set>

#include "tests/fuzz/checks.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

/// Names of the seeds for which `check` is true.
std::set<std::string> accepted(const std::string& folder, bool (*check)(std::string_view), std::size_t& count) {
  std::set<std::string> names;
  count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(KERF_SOURCE_DIR) / "tests" / "fuzz" / "seeds" / folder)) {
    ++count;
    if (check(testing::readFile(entry.path()))) names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(FuzzSeeds, ReprosImportOrAreRefused) {
  std::size_t count = 0;
  const std::set<std::string> good = accepted("repro", fuzz::checkRepro, count);
  EXPECT_GE(count, 30u);
  for (const char* name : {"relu.py",
                           "mlp_train_forward.py",
                           "convbn_train_forward.py",
                           "attention_train_forward.py",
                           "dlrm_infer_forward.py",
                           "init.py",
                           "kinds.py",
                           "alias.py",
                           "symbols.py",
                           "dynamo.py",
                           "old.py",
                           "old_append.py",
                           "reader_torch20.py",
                           "nested_class.py",
                           "one_line_main.py",
                           "isolate_string.py",
                           "unknown_op.py",
                           "values.py",
                           "found_odd_calls.py",
                           "found_signs_and_names.py",
                           "found_boxed_nothing.py",
                           "found_symbol_calls.py",
                           "found_absurd_empty.py"})
    EXPECT_TRUE(good.contains(name)) << name;
  for (const std::string& name : good) EXPECT_FALSE(name.starts_with("bad_")) << name;
}

TEST(FuzzSeeds, GraphTextImportsOrIsRefused) {
  std::size_t count = 0;
  const std::set<std::string> good = accepted("graph_text", fuzz::checkGraphText, count);
  EXPECT_GE(count, 13u);
  for (const char* name : {"forms.txt", "variants.txt", "mlp_joint.txt", "mlp_backward.graph.txt", "dlrm_infer.txt",
                           "found_negative_sizes.txt", "found_class_parameter.txt", "pasted_function.txt",
                           "pasted_lone.txt", "pasted_schema.txt", "torch20_lists.txt"})
    EXPECT_TRUE(good.contains(name)) << name;
  for (const std::string& name : good) EXPECT_FALSE(name.starts_with("bad_")) << name;
}

TEST(FuzzSeeds, DebugFilesReadOrAreRefused) {
  std::size_t count = 0;
  EXPECT_EQ(accepted("debug_files", fuzz::checkDebugFiles, count),
            (std::set<std::string>{"dynamic_post.txt", "fused.txt", "joined_twice.txt", "names.dot", "odd_target.dot",
                                   "parameters.dot", "pass_1_input.dot", "provenance.json"}));
  EXPECT_GE(count, 10u);
}

TEST(FuzzSeeds, StorageFilesReadOrAreRefused) {
  std::size_t count = 0;
  EXPECT_EQ(accepted("storage", fuzz::checkStorageFile, count),
            (std::set<std::string>{"torch.pt", "deflated.pt", "good.safetensors", "empty_huge.safetensors"}));
  EXPECT_GE(count, 13u);
}

}  // namespace
}  // namespace kerf
