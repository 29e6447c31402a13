// The code of kernels and the graph: a line selects its node, a node marks its lines.
#include <gtest/gtest.h>

#include "tests/ui/window_fixture.h"
#include "ui/panels/kernels_panel.h"

namespace kerf::ui {
namespace {

class KernelLines : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  CodeView& code() { return m_window->kernelsPanel().code(); }
  QString line(int index) { return code().code().split('\n')[index]; }
};

TEST_F(KernelLines, ANodeMarksTheLinesOfItsValue) {
  openSample();
  m_window->raisePanel("kernels");
  session().selectNode("add");
  settle();
  EXPECT_EQ(code().markedLines().size(), 2) << "the buffer and the store";
  for (const int marked : code().markedLines()) EXPECT_TRUE(line(marked).contains("add")) << qPrintable(line(marked));
  session().selectNode("mul_4");
  settle();
  EXPECT_TRUE(code().code().contains("erf")) << "the kernel of that node";
  EXPECT_TRUE(code().markedLines().isEmpty()) << "its value is in a register only";
}

TEST_F(KernelLines, ALineSelectsTheNodeThatItReads) {
  openSample();
  m_window->raisePanel("kernels");
  session().selectNode("add");
  settle();
  const auto lines = code().code().split('\n');
  const int load = int(lines.indexOf(QRegularExpression(".*load addmm\\[.*")));
  ASSERT_GE(load, 0);
  emit code().linePicked(load);
  settle();
  EXPECT_EQ(session().location().node, "addmm");
}

}  // namespace
}  // namespace kerf::ui
