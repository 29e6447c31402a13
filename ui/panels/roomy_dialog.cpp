#include "ui/panels/roomy_dialog.h"

#include <algorithm>

#include <QEvent>
#include <QLayout>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {
namespace {
constexpr int leastDialogWidth = 460;
constexpr int edge = 48;  ///< of the screen, that frames and task bars need
}  // namespace

void RoomyDialog::setContent(QLayout* content, QWidget* buttons) {
  m_content = new QWidget;
  m_content->setObjectName("dialogContent");
  m_content->setLayout(content);
  m_scroll = new QScrollArea;
  m_scroll->setObjectName("dialogScroll");
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setWidgetResizable(true);
  m_scroll->setFocusPolicy(Qt::NoFocus);
  m_scroll->setWidget(m_content);
  m_content->installEventFilter(this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 12);
  column->addWidget(m_scroll, 1);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(12, 0, 12, 0);
  foot->addWidget(buttons);
  column->addLayout(foot);
}

/// To what the content needs at its width: lines that wrap make it higher.
void RoomyDialog::grow() {
  if (!m_scroll || !screen()) return;
  const auto room = screen()->availableSize() - QSize(edge, edge);
  const int bar = m_scroll->verticalScrollBar()->sizeHint().width();
  const int wide = std::clamp(m_content->minimumSizeHint().width() + bar, leastDialogWidth, room.width());
  const int width = std::max(this->width(), wide);
  const auto* content = m_content->layout();
  const int high = content->hasHeightForWidth() ? content->heightForWidth(width) : content->sizeHint().height();
  const int rest = layout()->sizeHint().height() - m_scroll->sizeHint().height();
  m_scroll->setMinimumWidth(std::min(wide, room.width()));
  resize(width, std::clamp(high + rest, isVisible() ? std::min(height(), room.height()) : 0, room.height()));
}

bool RoomyDialog::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_content && event->type() == QEvent::LayoutRequest && isVisible())
    QMetaObject::invokeMethod(this, &RoomyDialog::grow, Qt::QueuedConnection);
  return QDialog::eventFilter(watched, event);
}

void RoomyDialog::showEvent(QShowEvent* event) {
  grow();
  QDialog::showEvent(event);
}

}  // namespace kerf::ui::inline panels
