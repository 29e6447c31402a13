#include "ui/panels/lane_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {

LaneView::LaneView(const Names& names, QWidget* parent)
    : QWidget(parent),
      m_bar(new QHBoxLayout),
      m_headline(new QLabel),
      m_hint(new QLabel),
      m_go(new QPushButton(tr("Go there"))),
      m_lanes(new QTreeWidget),
      m_detail(new QTextBrowser),
      m_content(new QSplitter(Qt::Horizontal)) {
  m_headline->setObjectName("status");
  m_headline->setMinimumWidth(1);
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
  m_headline->setText(said);
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

int LaneView::currentRow() const { return m_lanes->indexOfTopLevelItem(m_lanes->currentItem()); }

}  // namespace kerf::ui::inline panels
