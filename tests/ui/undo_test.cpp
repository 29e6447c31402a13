// Nothing is lost: what users did is taken back in its order, and a window that is killed comes back as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QDateTime>
#include <QDir>
#include <QProcess>
#include <QProcessEnvironment>
#include <QSettings>

#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"

namespace kerf::ui {
namespace {

class Undo : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  QAction& undo() { return *m_window->actions()["undo"]; }
  std::string title() { return QString(undo().text()).remove('&').toStdString(); }
  bool noted(const char* node, bool there) {
    return test::waitFor([&] { return (session().noteAt(node) != nullptr) == there; });
  }
};

TEST_F(Undo, TakesBackNotesBookmarksAndPinsTheNewestFirst) {
  openSample();
  ASSERT_TRUE(test::waitFor([&] { return session().notes() != nullptr; }));
  EXPECT_FALSE(undo().isEnabled());
  session().leaveNote("relu", "why here?");
  ASSERT_TRUE(noted("relu", true));
  session().leaveNote("addmm", {});
  ASSERT_TRUE(noted("addmm", true));
  session().pin("relu", true);
  EXPECT_EQ(title(), "Undo keeping relu");
  undo().trigger();
  EXPECT_TRUE(session().pins().isEmpty());
  EXPECT_EQ(title(), "Undo bookmark");
  undo().trigger();
  ASSERT_TRUE(noted("addmm", false));
  EXPECT_TRUE(session().noteAt("relu"));
  session().forgetNote(*session().noteAt("relu"));
  ASSERT_TRUE(noted("relu", false));
  EXPECT_EQ(title(), "Undo removing the note");
  undo().trigger();
  ASSERT_TRUE(noted("relu", true));
  EXPECT_EQ(session().noteAt("relu")->text, "why here?");
  session().leaveNote("relu", "another");
  ASSERT_TRUE(test::waitFor([&] { return session().noteAt("relu") && session().noteAt("relu")->text == "another"; }));
  undo().trigger();
  EXPECT_TRUE(test::waitFor([&] { return session().noteAt("relu") && session().noteAt("relu")->text == "why here?"; }))
      << "the text before, not nothing";
  undo().trigger();
  ASSERT_TRUE(noted("relu", false));
  EXPECT_FALSE(undo().isEnabled());
}

TEST_F(Undo, IsNotBack) {
  openSample();
  session().selectNode(QString("relu"));
  session().selectNode(QString("addmm"));
  EXPECT_TRUE(session().canBack());
  EXPECT_FALSE(undo().isEnabled());
  undo().trigger();
  EXPECT_EQ(session().nodeDoc()->name, "addmm");
}

TEST_F(Undo, OpensAndClosesBlocksOfTheGraphThatIsShown) {
  open(test::writeLarge(m_files, 400));
  const auto openBlocks = [&] { return m_window->pane().view().scene()->openPaths(); };
  const auto before = openBlocks();
  m_window->actions()["openBlocks"]->trigger();
  settle();
  const auto all = openBlocks();
  ASSERT_GT(all.size(), before.size());
  m_window->actions()["closeBlocks"]->trigger();
  settle();
  EXPECT_EQ(title(), "Undo closing all blocks");
  undo().trigger();
  settle();
  EXPECT_EQ(openBlocks(), all);
  undo().trigger();
  settle();
  EXPECT_EQ(openBlocks(), before);
  m_window->actions()["openBlocks"]->trigger();
  settle();
  openSample();
  EXPECT_FALSE(undo().isEnabled()) << "those blocks are not on the screen";
}

/// The window itself, killed as the kernel does it, and what the next one finds.
TEST_F(Undo, AWindowThatIsKilledComesBack) {
  const QTemporaryDir home;
  const auto settings = home.path() + "/kerf/studio.conf";
  QProcess studio;
  auto environment = QProcessEnvironment::systemEnvironment();
  environment.insert("XDG_CONFIG_HOME", home.path());
  environment.insert("QT_QPA_PLATFORM", "offscreen");
  studio.setProcessEnvironment(environment);
  studio.start(KERF_BINARY_DIR "/bin/kerf-studio", {test::samplePath()});
  const auto kept = [&] { return QSettings(settings, QSettings::NativeFormat).value("session").toMap(); };
  ASSERT_TRUE(test::waitFor([&] { return !kept()["captures"].toStringList().isEmpty(); }));
  studio.kill();
  ASSERT_TRUE(studio.waitForFinished(test::patienceMs));
  EXPECT_EQ(studio.exitStatus(), QProcess::CrashExit);
  m_window = std::make_unique<MainWindow>(WindowOptions{true, "light", settings});
  m_window->show();
  started();
  m_window->resume();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph(); }));
  EXPECT_EQ(session().captures().size(), 1u);
  EXPECT_EQ(session().graph()->nodes.size(), 94u);
}

