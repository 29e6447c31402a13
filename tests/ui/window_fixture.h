// Window: a test with the real window on the offscreen platform.
#pragma once

#include <algorithm>

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "tests/ui/heartbeat.h"
#include "tests/ui/support.h"
#include "ui/shell/banner.h"
#include "ui/shell/main_window.h"

namespace kerf::ui {
namespace test {

/// The sample's header around a graph of `count` calls.
inline QString writeLarge(const QTemporaryDir& folder, int count) {
  QFile sample(test::samplePath());
  EXPECT_TRUE(sample.open(QIODevice::ReadOnly));
  auto text = QString::fromUtf8(sample.readAll()).section("    def forward(", 0, 0);
  text += "    def forward(self, arg0_1):\n        n0 = torch.ops.aten.relu.default(arg0_1)\n";
  for (int i = 1; i < count; ++i)
    text += QString("        n%1 = torch.ops.aten.add.Tensor(n%2, n%3)\n").arg(i).arg(i - 1).arg(std::max(0, i - 7));
  text += QString("        return (n%1,)\n\ndef load_args(reader):\n").arg(count - 1);
  text += "    buf0 = reader.storage(None, 4096)\n    reader.tensor(buf0, (32, 32), is_leaf=True)  # arg0_1\n";
  text += "load_args._version = 0\nmod = Repro()\nif __name__ == '__main__':\n";
  text += "    from torch._dynamo.repro.after_aot import run_repro\n    with torch.no_grad():\n";
  text +=
      "        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', "
      "check_str=None)\n";
  QFile file(folder.path() + "/large.py");
  EXPECT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(text.toUtf8());
  return file.fileName();
}

}  // namespace test

class Window : public ::testing::Test {
 protected:
  void SetUp() override {
    m_window = std::make_unique<MainWindow>(WindowOptions{false, "light"});
    m_window->resize(1600, 1000);
    m_window->show();
    started();
  }
  /// A window has come up, which takes longer than what is done in one.
  void started() {
    QApplication::processEvents();
    m_heart.restart();
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
  /// Whatever a test does, it must not hold the window up.
  void TearDown() override {
    RecordProperty("longest_gap_ms", int(m_heart.longest() * 1e3));
    RecordProperty("longest_event", m_heart.culprit());
    EXPECT_LT(m_heart.longest(), m_mostGap)
        << "seconds without a turn of the event loop; the longest event: " << m_heart.culprit();
  }
  Session& session() { return m_window->session(); }
  QString writeFile(const QString& name, const std::string& text) {
    QFile file(m_files.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(text));
    return file.fileName();
  }

  QTemporaryDir m_files;
  std::unique_ptr<MainWindow> m_window;
  test::Heartbeat m_heart;
  double m_mostGap = test::mostGapAnywhere();
};

}  // namespace kerf::ui
