#include "ui/panels/ranks_panel.h"

#include <algorithm>

#include <QPushButton>
#include <QSignalBlocker>
#include <QTextBrowser>
#include <QTreeWidget>

#include "ui/graph_view/theme_change.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int numberColumn = 0, placeColumn = 1, firstLane = 2;

void colourLane(QTreeWidgetItem& item, const LaneRow& row) {
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const LaneCell& cell = row.cells[i];
    item.setForeground(firstLane + int(i), cell.blamed ? theme().bad : cell.differs ? theme().warn : theme().muted);
  }
}

}  // namespace

RanksPanel::RanksPanel(Session& session, QWidget* parent)
    : LaneView({"rankLanes", "ranksDetail", "goToFirstRankDifference",
                tr("Graphs that differ and collectives, a column for each rank"), tr("What each rank does there"),
                tr("Show the graph of the rank that differs, at the first node that does")},
               parent),
      m_session(session) {
  connect(&goButton(), &QPushButton::clicked, this, &RanksPanel::goToFirst);
  connect(&lanes(), &QTreeWidget::currentItemChanged, this, &RanksPanel::showRow);
  connect(&lanes(), &QTreeWidget::itemActivated, this, &RanksPanel::goTo);
  for (const auto signal :
       {&Session::capturesChanged, &Session::locationChanged, &Session::ranksChanged, &Session::programChanged})
    connect(&session, signal, this, &RanksPanel::showRanks);
  onThemeChange(*this, [this] {
    for (int row = 0; row < int(m_rows.size()); ++row) colourLane(*lanes().topLevelItem(row), m_rows[std::size_t(row)]);
    showRow();
  });
  showRanks();
}

/// Lanes are made when somebody looks at them: large traces take a while to read.
void RanksPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showRanks();
}

void RanksPanel::showRanks() {
  const int capture = m_session.shownCapture();
  if (isVisible()) m_session.findRanks(capture);
  const auto ranks = m_session.ranks(capture);
  const bool told = ranks && ranks->error.isEmpty();
  if (told)
    showLanes();
  else
    showHint(ranks                         ? ranks->error
             : m_session.hasRanks(capture) ? tr("Comparing what the ranks recorded…")
                                           : tr("Open a folder with the traces of several ranks."));
  if (ranks == m_shown && told) return;
  m_shown = told ? ranks : nullptr;
  m_rows = told ? laneRows(*ranks) : std::vector<LaneRow>();
  setHeadline(told ? ranksHeadline(*ranks) : QString());
  fillLanes();
}

void RanksPanel::fillLanes() {
  const QSignalBlocker quiet(lanes());
  lanes().clear();
  detailView().clear();
  QStringList titles{tr("#"), tr("Compile id")};
  if (m_shown)
    for (const int rank : m_shown->ranks) titles << tr("rank %1").arg(rank);
  lanes().setColumnCount(int(titles.size()));
  lanes().setHeaderLabels(titles);
  for (const LaneRow& row : m_rows) addLane(row);
  const auto first = std::ranges::find(m_rows, true, &LaneRow::isFirst);
  m_first = first == m_rows.end() ? -1 : int(first - m_rows.begin());
  goButton().setVisible(m_first >= 0);
  fitLanes(firstLane);
  lanes().setCurrentItem(lanes().topLevelItem(std::max(0, m_first)));
  showRow();
}

void RanksPanel::addLane(const LaneRow& row) {
  QFont bold = lanes().font();
  bold.setBold(true);
  auto* item = new QTreeWidgetItem(&lanes());
  item->setText(numberColumn, row.number);
  item->setText(placeColumn, row.place);
  item->setToolTip(placeColumn, row.place);
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const int column = firstLane + int(i);
    const LaneCell& cell = row.cells[i];
    item->setText(column, cell.text);
    item->setToolTip(column, cell.text);
    if (cell.blamed || cell.differs) item->setFont(column, bold);  // a selected row has one colour
  }
  colourLane(*item, row);
}

void RanksPanel::showRow() {
  const int row = currentRow();
  if (m_shown && row >= 0 && row < int(m_rows.size())) detailView().setHtml(laneHtml(m_rows[std::size_t(row)]));
}

int RanksPanel::rankOf(int column) const {
  const int lane = column - firstLane;
  return m_shown && lane >= 0 && lane < int(m_shown->ranks.size()) ? m_shown->ranks[std::size_t(lane)] : -1;
}

void RanksPanel::goTo(QTreeWidgetItem* item, int column) {
  const int row = lanes().indexOfTopLevelItem(item), rank = rankOf(column);
  if (row < 0 || row >= int(m_rows.size()) || rank < 0) return;
  const LaneRow& lane = m_rows[std::size_t(row)];
  const LaneCell& cell = lane.cells[std::size_t(column - firstLane)];
  if (m_session.goToRank(rank, lane.compileId, cell.place)) emit graphPicked();
}

void RanksPanel::goToFirst() {
  if (m_first < 0) return;
  const auto& cells = m_rows[std::size_t(m_first)].cells;
  auto found = std::ranges::find(cells, true, &LaneCell::blamed);
  if (found == cells.end()) found = std::ranges::find(cells, true, &LaneCell::differs);
  if (found != cells.end()) goTo(lanes().topLevelItem(m_first), firstLane + int(found - cells.begin()));
}

}  // namespace kerf::ui::inline panels
