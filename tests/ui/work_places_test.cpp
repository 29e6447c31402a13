// The graph has the window: what is open at first, what opens beside it, the way of a failure, and dialogs in which nothing
// is crushed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractSpinBox>
#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QStatusBar>
#include <QTextBrowser>
#include <QToolBar>
#include <QToolButton>

#include "tests/ui/window_fixture.h"
#include "ui/models/theme.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/inputs_editor.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/minify_settings.h"
#include "ui/panels/plant_dialog.h"
#include "ui/panels/stage_strip.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/story_bar.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

class WorkPlaceWindow : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  void small() {
    m_window->resize(1366, 768);
    m_window->arrange();
    QTest::qWait(5);
  }
  QDockWidget& lower() { return *m_window->findChild<QDockWidget*>("lower"); }
  double share() {
    const auto view = m_window->pane().view().size();
    return double(view.width()) * view.height() / (double(m_window->width()) * m_window->height());
  }
};

TEST_F(WorkPlaceWindow, TheGraphHasHalfOfTheWindow) {
  small();
  openSample();
  small();
  EXPECT_TRUE(lower().isHidden()) << "nothing is below the graph at first";
  EXPECT_EQ(m_window->size(), QSize(1366, 768));
  EXPECT_GE(share(), 0.5) << m_window->pane().view().width() << "x" << m_window->pane().view().height();
  EXPECT_GE(m_window->pane().view().zoom(), 0.8);
  m_window->resize(1920, 1080);
  m_window->arrange();
  QTest::qWait(5);
  EXPECT_GE(share(), 0.5) << m_window->pane().view().width() << "x" << m_window->pane().view().height();
}

TEST_F(WorkPlaceWindow, OnlyTheUserGivesPanelsAnotherHeight) {
  openSample();
  m_window->raisePanel("nodes");
  QTest::qWait(5);
  const int height = lower().height();
  for (const auto& name : m_window->panelNames()) {
    m_window->raisePanel(name);
    QTest::qWait(1);
    EXPECT_EQ(lower().height(), height) << qPrintable(name);
  }
  m_window->raisePanel("accuracy");
  m_window->actions()["compare"]->trigger();
  settle();
  EXPECT_EQ(lower().height(), height) << "results need no other room";
}

TEST_F(WorkPlaceWindow, FewPanelsAreOfferedAtATime) {
  openSample();
  const auto offered = [&] {
    QStringList names;
    for (const auto& name : m_window->places().names())
      if (!m_window->places().buttonOf(name)->isHidden()) names << name;
    return names;
  };
  EXPECT_EQ(offered().join(' '), "nodes source path kernels") << "a repro has no recorded code, no timeline, no record";
  m_window->actions()["workNumbers"]->trigger();
  EXPECT_EQ(m_window->places().open(), "accuracy");
  EXPECT_EQ(offered().join(' '), "accuracy values partition");
  m_window->actions()["workReduce"]->trigger();
  EXPECT_EQ(m_window->places().open(), "minify");
  QTest::mouseClick(m_window->places().buttonOf("minify"), Qt::LeftButton);
  EXPECT_TRUE(lower().isHidden()) << "a second press closes the panel";
  QTest::mouseClick(m_window->places().buttonOf("minify"), Qt::LeftButton);
  EXPECT_TRUE(lower().isVisible());
  m_window->raisePanel("fusion");
  EXPECT_TRUE(offered().contains("fusion")) << "whoever asks gets it";
}

TEST_F(WorkPlaceWindow, F11LeavesNothingButTheGraph) {
  openSample();
  m_window->raisePanel("nodes");
  const auto before = m_window->pane().view().size();
  m_window->actions()["graphAlone"]->trigger();
  QTest::qWait(5);
  for (const auto* dock : m_window->findChildren<QDockWidget*>()) EXPECT_FALSE(dock->isVisible());
  EXPECT_FALSE(m_window->stageStrip().isVisible());
  EXPECT_GT(share(), 0.85);
  m_window->actions()["graphAlone"]->trigger();
  QTest::qWait(5);
  EXPECT_EQ(m_window->pane().view().size(), before);
  EXPECT_TRUE(m_window->stageStrip().isVisible());
  EXPECT_EQ(m_window->places().open(), "nodes");
}

