#include "ui/panels/ranks_panel.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int numberColumn = 0, placeColumn = 1, firstLane = 2;
constexpr int narrowestLane = 44, widestLane = 260;

}  // namespace

RanksPanel::RanksPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_headline(new QLabel),
      m_hint(new QLabel),
      m_go(new QPushButton(tr("Go there"))),
      m_lanes(new QTreeWidget),
      m_detail(new QTextBrowser),
      m_content(new QSplitter(Qt::Horizontal)) {
  build();
  connect(m_go, &QPushButton::clicked, this, &RanksPanel::goToFirst);
  connect(m_lanes, &QTreeWidget::currentItemChanged, this, &RanksPanel::showRow);
  connect(m_lanes, &QTreeWidget::itemActivated, this, &RanksPanel::goTo);
  for (const auto signal :
       {&Session::capturesChanged, &Session::locationChanged, &Session::ranksChanged, &Session::programChanged})
    connect(&session, signal, this, &RanksPanel::showRanks);
  showRanks();
}

void RanksPanel::build() {
  m_headline->setObjectName("status");
  m_headline->setMinimumWidth(1);
  m_go->setObjectName("goToFirstRankDifference");
  m_go->setToolTip(tr("Show the graph of the rank that differs, at the first node that does"));
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_lanes->setObjectName("rankLanes");
  m_lanes->setAccessibleName(tr("Graphs that differ and collectives, a column for each rank"));
  m_lanes->setRootIsDecorated(false);
  m_lanes->setUniformRowHeights(true);
  m_lanes->setTextElideMode(Qt::ElideMiddle);
  m_detail->setObjectName("ranksDetail");
  m_detail->setAccessibleName(tr("What each rank does there"));
  m_detail->setFrameShape(QFrame::NoFrame);
  m_detail->setOpenLinks(false);
  m_content->addWidget(m_lanes);
  m_content->addWidget(m_detail);
  m_content->setChildrenCollapsible(false);
  m_content->setSizes({800, 300});
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 8, 12, 8);
  bar->addWidget(m_headline, 1);
  bar->addWidget(m_go);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  column->addWidget(m_hint, 1);
  column->addWidget(m_content, 1);
}

QString RanksPanel::headline() const { return m_headline->text(); }

QString RanksPanel::detail() const { return m_detail->toPlainText(); }

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
  m_content->setVisible(told);
  m_hint->setVisible(!told);
  m_hint->setText(ranks                         ? ranks->error
                  : m_session.hasRanks(capture) ? tr("Comparing what the ranks recorded…")
                                                : tr("Open a folder with the traces of several ranks."));
  if (ranks == m_shown && told) return;
  m_shown = told ? ranks : nullptr;
  m_rows = told ? laneRows(*ranks) : std::vector<LaneRow>();
  m_headline->setText(told ? ranksHeadline(*ranks) : QString());
  m_headline->setToolTip(m_headline->text());
  fillLanes();
}

void RanksPanel::fillLanes() {
  const QSignalBlocker quiet(m_lanes);
  m_lanes->clear();
  m_detail->clear();
  QStringList titles{tr("#"), tr("Compile id")};
  if (m_shown)
    for (const int rank : m_shown->ranks) titles << tr("rank %1").arg(rank);
  m_lanes->setColumnCount(int(titles.size()));
  m_lanes->setHeaderLabels(titles);
  for (const LaneRow& row : m_rows) addLane(row);
  const auto first = std::ranges::find(m_rows, true, &LaneRow::isFirst);
  m_first = first == m_rows.end() ? -1 : int(first - m_rows.begin());
  m_go->setVisible(m_first >= 0);
  for (int column = 0; column < m_lanes->columnCount(); ++column) {
    m_lanes->resizeColumnToContents(column);
    m_lanes->setColumnWidth(column, std::clamp(m_lanes->columnWidth(column), narrowestLane, widestLane));
  }
  m_lanes->setCurrentItem(m_lanes->topLevelItem(std::max(0, m_first)));
  showRow();
}

void RanksPanel::addLane(const LaneRow& row) {
  QFont bold = m_lanes->font();
  bold.setBold(true);
  auto* item = new QTreeWidgetItem(m_lanes);
  item->setText(numberColumn, row.number);
  item->setText(placeColumn, row.place);
  item->setToolTip(placeColumn, row.place);
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const int column = firstLane + int(i);
    const LaneCell& cell = row.cells[i];
    item->setText(column, cell.text);
    item->setToolTip(column, cell.text);
    item->setForeground(column, cell.blamed ? theme().bad : cell.differs ? theme().warn : theme().muted);
    if (cell.blamed || cell.differs) item->setFont(column, bold);  // a selected row has one colour
  }
}

void RanksPanel::showRow() {
  const int row = m_lanes->indexOfTopLevelItem(m_lanes->currentItem());
  if (m_shown && row >= 0 && row < int(m_rows.size())) m_detail->setHtml(laneHtml(m_rows[std::size_t(row)]));
}

int RanksPanel::rankOf(int column) const {
  const int lane = column - firstLane;
  return m_shown && lane >= 0 && lane < int(m_shown->ranks.size()) ? m_shown->ranks[std::size_t(lane)] : -1;
}

void RanksPanel::goTo(QTreeWidgetItem* item, int column) {
  const int row = m_lanes->indexOfTopLevelItem(item), rank = rankOf(column);
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
  if (found != cells.end()) goTo(m_lanes->topLevelItem(m_first), firstLane + int(found - cells.begin()));
}

}  // namespace kerf::ui::inline panels
