#include "ui/panels/candidate_view.h"

#include <QLabel>
#include <QVBoxLayout>

#include "ui/models/format.h"

namespace kerf::ui::inline panels {

CandidateView::CandidateView(Session& session, const QString& name, const QString& hint, QWidget* parent)
    : QWidget(parent),
      m_layouts(session.jobs(), name + "Layout"),
      m_hint(hint),
      m_title(new QLabel(hint)),
      m_view(new GraphWidget) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_title->setObjectName("tableTitle");
  m_title->setMinimumWidth(1);
  column->addWidget(m_title);
  column->addWidget(m_view, 1);
  m_view->setObjectName(name);
  m_view->setAccessibleName(hint);
  m_view->setMinimumSize(160, 90);
  connect(m_view, &GraphWidget::nodePicked, m_view, [this](int node) { m_view->select(node, false); });
  connect(&m_layouts, &LayoutService::ready, this, [this](const ScenePtr& scene) {
    if (scene->shown != m_graph) return;
    m_view->setScene(scene);
    m_view->startView();  // another candidate is another size
    showTitle();
    showMarks();
  });
}

/// Of the graph that is drawn.
void CandidateView::showTitle() {
  if (!m_graph || !m_view->scene() || m_view->scene()->shown != m_graph) return;
  m_title->setText(tr("%1: %2").arg(m_name, plural(qint64(m_graph->nodes.size()), "node")));
  m_title->setToolTip(m_title->text());
}

QString CandidateView::title() const { return m_title->text(); }

void CandidateView::setGraph(GraphDocPtr graph, const QString& title) {
  m_name = title;
  if (graph == m_graph) return showTitle();
  m_graph = std::move(graph);
  if (m_graph) {
    SceneOptions options;
    options.view = m_view->size();
    // Nodes keep their places from step to step, but a few of many would lie far apart.
    const auto& before = m_view->scene();
    const bool alike = before && before->shown && 2 * m_graph->nodes.size() > before->shown->nodes.size();
    return m_layouts.layOut(m_graph, options, alike ? before : nullptr);
  }
  m_layouts.cancel();
  m_view->setScene(nullptr);
  m_title->setText(m_hint);
}

void CandidateView::setMarks(const QSet<QString>& own, const QSet<QString>& otherwise) {
  m_own = own;
  m_otherwise = otherwise;
  showMarks();
}

void CandidateView::showMarks() {
  if (!m_graph || !m_view->scene() || m_view->scene()->shown != m_graph) return;
  const auto places = [this](const QSet<QString>& names) {
    QSet<int> found;
    for (const auto& name : names)
      if (const int node = m_graph->find(name.toStdString()); node >= 0) found.insert(node);
    return found;
  };
  m_view->setChanges(places(m_own), places(m_otherwise));
}

}  // namespace kerf::ui::inline panels