TEST_F(WorkPlaceWindow, TheStoryOfAFailureGoesStepByStep) {
  auto& story = m_window->storyBar();
  EXPECT_EQ(story.next(), StoryStep::Open);
  openSample();
  EXPECT_EQ(story.next(), StoryStep::Compare);
  session().setPlant("relu=accuracy");
  QTest::mouseClick(&story.button(StoryStep::Compare), Qt::LeftButton);
  settle();
  EXPECT_THAT(story.button(StoryStep::Compare).text().toStdString(), HasSubstr("Different (planted)"));
  EXPECT_THAT(story.button(StoryStep::FirstBad).text().toStdString(), HasSubstr("relu"));
  session().selectNode(-1);
  QTest::mouseClick(&story.button(StoryStep::FirstBad), Qt::LeftButton);
  ASSERT_TRUE(session().nodeDoc());
  EXPECT_EQ(session().nodeDoc()->name, "relu");
  EXPECT_EQ(story.next(), StoryStep::Bisect);
  QTest::mouseClick(&story.button(StoryStep::Minify), Qt::LeftButton);
  settle();
  ASSERT_EQ(session().minified()->state, MinifyDoc::State::Done) << qPrintable(session().minified()->error);
  EXPECT_EQ(story.next(), StoryStep::Issue);
  EXPECT_THAT(story.button(StoryStep::Minify).text().toStdString(), HasSubstr("94 → 3"));
  EXPECT_THAT(m_window->minifyPanel().status().toStdString(), HasSubstr("planted: relu=accuracy"));
  QTest::mouseClick(&story.button(StoryStep::Issue), Qt::LeftButton);
  settle();
  auto* issue = m_window->findChild<QPlainTextEdit*>("issueText");
  ASSERT_TRUE(issue) << qPrintable(m_window->banner().text());
  EXPECT_THAT(issue->toPlainText().toStdString(), HasSubstr("torch.ops.aten.relu.default"));
  EXPECT_FALSE(issue->toPlainText().contains(QDir::homePath() + "/"));
  QTest::mouseClick(m_window->findChild<QPushButton*>("copyIssue"), Qt::LeftButton);
  EXPECT_EQ(QApplication::clipboard()->text(), issue->toPlainText());
  QApplication::clipboard()->clear();
}

TEST_F(WorkPlaceWindow, NextBadWalksTheGraph) {
  openSample();
  session().setPlant("relu=accuracy");
  m_window->actions()["compare"]->trigger();
  settle();
  std::vector<std::string> bad;
  for (const auto& node : session().graph()->nodes)
    if (const auto* row = session().accuracy()->find(node.name); row && !row->same) bad.push_back(node.name);
  ASSERT_GE(bad.size(), 1u);
  m_window->actions()["firstBad"]->trigger();
  EXPECT_EQ(session().nodeDoc()->name, session().accuracy()->firstBadNode());
  auto at = std::ranges::find(bad, session().nodeDoc()->name);
  ASSERT_NE(at, bad.end());
  m_window->actions()["nextBad"]->trigger();
  EXPECT_EQ(session().nodeDoc()->name, at + 1 == bad.end() ? bad.front() : *(at + 1));
  m_window->actions()["previousBad"]->trigger();
  EXPECT_EQ(session().nodeDoc()->name, *at);
}

TEST_F(WorkPlaceWindow, JobsAreListedInOnePlaceAndStopThere) {
  openSample();
  session().setPlant("relu=hang");
  m_window->actions()["compare"]->trigger();
  auto* jobs = m_window->findChild<QToolButton*>("jobs");
  ASSERT_TRUE(jobs);
  ASSERT_TRUE(test::waitFor([&] { return jobs->text().contains("Comparing…  1"); })) << "the clock ticks";
  emit jobs->menu()->aboutToShow();
  const auto actions = jobs->menu()->actions();
  const auto stop =
      std::ranges::find_if(actions, [](const QAction* each) { return each->text().contains("Comparing"); });
  ASSERT_NE(stop, actions.end());
  (*stop)->trigger();
  settle();
  EXPECT_EQ(jobs->text(), "Ready");
}

