// The code of kernels and the graph: a line selects its node, a node marks its lines.
#include <gtest/gtest.h>

#include <QTabBar>

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

TEST_F(KernelLines, LoopLlvmAndAssemblyLinesBelongTogether) {
  openSample();
  m_window->raisePanel("kernels");
  session().selectNode("add");
  settle();
  auto& panel = m_window->kernelsPanel();
  for (const int form : {0, 1}) {
    panel.forms().setCurrentIndex(form);
    const int store = int(code().code().split('\n').indexOf(QRegularExpression(".*store add\\[.*")));
    ASSERT_GE(store, 0);
    emit code().linePicked(store);
    settle();
    EXPECT_EQ(session().location().node, "add");
    const auto marked = panel.lowered().markedLines();
    ASSERT_FALSE(marked.isEmpty()) << "what became of the store, form " << form;
    if (form == 0) {
      const bool stores =
          std::ranges::any_of(marked, [&](int line) { return panel.lowered().line(line).contains("store "); });
      EXPECT_TRUE(stores);
    }
    emit code().linePicked(0);
    emit panel.lowered().linePicked(*marked.begin());
    settle();
    EXPECT_EQ(code().currentLine(), store) << "and back";
    EXPECT_EQ(session().location().node, "add");
  }
}

}  // namespace
}  // namespace kerf::ui
