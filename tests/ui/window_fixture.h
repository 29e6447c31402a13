// Window: a test with the real window on the offscreen platform.
#pragma once

#include <gtest/gtest.h>

#include "tests/ui/support.h"
#include "ui/shell/banner.h"
#include "ui/shell/main_window.h"

namespace kerf::ui {

class Window : public testing::Test {
 protected:
  void SetUp() override {
    m_window = std::make_unique<MainWindow>(WindowOptions{false, "light"});
    m_window->resize(1600, 1000);
    m_window->show();
  }
  void open(const QString& path) {
    m_window->open({path});
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  void openSample() {
    open(test::samplePath());
    ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
    ASSERT_EQ(session().graph()->nodes.size(), 94u);
  }
  Session& session() { return m_window->session(); }
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace kerf::ui
