#include "ui/panels/candidate_view.h"

#include <QLabel>
#include <QVBoxLayout>

#include "ui/models/format.h"

namespace kerf::ui::inline panels {

CandidateView::CandidateView(Session& session, QWidget* parent)
    : QWidget(parent), m_layouts(session.jobs(), "candidateLayout"), m_title(new QLabel), m_view(new GraphWidget) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_title->setObjectName("tableTitle");
  column->addWidget(m_title);
  column->addWidget(m_view, 1);
  m_view->setObjectName("candidate");
  m_view->setAccessibleName(tr("Smallest graph that fails"));
  m_view->setMinimumSize(160, 90);
  connect(m_view, &GraphWidget::nodePicked, m_view, [this](int node) { m_view->select(node, false); });
  connect(&m_layouts, &LayoutService::ready, this, [this](const ScenePtr& scene) {
    if (scene->shown != m_graph) return;
    m_view->setScene(scene);
    m_title->setText(tr("Fails still: %1").arg(plural(qint64(m_graph->nodes.size()), "node")));
  });
}

void CandidateView::setGraph(GraphDocPtr graph) {
  if (graph == m_graph) return;
  m_graph = std::move(graph);
  if (m_graph) {
    SceneOptions options;
    options.view = m_view->size();
    return m_layouts.layOut(m_graph, options, m_view->scene());
  }
  m_layouts.cancel();
  m_view->setScene(nullptr);
  m_title->setText(tr("The smallest graph that fails appears here"));
}

}  // namespace kerf::ui::inline panels
