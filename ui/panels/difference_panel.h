// DifferencePanel: the shown graph and the one that it is compared with as text, side by side; selection is that of the
// graph.
#pragma once

#include <QWidget>

#include "ui/panels/difference_view.h"
#include "ui/session/session.h"

class QCheckBox;
class QLabel;

namespace kerf::ui::inline panels {

class DifferencePanel : public QWidget {
  Q_OBJECT

 public:
  explicit DifferencePanel(Session& session, QWidget* parent = nullptr);
  DifferenceView& view() { return *m_view; }
  QCheckBox& onlyChanges() { return *m_only; }
  /// A node of the earlier graph that is gone.
  void showGone(const QString& name) { m_view->setCurrent(name, true); }

 private:
  void showDifference();

  Session& m_session;
  QLabel* m_left;
  QLabel* m_right;
  QCheckBox* m_only;
  DifferenceView* m_view;
};

}  // namespace kerf::ui::inline panels
