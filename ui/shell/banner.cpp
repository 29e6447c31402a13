#include "ui/shell/banner.h"

#include <algorithm>

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shell/appearance.h"

namespace kerf::ui::inline shell {
namespace {
constexpr qsizetype mostText = 1200;
}

Banner::Banner(QWidget* parent)
    : QFrame(parent), m_icon(new QLabel), m_title(new QLabel), m_detail(new QLabel), m_close(new QToolButton) {
  setObjectName("banner");
  m_title->setObjectName("bannerTitle");
  m_detail->setWordWrap(true);
  m_detail->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_detail->setTextFormat(Qt::PlainText);
  m_close->setToolTip(tr("Dismiss"));
  connect(m_close, &QToolButton::clicked, this, &QWidget::hide);
  auto* texts = new QVBoxLayout;
  texts->setSpacing(1);
  texts->addWidget(m_title);
  texts->addWidget(m_detail);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(14, 8, 8, 8);
  row->setSpacing(12);
  row->addWidget(m_icon, 0, Qt::AlignTop);
  row->addLayout(texts, 1);
  row->addWidget(m_close, 0, Qt::AlignTop);
  refreshIcons();
  if (parent) parent->installEventFilter(this);
  hide();
}

void Banner::refreshIcons() {
  m_icon->setPixmap(themedIcon("warning").pixmap(18, 18));
  m_close->setIcon(themedIcon("close"));
}

void Banner::showError(const QString& title, const QString& detail) {
  m_title->setText(title);
  m_detail->setText(detail.size() > mostText ? detail.left(mostText) + "…" : detail);
  show();
  place();
}

/// Over the foot of what is around it: nothing else moves when it comes or goes.
void Banner::place() {
  auto* around = parentWidget();
  if (!around) return;
  const int width = around->width();
  const int height = std::max(hasHeightForWidth() ? heightForWidth(width) : 0, sizeHint().height());
  const int high = std::min(height, around->height());
  setGeometry(0, around->height() - high, width, high);
  raise();
}

bool Banner::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible()) place();
  return QFrame::eventFilter(watched, event);
}

QString Banner::text() const { return m_title->text() + ": " + m_detail->text(); }

}  // namespace kerf::ui::inline shell
