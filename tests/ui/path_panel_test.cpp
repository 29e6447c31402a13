// From the source line to the kernel: columns whose lines know each other, in both directions, and what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/models/kernel_path.h"
#include "ui/panels/path_panel.h"
#include "ui/shell/editor.h"

namespace kerf::ui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int python = 0, nodes = 1, code = 2, kernel = 3;

/// y = relu(x); z = y + x, from lines 4 and 5 of a file.
std::shared_ptr<GraphDoc> twoLines(const std::string& file) {
  auto graph = std::make_shared<GraphDoc>(
      *test::makeGraph({{"x", "x", {}, NodeKind::Input}, {"y", "relu", {0}}, {"z", "add", {1, 0}}}));
  graph->code = {"def forward(self, x):", "    y = relu(x)", "    z = y + x", "    return (z,)"};
  for (int i = 1; i < 3; ++i) {
    graph->nodes[std::size_t(i)].codeLine = i;
    graph->nodes[std::size_t(i)].file = file;
    graph->nodes[std::size_t(i)].line = 3 + i;
    graph->nodes[std::size_t(i)].stackTrace = "File \"" + file + "\", line " + std::to_string(3 + i) +
                                              ", in forward\n    " + (i == 1 ? "y = relu(x)" : "z = y + x");
  }
  return graph;
}

TEST(KernelPath, HasTheFileOrWhatTheStackTracesHaveOfIt) {
  const auto graph = twoLines("/src/model.py");
  EXPECT_EQ(sourceFileOf(*graph), "/src/model.py");
  const auto file = pythonColumn(*graph, "/src/model.py", "a\nb\nc\n    y = relu(x)\n    z = y + x\n");
  EXPECT_EQ(file.title, "model.py");
  EXPECT_THAT(file.nodes[3], ElementsAre(1));
  EXPECT_THAT(file.nodes[0], IsEmpty());
  EXPECT_EQ(file.lineOf(2), 4);
  const auto changed = pythonColumn(*graph, "/src/model.py", "a\nb\nc\n    y = gelu(x)\n    z = y + x\n");
  EXPECT_THAT(changed.title.toStdString(), HasSubstr("changed since it was recorded"));
  const auto traces = pythonColumn(*graph, "/src/model.py", {});
  ASSERT_EQ(traces.lines.size(), 2);
  EXPECT_EQ(traces.lines[0], "model.py:4  y = relu(x)");
  EXPECT_THAT(traces.nodes[1], ElementsAre(2));
  EXPECT_THAT(pythonColumn(*test::makeChain(3), {}, {}).missing.toStdString(), HasSubstr("no stack traces"));
}

TEST(KernelPath, TakesTheKernelOfANodeOutOfTheProgram) {
  using workbench::CodeSpan;
  const auto graph = twoLines("model.py");
  workbench::RecordedProgram program;
  program.name = "output_code.py";
  program.text = "import torch\n# kernel\ndef k0():\n  y = load\n  z = y\ncall:\n  k0.run()\n  mm()";
  program.spans = {{CodeSpan::Kind::Definition, 1, 4, "k0", {"y", "z"}},
                   {CodeSpan::Kind::Access, 3, 3, "k0", {"y"}},
                   {CodeSpan::Kind::Call, 6, 6, "k0", {"y", "z"}},
                   {CodeSpan::Kind::Call, 7, 7, "extern_kernels.mm", {"x"}}};
  const auto column = kernelColumn(*graph, program, 1);
  EXPECT_EQ(column.title, "k0");
  EXPECT_EQ(column.lines.join('\n'), "# kernel\ndef k0():\n  y = load\n  z = y");
  EXPECT_THAT(column.nodes[2], ElementsAre(1)) << "the inner span says more";
  EXPECT_EQ(column.lineOf(1), 2);
  EXPECT_THAT(kernelColumn(*graph, program, 0).missing.toStdString(), HasSubstr("extern_kernels.mm is a library call"));
  EXPECT_EQ(codeColumn(*graph, program).lineOf(2), 6) << "the call, not the definition";
}

TEST(Editor, GetsFileAndLineAsItsCommandSays) {
  EXPECT_EQ(editorCommand("code -g {file}:{line}", "/a b/m.py", 7), (QStringList{"code", "-g", "/a b/m.py:7"}));
  EXPECT_EQ(editorCommand("vim +{line}", "/a/{line}.py", 7), (QStringList{"vim", "+7", "/a/{line}.py"}));
  EXPECT_EQ(editorCommand("", "/a.py", 7), QStringList());
  EXPECT_THAT(openInEditor("/no/such/file.py", 1).toStdString(), HasSubstr("/no/such/file.py"));
}

class PathWindow : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  PathPanel& panel() { return m_window->pathPanel(); }
};

TEST_F(PathWindow, FollowsANodeInEveryColumnAndBack) {
  openSample();
  m_window->raisePanel("path");
  settle();
  session().selectNode(QString("add_6"));
  settle();
  EXPECT_THAT(panel().missing().toStdString(), HasSubstr("Kerf's own kernels are shown"));
  for (const int at : {nodes, code, kernel}) EXPECT_THAT(panel().column(at).markedLines(), Not(IsEmpty())) << at;
  EXPECT_THAT(panel().column(nodes).line(panel().column(nodes).currentLine()).toStdString(), HasSubstr("add_6"));
  const auto colour = panel().column(nodes).lineColors().value(panel().column(nodes).currentLine());
  EXPECT_TRUE(colour.isValid());
  int other = -1;
  for (int line = 0; line < panel().column(code).lineCount(); ++line)
    if (panel().column(code).line(line).contains("load addmm_5")) other = line;
  ASSERT_GE(other, 0) << panel().column(code).code().toStdString();
  emit panel().column(code).linePicked(other);
  ASSERT_TRUE(session().nodeDoc());
  EXPECT_EQ(session().nodeDoc()->name, "addmm_5");
  EXPECT_THAT(panel().column(nodes).line(panel().column(nodes).currentLine()).toStdString(), HasSubstr("addmm_5"));
}

}  // namespace
}  // namespace kerf::ui
