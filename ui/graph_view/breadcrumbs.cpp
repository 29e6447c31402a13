#include "ui/graph_view/breadcrumbs.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace kerf::ui::inline graph_view {

Breadcrumbs::Breadcrumbs(QWidget* parent) : QWidget(parent), m_row(new QHBoxLayout(this)) {
  setObjectName("breadcrumbs");
  m_row->setContentsMargins(0, 0, 0, 0);
  m_row->setSpacing(2);
  setVisible(false);
}

void Breadcrumbs::setPath(const QString& graph, const QString& path) {
  while (auto* item = m_row->takeAt(0)) {
    if (item->widget()) item->widget()->deleteLater();
    delete item;
  }
  setVisible(!path.isEmpty());
  if (path.isEmpty()) return;
  const auto steps = QStringList(graph) + path.split('/');
  for (int i = 0; i + 1 < int(steps.size()); ++i) {
    auto* button = new QToolButton;
    button->setText(steps[i]);
    button->setFocusPolicy(Qt::TabFocus);
    button->setAccessibleName(tr("Back to %1").arg(steps[i]));
    button->setToolTip(tr("Back to %1 (Backspace)").arg(steps[i]));
    connect(button, &QToolButton::clicked, this,
            [this, levels = int(steps.size()) - 1 - i] { emit leaveRequested(levels); });
    m_row->addWidget(button);
    m_row->addWidget(new QLabel("›"));
  }
}

}  // namespace kerf::ui::inline graph_view
