// CandidateView: a graph of a minification, drawn while it goes on: the smallest that still fails, and in the end the
// nearest one that passes, with what differs between the two marked in both.
#pragma once

#include <QSet>
#include <QWidget>

#include "ui/graph_view/graph_widget.h"
#include "ui/graph_view/layout_service.h"
#include "ui/session/session.h"

class QLabel;

namespace kerf::ui::inline panels {

class CandidateView : public QWidget {
  Q_OBJECT

 public:
  /// `name`: of the view, for screen readers and as the job of its layout; `hint`: its title without a graph.
  CandidateView(Session& session, const QString& name, const QString& hint, QWidget* parent = nullptr);
  /// What stays of the graph before stays where it is. `title`: "Fails still"; the number of nodes follows.
  void setGraph(GraphDocPtr graph, const QString& title);
  /// Nodes that the other graph does not have, and those that it has otherwise, by name.
  void setMarks(const QSet<QString>& own, const QSet<QString>& otherwise);
  QString title() const;
  const GraphWidget& view() const { return *m_view; }

 private:
  void showTitle();
  void showMarks();

  LayoutService m_layouts;
  GraphDocPtr m_graph;
  QString m_hint, m_name;
  QSet<QString> m_own, m_otherwise;
  QLabel* m_title;
  GraphWidget* m_view;
};

}  // namespace kerf::ui::inline panels