/// Whose file is another since then is compared anew.
TEST_F(Undo, TablesOfAComparisonComeBackWithTheSession) {
  const auto settings = m_files.filePath("settings.ini");
  const auto path = m_files.filePath("sample.py");
  ASSERT_TRUE(QFile::copy(test::samplePath(), path));
  ASSERT_TRUE(QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner));
  const auto begin = [&] {
    m_window->close();  // keeps the session
    m_window = std::make_unique<MainWindow>(WindowOptions{true, "light", settings});
    m_window->show();
    started();
  };
  const auto resume = [&] {
    begin();
    m_window->resume();
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph(); }));
  };
  const QDir kept(m_files.filePath("compared"));
  begin();
  open(path);
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return !kept.entryList({"*.comparison"}).isEmpty() && m_window->idle(); }));
  const auto before = session().accuracy();
  const auto verdict = m_window->accuracyPanel().verdict();
  ASSERT_FALSE(before->isOfBefore);
  resume();
  ASSERT_TRUE(test::waitFor([&] { return session().accuracy() != nullptr; }));
  const auto after = session().accuracy();
  EXPECT_TRUE(after->isOfBefore);
  EXPECT_EQ(m_window->accuracyPanel().verdict(), "Before the restart: " + verdict);
  ASSERT_EQ(after->nodes.size(), before->nodes.size());
  for (std::size_t i = 0; i < after->nodes.size(); ++i) {
    EXPECT_EQ(after->nodes[i].node, before->nodes[i].node);
    EXPECT_EQ(after->nodes[i].same, before->nodes[i].same);
  }
  EXPECT_EQ(m_window->accuracyPanel().nodes().model()->rowCount(), int(before->nodes.size()));
  ASSERT_NE(after->figuresOf("relu"), nullptr);
  EXPECT_EQ(after->figuresOf("relu")->sides.size(), before->figuresOf("relu")->sides.size());
  EXPECT_EQ(after->figuresOf("relu")->sides[0].figures.mean, before->figuresOf("relu")->sides[0].figures.mean);
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && !session().accuracy()->running; }));
  EXPECT_EQ(m_window->accuracyPanel().verdict(), verdict);
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::Append));
  file.write("# another\n");
  file.close();
  ASSERT_TRUE(file.open(QIODevice::ReadWrite));
  file.setFileTime(QDateTime::currentDateTime().addSecs(60), QFileDevice::FileModificationTime);
  file.close();
  resume();
  EXPECT_EQ(session().accuracy(), nullptr);
}

TEST_F(Undo, AKeptComparisonMayHoldAnything) {
  const auto settings = m_files.filePath("settings.ini");
  const auto begin = [&] {
    m_window->close();  // keeps the session
    m_window = std::make_unique<MainWindow>(WindowOptions{true, "light", settings});
    m_window->show();
    started();
  };
  const QDir kept(m_files.filePath("compared"));
  begin();
  openSample();
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return !kept.entryList({"*.comparison"}).isEmpty() && m_window->idle(); }));
  QFile file(kept.filePath(kept.entryList({"*.comparison"}).value(0)));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const auto good = file.readAll();
  file.close();
  for (const auto& bytes : {QByteArray(), good.left(good.size() / 2), good.left(40) + QByteArray(1000, '\xff')}) {
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
    file.close();
    begin();
    m_window->resume();
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph(); }));
    EXPECT_EQ(session().accuracy(), nullptr);
  }
}

TEST_F(Undo, PinsComeBackWithTheSession) {
  const auto settings = m_files.filePath("settings.ini");
  const auto begin = [&] {
    m_window = std::make_unique<MainWindow>(WindowOptions{true, "light", settings});
    m_window->show();
    started();
  };
  begin();
  openSample();
  session().pin("relu", true);
  ASSERT_TRUE(test::waitFor([&] {
    return QSettings(settings, QSettings::IniFormat).value("session").toMap()["pins"].toStringList() ==
           QStringList("relu");
  })) << "a killed window would lose it";
  begin();
  m_window->resume();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph(); }));
  EXPECT_EQ(session().pins(), QStringList("relu"));
  EXPECT_FALSE(undo().isEnabled());
}

}  // namespace
}  // namespace kerf::ui
