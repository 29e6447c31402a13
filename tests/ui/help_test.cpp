// What helps in the window itself: pages, the words of queries, a problem report; titles that are cut; what a comparison
// said before a restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QClipboard>
#include <QDir>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextBrowser>
#include <QToolTip>

#include "app/workbench/protocol/node_query.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/session/log_feed.h"
#include "ui/shell/help_window.h"
#include "ui/shell/problem_report.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Window, HasThePagesThatItsUsersNeed) {
  m_window->actions()["help"]->trigger();
  auto* help = m_window->findChild<HelpWindow*>();
  ASSERT_TRUE(help && help->isVisible());
  EXPECT_EQ(help->page(), "studio.md");
  for (const auto& page : help->pages()) {
    help->showPage(page);
    EXPECT_EQ(help->page(), page);
    EXPECT_GT(help->text().toPlainText().size(), 400) << page.toStdString();
  }
  help->showPage("studio.md");
  emit help->text().anchorClicked(QUrl("differences.md"));
  EXPECT_EQ(help->page(), "differences.md");
  emit help->text().anchorClicked(QUrl("https://example.org/studio.md"));
  EXPECT_EQ(help->page(), "differences.md") << "nothing leads out of the window";
  m_window->actions()["queryHelp"]->trigger();
  EXPECT_EQ(help->page(), "queries");
  for (const auto& [word, what] : workbench::queryWords())
    EXPECT_THAT(help->text().toPlainText().toStdString(), HasSubstr(std::string(word)));
}

TEST_F(Window, ReportsAProblemWithoutPathsOfTheUser) {
  openSample();
  logUi("warning", "cannot read " + QDir::homePath() + "/secret/model.py");
  ASSERT_TRUE(test::waitFor([&] { return !m_window->logFeed().messages().empty(); }));
  m_window->actions()["problem"]->trigger();
  auto* words = m_window->findChild<QPlainTextEdit*>("problemText");
  ASSERT_TRUE(words);
  const auto text = words->toPlainText().toStdString();
  EXPECT_THAT(text, HasSubstr(std::string("Qt ") + qVersion()));
  EXPECT_THAT(text, HasSubstr("a graph of 94 nodes"));
  EXPECT_THAT(text, HasSubstr("platform offscreen"));
  EXPECT_THAT(text, HasSubstr("cannot read ~/secret/model.py"));
  EXPECT_THAT(text, Not(HasSubstr(QDir::homePath().toStdString() + "/")));
  QTest::mouseClick(m_window->findChild<QPushButton*>("copyProblem"), Qt::LeftButton);
  EXPECT_EQ(QGuiApplication::clipboard()->text(), words->toPlainText());
}

TEST_F(Window, TellsTitlesThatAreCut) {
  openSample();
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  auto& table = m_window->accuracyPanel().nodes();
  table.setColumnWidth(1, 30);
  auto* header = table.horizontalHeader();
  const QPoint place(header->sectionViewportPosition(1) + 5, 5);
  QHelpEvent help(QEvent::ToolTip, place, header->viewport()->mapToGlobal(place));
  QApplication::sendEvent(header->viewport(), &help);
  EXPECT_TRUE(
      test::waitFor([&] { return QToolTip::text() == table.model()->headerData(1, Qt::Horizontal).toString(); }));
}

TEST_F(Window, SaysAfterARestartWhatAComparisonSaid) {
  openSample();
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(
      test::waitFor([&] { return session().accuracy() && !session().accuracy()->running && m_window->idle(); }));
  const auto kept = m_window->accuracyPanel().kept();
  const auto verdict = kept["verdict"].toString();
  EXPECT_THAT(verdict.toStdString(), HasSubstr("Same"));
  AccuracyPanel later(session());
  EXPECT_EQ(later.kept(), kept) << "the comparison is still there";
  m_window = std::make_unique<MainWindow>(WindowOptions{false, "light"});
  m_window->resize(1600, 1000);
  m_window->show();
  started();
  auto& panel = m_window->accuracyPanel();
  panel.setEarlier(kept);
  const auto* hint = panel.findChild<QLabel*>("hint");
  EXPECT_THAT(hint->text().toStdString(), Not(HasSubstr("Before the restart")));
  openSample();
  EXPECT_THAT(hint->text().toStdString(), HasSubstr("Before the restart: " + verdict.toStdString()));
  EXPECT_EQ(panel.kept(), kept) << "and after another restart";
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(
      test::waitFor([&] { return session().accuracy() && !session().accuracy()->running && m_window->idle(); }));
  EXPECT_FALSE(hint->isVisible());
  EXPECT_EQ(panel.kept(), kept);
}

}  // namespace
}  // namespace kerf::ui
