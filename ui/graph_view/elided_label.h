// ElidedLabel: a line that gives way: the longest of its forms that there is room for, and of the shortest what fits.
#pragma once

#include <QLabel>
#include <QStringList>

namespace kerf::ui::inline graph_view {

class ElidedLabel : public QLabel {
 public:
  using QLabel::QLabel;
  /// From the longest to the shortest; the first is the label's text.
  void setForms(const QStringList& forms);
  /// The one that is drawn at the label's present width.
  QString shownText() const;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QStringList m_forms;
};

}  // namespace kerf::ui::inline graph_view
