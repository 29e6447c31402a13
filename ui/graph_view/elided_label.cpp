#include "ui/graph_view/elided_label.h"

#include <algorithm>

#include <QPainter>
#include <QStyle>

namespace kerf::ui::inline graph_view {
namespace {
constexpr int mostAsked = 170;  ///< long names do not push the docks aside
}

void ElidedLabel::setForms(const QStringList& forms) {
  if (forms == m_forms) return;
  m_forms = forms;
  setText(forms.value(0));
  updateGeometry();
  update();
}

QString ElidedLabel::shownText() const {
  for (const auto& form : m_forms)
    if (fontMetrics().horizontalAdvance(form) <= width()) return form;
  return fontMetrics().elidedText(m_forms.isEmpty() ? text() : m_forms.last(), Qt::ElideMiddle, width());
}

QSize ElidedLabel::minimumSizeHint() const {
  const int least = m_forms.isEmpty() ? 1 : fontMetrics().horizontalAdvance(m_forms.last());
  return {std::clamp(least, 1, mostAsked), QLabel::minimumSizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  style()->drawItemText(&painter, rect(), Qt::AlignLeft | Qt::AlignVCenter, palette(), true, shownText(),
                        foregroundRole());
}

}  // namespace kerf::ui::inline graph_view
