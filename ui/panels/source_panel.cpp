#include "ui/panels/source_panel.h"

#include <algorithm>

namespace kerf::ui::inline panels {
namespace {

bool isPlainCharacter(char c) { return c >= 0x20 && c < 0x7f; }

/// A graph has 50,000 lines, nearly all of them plain: nothing in those need be spelled out.
QString lineText(const std::string& line) {
  return std::ranges::all_of(line, isPlainCharacter) ? QString::fromLatin1(line.data(), qsizetype(line.size()))
                                                     : text(line);
}

QStringList codeTexts(const std::vector<std::string>& code) {
  QStringList lines;
  lines.reserve(qsizetype(code.size()));
  for (const auto& line : code) lines.append(lineText(line));
  return lines;
}

}  // namespace

SourcePanel::SourcePanel(Session& session, QWidget* parent) : CodeView(parent), m_session(session) {
  setObjectName("source");
  setAccessibleName(tr("Source"));
  setHint(tr("The graph's Python code appears here."));
  connect(this, &CodeView::linePicked, this, &SourcePanel::pick);
  connect(&session, &Session::graphChanged, this, [this] {
    m_shown = m_session.graph();
    setCode(m_shown ? codeTexts(m_shown->code) : QStringList());
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
