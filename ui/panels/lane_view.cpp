#include "ui/panels/lane_view.h"

#include <algorithm>
#include <vector>

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {
namespace {

constexpr int narrowestLane = 44, sharedLane = 96, widestLane = 260;

}  // namespace

LaneView::LaneView(const Names& names, QWidget* parent)
    : QWidget(parent),
      m_bar(new QHBoxLayout),
      m_headline(new ElidedLabel),
      m_hint(new QLabel),
      m_go(new QPushButton(tr("Go there"))),
      m_lanes(new QTreeWidget),
      m_detail(new QTextBrowser),
      m_content(new QSplitter(Qt::Horizontal)) {
  m_headline->setObjectName("status");
  m_go->setObjectName(names.go);
  m_go->setToolTip(names.goTip);
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_lanes->setObjectName(names.lanes);
  m_lanes->setAccessibleName(names.lanesTitle);
  m_lanes->setRootIsDecorated(false);
  m_lanes->setUniformRowHeights(true);
  m_lanes->setTextElideMode(Qt::ElideMiddle);
  m_detail->setObjectName(names.detail);
  m_detail->setAccessibleName(names.detailTitle);
  m_detail->setFrameShape(QFrame::NoFrame);
  m_detail->setOpenLinks(false);
  connect(m_lanes->header(), &QHeaderView::sectionResized, this, [this](int column) {
    m_chosenWidths |= !m_fitting && column < m_lanes->columnCount() - 1;  // the last takes the rest of the room
  });
  m_content->addWidget(m_lanes);
  m_content->addWidget(m_detail);
  m_content->setChildrenCollapsible(false);
  m_content->setSizes({760, 340});
  m_bar->setContentsMargins(12, 8, 12, 8);
  m_bar->setSpacing(10);
  m_bar->addWidget(m_headline, 1);
  m_bar->addWidget(m_go);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(m_bar);
  column->addWidget(m_hint, 1);
  column->addWidget(m_content, 1);
}

QString LaneView::hint() const { return m_hint->text(); }

QString LaneView::headline() const { return m_headline->text(); }

QString LaneView::detail() const { return m_detail->toPlainText(); }

void LaneView::setHeadline(const QString& said) {
  m_headline->setForms({said});
  m_headline->setToolTip(said);
}

void LaneView::showLanes() {
  m_content->show();
  m_hint->hide();
}

void LaneView::showHint(const QString& hint) {
  m_content->hide();
  m_hint->setText(hint);
  m_hint->show();
}

void LaneView::fitLanes(int first) {
  m_fitting = true;
  m_firstLane = first;
  m_chosenWidths = false;
  m_needed.clear();
  for (int column = 0; column < m_lanes->columnCount(); ++column) {
    m_lanes->resizeColumnToContents(column);
    m_needed.push_back(std::clamp(m_lanes->columnWidth(column), narrowestLane, widestLane));
  }
  shareRoom();
}

void LaneView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (!m_chosenWidths) shareRoom();
}

/// The narrow lanes take what they need, the others share the rest.
void LaneView::shareRoom() {
  m_fitting = true;
  auto widths = m_needed;
  std::vector<int> order;
  int room = m_lanes->viewport()->width();
  for (int column = 0; column < int(widths.size()); ++column) {
    if (column < m_firstLane)
      room -= widths[std::size_t(column)];
    else
      order.push_back(column);
  }
  std::ranges::sort(order, {}, [&](int column) { return m_needed[std::size_t(column)]; });
  int left = int(order.size());
  for (const int column : order) {
    int& width = widths[std::size_t(column)];
    width = std::min(width, std::max(sharedLane, room / left--));
    room -= width;
  }
  for (int column = 0; column < int(widths.size()); ++column)
    m_lanes->setColumnWidth(column, widths[std::size_t(column)]);
  m_fitting = false;
}

int LaneView::currentRow() const { return m_lanes->indexOfTopLevelItem(m_lanes->currentItem()); }

}  // namespace kerf::ui::inline panels