TEST_F(WorkPlaceWindow, WhatIsOpenIsRememberedBeforeTheWindowCloses) {
  const auto settings = m_files.filePath("settings.ini");
  m_window = std::make_unique<MainWindow>(WindowOptions{true, "light", settings});
  m_window->resize(1366, 768);
  m_window->show();
  started();
  openSample();
  session().selectNode(QString("relu"));
  ASSERT_TRUE(test::waitFor([&] {
    const QSettings written(settings, QSettings::IniFormat);
    return written.value("session").toMap()["place"].toMap()["node"].toString() == "relu";
  })) << "a killed window would lose it";
}

/// No field of a dialog is lower or narrower than it needs, and its buttons are in it.
void expectRoom(QDialog& dialog, const std::string& what) {
  QTest::qWait(20);
  const auto screen = dialog.screen()->availableSize();
  EXPECT_LE(dialog.height(), screen.height()) << what;
  EXPECT_LE(dialog.width(), screen.width()) << what;
  int asked = 0;
  for (auto* widget : dialog.findChildren<QWidget*>()) {
    const bool field = qobject_cast<QComboBox*>(widget) || qobject_cast<QAbstractSpinBox*>(widget) ||
                       qobject_cast<QPushButton*>(widget) ||
                       (qobject_cast<QLineEdit*>(widget) && !qobject_cast<QComboBox*>(widget->parentWidget()) &&
                        !qobject_cast<QAbstractSpinBox*>(widget->parentWidget()));
    if (!field || !widget->isVisible()) continue;
    ++asked;
    EXPECT_GE(widget->height(), widget->minimumSizeHint().height())
        << what << " " << widget->objectName().toStdString();
    EXPECT_GE(widget->height(), 20) << what << " " << widget->objectName().toStdString();
    const QRect place(widget->mapTo(&dialog, QPoint()), widget->size());
    EXPECT_TRUE(!qobject_cast<QPushButton*>(widget) || dialog.rect().contains(place)) << what;
  }
  for (auto* label : dialog.findChildren<QLabel*>())
    EXPECT_TRUE(!label->isVisible() || !label->wordWrap() || label->height() >= label->heightForWidth(label->width()))
        << what << ": " << label->text().toStdString();
  EXPECT_GE(asked, 2) << what;
}

TEST_F(WorkPlaceWindow, DialogsCrushNothing) {
  openSample();
  const auto plain = QApplication::font();
  for (const double scale : {1.0, 1.5, 2.0}) {
    auto font = plain;
    if (plain.pixelSize() > 0)
      font.setPixelSize(int(plain.pixelSize() * scale));
    else
      font.setPointSizeF(plain.pointSizeF() * scale);
    QApplication::setFont(font);
    const auto name = std::to_string(scale);
    MinifySettings settings({}, {"s0=8", "s1=3"}, m_window.get());
    settings.show();
    expectRoom(settings, "minify, engine, " + name);
    for (const char* oracle : {"torch", "command"}) {
      auto* box = settings.findChild<QComboBox*>("oracle");
      box->setCurrentIndex(box->findData(oracle));
      expectRoom(settings, std::string("minify, ") + oracle + ", " + name);
    }
    settings.inputs().setNote(QString("made up: ") + QStringList(60, "primals_12").join(", "));
    expectRoom(settings, "minify with a note, " + name);
    settings.close();
    PlantDialog plant(session(), m_window.get());
    plant.show();
    expectRoom(plant, "plant, " + name);
    plant.close();
    ExportDialog picture(m_window->pane(), session().jobs(), m_files.path(), m_window.get());
    picture.show();
    expectRoom(picture, "picture, " + name);
    picture.close();
  }
  QApplication::setFont(plain);
}

TEST_F(WorkPlaceWindow, KeysAreGroupedAndFitTheScreen) {
  small();
  openSample();
  m_window->actions()["shortcuts"]->trigger();
  auto* shown = m_window->findChild<QTextBrowser*>("shortcuts");
  ASSERT_TRUE(shown);
  EXPECT_LE(shown->window()->height(), 768);
  const auto said = shown->toPlainText().toStdString();
  for (const char* part : {"File", "Go", "Run", "F11", "Ctrl+R", "Shift+click"}) EXPECT_THAT(said, HasSubstr(part));
  shown->window()->close();
}

}  // namespace
}  // namespace kerf::ui
