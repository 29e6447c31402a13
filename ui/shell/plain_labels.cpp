#include "ui/shell/plain_labels.h"

#include <QApplication>
#include <QEvent>
#include <QLabel>

namespace kerf::ui::inline shell {

void PlainLabels::install() {
  static const auto* const only = [] {
    auto* made = new PlainLabels(qApp);
    qApp->installEventFilter(made);
    return made;
  }();
  Q_UNUSED(only);
}

bool PlainLabels::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Polish)
    if (auto* label = qobject_cast<QLabel*>(watched); label != nullptr && label->textFormat() == Qt::AutoText)
      label->setTextFormat(Qt::PlainText);
  return QObject::eventFilter(watched, event);
}

}  // namespace kerf::ui::inline shell
