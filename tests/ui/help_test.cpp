// What helps in the window itself: pages, the words of queries, a problem report; titles that are cut; what a comparison
// said before a restart.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QAction>
#include <QClipboard>
#include <QDir>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QStyleOptionHeader>
#include <QTextBrowser>
#include <QTextDocument>
#include <QTextFragment>
#include <QToolTip>

#include "app/workbench/protocol/node_query.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/theme.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/table_view.h"
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

TEST_F(Window, TitlesStayWholeWhereLongTextsGiveWay) {
  openSample();
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  const auto& table = m_window->accuracyPanel().nodes();
  for (const QSize size : {QSize(1600, 1000), QSize(1366, 768), QSize(1920, 1200)}) {
    m_window->resize(size);
    QApplication::processEvents();
    for (int column = 0; column < table.model()->columnCount(); ++column)
      EXPECT_TRUE(table.isColumnHidden(column) ||
                  table.columnWidth(column) >= table.horizontalHeader()->sectionSizeHint(column))
          << qPrintable(table.model()->headerData(column, Qt::Horizontal).toString()) << " at " << size.width();
  }
}

/// The titles of a header that are cut as they are drawn: the style takes padding and the arrow of a sorted column away.
QStringList cutTitles(const QHeaderView& header) {
  QStringList cut;
  QFont font = header.font();
  font.setPixelSize(12);  // style.qss
  const QFontMetrics metrics(font);
  for (int section = 0; section < header.count(); ++section) {
    const auto title = header.model()->headerData(section, Qt::Horizontal).toString();
    if (header.isSectionHidden(section) || title.isEmpty()) continue;
    QStyleOptionHeader option;
    option.initFrom(&header);
    option.rect = QRect(0, 0, header.sectionSize(section), header.height());
    option.section = section;
    option.text = title;
    const bool sorted = header.isSortIndicatorShown() && header.sortIndicatorSection() == section;
    option.sortIndicator = sorted ? QStyleOptionHeader::SortDown : QStyleOptionHeader::None;
    const auto room = header.style()->subElementRect(QStyle::SE_HeaderLabel, &option, &header).width();
    if (metrics.horizontalAdvance(title) > room)
      cut << QString("%1 (%2 of %3)").arg(title).arg(room).arg(metrics.horizontalAdvance(title));
  }
  return cut;
}

class WholeTitles : public Window, public ::testing::WithParamInterface<QSize> {
 protected:
  void checkAll(const char* what) {
    int looked = 0;
    for (const auto& name : m_window->panelNames()) {
      m_window->raisePanel(name);
      QApplication::processEvents();
      for (const auto* header : m_window->findChildren<QHeaderView*>()) {
        const bool lanes = header->parentWidget() && header->parentWidget()->objectName().contains("lanes");
        if (header->orientation() != Qt::Horizontal || !header->isVisible() || !header->model() || lanes) continue;
        const auto cut = cutTitles(*header);
        EXPECT_TRUE(cut.isEmpty()) << what << ", " << qPrintable(name) << ", "
                                   << qPrintable(header->parentWidget()->objectName()) << ": "
                                   << qPrintable(cut.join(", "));
        ++looked;
      }
    }
    EXPECT_GT(looked, 8) << what;
  }
};

TEST_P(WholeTitles, InEveryTable) {
  m_window->resize(GetParam());
  openSample();
  m_window->accuracyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  m_window->raisePanel("accuracy");
  checkAll("compared");
  for (auto* table : m_window->findChildren<DataTable*>())
    if (table->model()->columnCount() > 3) table->sortByColumn(3, Qt::AscendingOrder);
  checkAll("sorted");
  open(KERF_SOURCE_DIR "/tests/fuzz/seeds/torch_trace/compile_log.log");
  checkAll("trace");
}
INSTANTIATE_TEST_SUITE_P(Sizes, WholeTitles, ::testing::Values(QSize(1366, 768), QSize(1600, 1000), QSize(1024, 640)),
                         [](const auto& info) { return "w" + std::to_string(info.param.width()); });

/// Columns of a table that is too narrow for its titles are reached by scrolling; one with room has its texts whole.
TEST_F(Window, TablesScrollWhereTitlesHaveNoRoom) {
  openSample();
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  m_window->raisePanel("accuracy");
  auto& table = m_window->accuracyPanel().nodes();
  table.setFixedWidth(260);
  QApplication::processEvents();
  EXPECT_EQ(cutTitles(*table.horizontalHeader()), QStringList());
  EXPECT_GT(table.horizontalScrollBar()->maximum(), 0);
  table.setFixedWidth(1900);
  QApplication::processEvents();
  EXPECT_EQ(table.horizontalScrollBar()->maximum(), 0);
  const QFontMetrics metrics(table.font());
  for (int row = 0; row < 20; ++row)
    for (int column = 0; column < table.model()->columnCount(); ++column)
      EXPECT_LT(metrics.horizontalAdvance(table.model()->index(row, column).data().toString()),
                table.columnWidth(column))
          << row << " " << column;
}

/// Colours of the light theme that the dark one has nowhere.
std::set<QRgb> coloursOfLightAlone() {
  const auto all = [](const Theme& theme) {
    std::set<QRgb> found;
    for (const auto& colour : {theme.text, theme.muted, theme.faint, theme.accent, theme.good, theme.warn, theme.bad})
      found.insert(colour.rgb());
    return found;
  };
  setTheme(true);
  const auto dark = all(theme());
  setTheme(false);
  auto light = all(theme());
  std::erase_if(light, [&](QRgb colour) { return dark.contains(colour); });
  return light;
}

/// Nothing keeps the colours of the theme before: rows, labels and pages, shown or not.
TEST_F(Window, NothingKeepsTheColoursOfTheOtherTheme) {
  m_mostGap = test::mostGapOfThemes();
  open(KERF_SOURCE_DIR "/tests/fuzz/seeds/torch_trace/compile_log.log");
  openSample();
  session().listStore();
  m_window->accuracyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  for (const auto& name : m_window->panelNames()) m_window->raisePanel(name);
  m_window->raisePanel("accuracy");
  const auto old = coloursOfLightAlone();
  ASSERT_GT(old.size(), 4u);
  m_window->setTheme("dark");
  QTest::qWait(50);
  int looked = 0;
  const auto check = [&](const QBrush& brush, const QWidget& widget, const QString& said) {
    ++looked;
    EXPECT_FALSE(brush.style() != Qt::NoBrush && old.contains(brush.color().rgb()))
        << widget.metaObject()->className() << " " << qPrintable(widget.objectName()) << ": " << qPrintable(said)
        << " in " << qPrintable(brush.color().name());
  };
  for (const auto* view : m_window->findChildren<QAbstractItemView*>())
    for (int row = 0; view->model() && row < std::min(40, view->model()->rowCount()); ++row)
      for (int column = 0; column < view->model()->columnCount(); ++column) {
        const auto index = view->model()->index(row, column);
        check(qvariant_cast<QBrush>(index.data(Qt::ForegroundRole)), *view, index.data().toString());
      }
  for (const auto* label : m_window->findChildren<QLabel*>())
    check(label->palette().windowText(), *label, label->text().left(60));
  for (const auto* page : m_window->findChildren<QTextBrowser*>())
    for (auto block = page->document()->begin(); block.isValid(); block = block.next())
      for (auto part = block.begin(); !part.atEnd(); ++part)
        check(part.fragment().charFormat().foreground(), *page, part.fragment().text());
  EXPECT_GT(looked, 400);
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
