// Recorded output code in the window: its lines select nodes, and nodes mark their lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QComboBox>

#include "tests/ui/window_fixture.h"
#include "tests/unit/fusion_captures.h"
#include "ui/panels/output_code_panel.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

class OutputCodeWindow : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  void openLog(const std::string& log) {
    QFile file(m_folder.filePath("dedicated_log_torch_trace_x.log"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(log));
    file.close();
    open(file.fileName());
    m_window->raisePanel("code");
    ASSERT_TRUE(test::waitFor([&] { return session().recordedCode() != nullptr; }));
  }
  OutputCodePanel& panel() { return m_window->outputCodePanel(); }
  int lineWith(const QString& text) {
    for (int line = 0; line < panel().code().lineCount(); ++line)
      if (panel().code().line(line).contains(text)) return line;
    return -1;
  }
  void click(int line) { emit panel().code().linePicked(line); }
  QTemporaryDir m_folder;
};

TEST_F(OutputCodeWindow, ANodeMarksWhatComputesItAndALineSelects) {
  openLog(kerf::testing::chainLog());
  EXPECT_EQ(panel().calls().model()->rowCount(), 1);
  EXPECT_EQ(panel().programs().count(), 1);
  session().selectNode("sigmoid");
  const int call = lineWith(".run(");
  ASSERT_GE(call, 0);
  EXPECT_TRUE(panel().code().markedLines().contains(call));
  EXPECT_EQ(panel().code().currentLine(), lineWith("# kernel path")) << "where its kernel is defined";
  click(lineWith("tl.load(in_ptr0"));
  EXPECT_EQ(session().location().node, "arg0_1") << "what the line reads";
  EXPECT_THAT(panel().status().toStdString(), HasSubstr("touches arg0_1"));
  click(call);
  EXPECT_EQ(m_window->pane().view().state().found.size(), 7) << "all nodes of the kernel are marked";
  EXPECT_EQ(session().location().node, "arg0_1") << "of several none is chosen";
  click(call);
  EXPECT_EQ(session().location().node, "mul") << "another click goes through them";
  click(call);
  EXPECT_EQ(session().location().node, "add");
  click(lineWith("import torch"));
  EXPECT_THAT(panel().status().toStdString(), HasSubstr("belongs to no kernel"));
}

TEST_F(OutputCodeWindow, SaysWhatWouldHaveIt) {
  openSample();
  m_window->raisePanel("code");
  settle();
  EXPECT_EQ(panel().code().lineCount(), 0);
  EXPECT_THAT(panel().findChild<QLabel*>("hint")->text().toStdString(), HasSubstr("TORCH_TRACE"));
}

}  // namespace
}  // namespace kerf::ui
