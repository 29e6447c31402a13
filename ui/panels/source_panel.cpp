#include "ui/panels/source_panel.h"

namespace kerf::ui::inline panels {

SourcePanel::SourcePanel(Session& session, QWidget* parent) : CodeView(parent), m_session(session) {
  setObjectName("source");
  setAccessibleName(tr("Source"));
  setHint(tr("The graph's Python code appears here."));
  connect(this, &CodeView::linePicked, this, &SourcePanel::pick);
  connect(&session, &Session::graphChanged, this, [this] {
    m_shown = m_session.graph();
    using Lines = std::shared_ptr<const std::vector<std::string>>;
    setCode(CodeLines(m_shown ? Lines(m_shown, &m_shown->code) : nullptr));
  });
  connect(&session, &Session::nodeChanged, this,
          [this] { setCurrentLine(m_session.nodeDoc() ? m_session.nodeDoc()->codeLine : -1); });
}

void SourcePanel::pick(int line) {
  if (!m_shown || m_shown != m_session.graph()) return;
  for (std::size_t i = 0; i < m_shown->nodes.size(); ++i)
    if (m_shown->nodes[i].codeLine == line && m_shown->nodes[i].kind != NodeKind::Input)
      return m_session.selectNode(int(i));
}

}  // namespace kerf::ui::inline panels
