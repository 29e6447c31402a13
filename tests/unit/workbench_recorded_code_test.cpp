// Recorded output code: its lines by the nodes of every graph that it stems from.
#include <algorithm>
#include <sstream>

#include "app/workbench/workbench.h"
#include "engine/compilation/code_links.h"
#include "tests/support/recordings.h"
#include "tests/support/workbench_fixture.h"
#include "tests/unit/fusion_captures.h"

namespace kerf::workbench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = CodeSpan::Kind;

class RecordedCodeTest : public WorkbenchTest {
 protected:
  std::vector<RecordedProgram> programsOf(const fs::path& log, const std::string& stage) {
    m_bench = std::make_unique<Workbench>(WorkbenchOptions{store(), kerf, 4});
    const auto index = m_bench->perform(IndexRequest{log.string()});
    if (!index) throw std::runtime_error(index.error().text());
    const auto graph = std::ranges::find_if(index->graphs, [&](const GraphEntry& each) { return each.stage == stage; });
    if (graph == index->graphs.end()) throw std::runtime_error("no graph of stage " + stage);
    auto programs = m_bench->perform(RecordedCodeRequest{log.string(), int(graph - index->graphs.begin())});
    if (!programs) throw std::runtime_error(programs.error().text());
    return std::move(*programs);
  }
  static std::vector<std::string> linesOf(const RecordedProgram& program) {
    std::vector<std::string> lines;
    std::istringstream text(program.text);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  /// The spans of one kind that have a node.
  static std::vector<CodeSpan> spansWith(const RecordedProgram& program, Kind kind, const std::string& node) {
    std::vector<CodeSpan> found;
    std::ranges::copy_if(program.spans, std::back_inserter(found), [&](const CodeSpan& span) {
      return span.kind == kind && std::ranges::find(span.nodes, node) != span.nodes.end();
    });
    return found;
  }
  std::unique_ptr<Workbench> m_bench;
};

TEST_F(RecordedCodeTest, LinesOfATritonKernelBelongToItsNodes) {
  const auto programs = programsOf(write("t.log", kerf::testing::chainLog()), "inductor_post_grad_graph");
  ASSERT_EQ(programs.size(), 1u);
  const auto& program = programs.front();
  EXPECT_EQ(program.part, "inference");
  EXPECT_EQ(program.note, "");
  const auto lines = linesOf(program);
  const auto definitions = spansWith(program, Kind::Definition, "sigmoid");
  ASSERT_EQ(definitions.size(), 1u);
  EXPECT_EQ(lines[std::size_t(definitions[0].first)].substr(0, 15), "# kernel path: ");
  EXPECT_EQ(lines[std::size_t(definitions[0].last)], "''', device_str='cuda')");
  EXPECT_THAT(definitions[0].nodes, ElementsAre("mul", "add", "sigmoid", "mul_1", "sub", "mul_2", "whole"));
  const auto calls = spansWith(program, Kind::Call, "sub");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_THAT(lines[std::size_t(calls[0].last)], ::testing::HasSubstr(".run(arg0_1, arg1_1, buf0, buf1"));
  EXPECT_THAT(lines[std::size_t(calls[0].first)], ::testing::HasSubstr("Topologically Sorted Source Nodes"));
  const auto loads = spansWith(program, Kind::Access, "arg0_1");
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_THAT(lines[std::size_t(loads[0].first)], ::testing::HasSubstr("tl.load(in_ptr0"));
}

TEST_F(RecordedCodeTest, AGraphBeforeThePassesHasTheSameLines) {
  const auto programs = programsOf(write("t.log", kerf::testing::chainLog()), "aot_inference_graph");
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(spansWith(programs.front(), Kind::Call, "mul_1").size(), 1u);
}

TEST_F(RecordedCodeTest, ACaptureWithoutOutputCodeHasNone) {
  m_bench = std::make_unique<Workbench>(WorkbenchOptions{store(), kerf, 4});
  const auto none = m_bench->perform(RecordedCodeRequest{sample, 0});
  ASSERT_TRUE(none) << none.error().text();
  EXPECT_THAT(*none, IsEmpty());
  EXPECT_EQ(m_bench->perform(RecordedCodeRequest{sample, 7}).error().code, ErrorCode::NotFound);
}

/// The log of a recorded training step with a dropout; empty where the recordings lack it.
fs::path dropoutLog() {
  const auto folder = recordingsFolder() / "variety/dropout_rng/trace";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".log") return entry.path();
  return {};
}

TEST_F(RecordedCodeTest, ARecordedTrainingStepIsLinkedFromItsJointGraph) {
  if (dropoutLog().empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety/dropout_rng/trace");
  const auto programs = programsOf(dropoutLog(), "aot_joint_graph");
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[0].part, "forward");
  EXPECT_EQ(programs[1].part, "backward");
  const auto nodesOf = [](const RecordedProgram& program, const std::string& kernel) {
    for (const CodeSpan& span : program.spans)
      if (span.kind == Kind::Call && span.kernel == kernel) return span.nodes;
    return std::vector<std::string>();
  };
  EXPECT_THAT(nodesOf(programs[0], "cpp_fused_native_dropout_relu_threshold_backward_0"),
              ElementsAre("rand", "gt", "mul", "mul_1", "relu"));
  EXPECT_THAT(nodesOf(programs[1], "cpp_fused_native_dropout_backward_threshold_backward_0"),
              ElementsAre("scalar_tensor", "where", "convert_element_type", "mul_2", "mul_3"));
}

TEST_F(RecordedCodeTest, AValueIsTouchedWhereAKernelStoresItAndWhereAnotherLoadsIt) {
  if (dropoutLog().empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety/dropout_rng/trace");
  const auto programs = programsOf(dropoutLog(), "aot_backward_graph");
  ASSERT_EQ(programs.size(), 1u);
  const auto lines = linesOf(programs[0]);
  std::vector<std::string> touched;
  for (const CodeSpan& span : spansWith(programs[0], Kind::Access, "mul_3"))
    touched.push_back(lines[std::size_t(span.first)]);
  ASSERT_EQ(touched.size(), 5u) << "one store, and four loads of the kernel that sums it";
  EXPECT_THAT(touched[0], ::testing::HasSubstr("tmp10.store(out_ptr0"));
  EXPECT_THAT(touched[4], ::testing::HasSubstr("loadu(in_ptr0 + static_cast<int64_t>(48L + x0)"));
}

TEST_F(RecordedCodeTest, ADynamoGraphHasTheLinesThatItsNodesBecame) {
  if (dropoutLog().empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety/dropout_rng/trace");
  const auto programs = programsOf(dropoutLog(), "dynamo_output_graph");
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(spansWith(programs[0], Kind::Call, "input_1").size(), 1u) << "the linear layer is one product";
  EXPECT_EQ(spansWith(programs[0], Kind::Call, "input_2").size(), 2u) << "dropout's random numbers, and its kernel";
  EXPECT_EQ(spansWith(programs[0], Kind::Call, "input_3").size(), 1u) << "relu is in the same kernel";
}

}  // namespace
}  // namespace kerf::workbench
