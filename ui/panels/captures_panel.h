// CapturesPanel: the tree of opened files and their graphs.
#pragma once

#include <QWidget>

#include "ui/models/capture_tree_model.h"
#include "ui/session/session.h"

class QLineEdit;
class QTreeView;

namespace kerf::ui::inline panels {

class CapturesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit CapturesPanel(Session& session, QWidget* parent = nullptr);
  QTreeView& tree() { return *m_tree; }
  QLineEdit& filter() { return *m_filter; }

 signals:
  /// The user went to a graph, be it the one that is shown already.
  void graphPicked();
  /// Two graphs are to be seen against each other.
  void comparisonAsked();
  /// Two captures as wholes.
  void runsAsked(int before, int after);

 private:
  void compareGraphs(const Location& before, const Location& after);
  void showCaptures();
  void showPlace();
  void applyFilter();
  void showGraphless(const QModelIndex& index);
  void menuAt(const QPoint& position);

  Session& m_session;
  CaptureTreeModel* m_model;
  QLineEdit* m_filter;
  QTreeView* m_tree;
};

}  // namespace kerf::ui::inline panels
