#include "ui/panels/kernels_panel.h"

#include <algorithm>

#include <QRegularExpression>
#include <QSplitter>
#include <QTabBar>
#include <QVBoxLayout>

namespace kerf::ui::inline panels {

KernelsPanel::KernelsPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makeKernelModel().release()),
      m_table(new DataTable(m_model)),
      m_tabs(new QTabBar),
      m_code(new CodeView) {
  m_table->setObjectName("kernels");
  m_table->setStretchColumn(0);
  m_table->setHint(tr("No kernels yet."));
  m_tabs->addTab(tr("Loop IR"));
  m_tabs->addTab(tr("LLVM IR"));
  m_tabs->setObjectName("inner");
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  auto* right = new QWidget;
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_tabs);
  column->addWidget(m_code, 1);
  auto* splitter = new QSplitter(Qt::Horizontal);
  splitter->addWidget(m_table);
  splitter->addWidget(right);
  splitter->setChildrenCollapsible(false);
  splitter->setSizes({460, 540});
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(splitter);
  connect(m_tabs, &QTabBar::currentChanged, this, &KernelsPanel::showCode);
  connect(&session, &Session::compiledChanged, this, &KernelsPanel::showKernels);
  connect(&session, &Session::nodeChanged, this, &KernelsPanel::showNode);
  connect(m_code, &CodeView::linePicked, this, &KernelsPanel::pickLine);
  connect(m_table, &DataTable::picked, this, [this](int row) {
    showCode();
    emit kernelPicked(texts(m_model->row(row).nodes));
  });
  showKernels();
}

void KernelsPanel::showKernels() {
  const auto compiled = m_session.compiled();
  m_model->setRows(compiled ? compiled->kernels : std::vector<KernelDoc>());
  m_table->fitColumns();
  if (m_model->rowCount() > 0) {
    int first = 0;
    while (first + 1 < m_model->rowCount() && m_model->row(first).kind != "fused") ++first;
    m_table->selectSourceRow(m_model->row(first).kind == "fused" ? first : 0);
  }
  showCode();
}

void KernelsPanel::showCode() {
  const auto compiled = m_session.compiled();
  const int row = m_table->currentSourceRow();
  if (row >= 0) {
    const auto& kernel = m_model->row(row);
    m_code->setHint(
        tr("%1 runs as a library call (%2): there is no generated code.").arg(text(kernel.name), text(kernel.reason)));
    m_code->setCode(text(m_tabs->currentIndex() == 0 ? kernel.loopIr : kernel.code));
    return markNode();
  }
  m_code->setHint(compiled && !compiled->error.empty() ? tr("Not compiled: %1").arg(text(compiled->error))
                                                       : tr("Kernels appear here when a graph has been compiled."));
  m_code->setCode(QStringList());
}

/// The kernel that computes the selected node, and its lines.
void KernelsPanel::showNode() {
  const auto* node = m_session.nodeDoc();
  if (node == nullptr) return m_code->setMarkedLines({});
  const auto computes = [&](const KernelDoc& kernel) {
    return std::ranges::find(kernel.nodes, node->name) != kernel.nodes.end() ||
           std::ranges::find(kernel.capturedNodes, node->name) != kernel.capturedNodes.end();
  };
  for (int row = 0; !m_picking && row < m_model->rowCount(); ++row)
    if (computes(m_model->row(row))) {
      if (m_table->currentSourceRow() == row) break;
      m_table->selectSourceRow(row);
      return showCode();
    }
  markNode();
}

/// Marks the lines that name the selected node's value. One that only lives in registers has none.
void KernelsPanel::markNode() {
  QSet<int> marked;
  const auto* node = m_session.nodeDoc();
  const auto lines = m_code->code().split('\n');
  for (int line = 0; node != nullptr && line < int(lines.size()); ++line)
    if (nodesOn(lines[line]).contains(text(node->name))) marked.insert(line);
  m_code->setMarkedLines(marked);
  m_code->setCurrentLine(marked.isEmpty() ? -1 : *std::min_element(marked.begin(), marked.end()));
}

/// Nodes of the shown graph whose values a line of code reads or writes.
QStringList KernelsPanel::nodesOn(const QString& line) const {
  static const QRegularExpression value(R"(\b(?:load|store|buffer) ([A-Za-z_]\w*))");
  QStringList nodes;
  const auto graph = m_session.graph();
  for (auto match = value.globalMatch(line); graph && match.hasNext();)
    if (const auto name = match.next().captured(1); graph->find(name.toStdString()) >= 0) nodes << name;
  return nodes;
}

/// Selects the node of a line; a line between them means the whole kernel.
void KernelsPanel::pickLine(int line) {
  const auto nodes = nodesOn(m_code->code().split('\n').value(line));
  const int row = m_table->currentSourceRow();
  m_picking = true;
  if (!nodes.isEmpty())
    m_session.selectNode(nodes.front());
  else if (row >= 0)
    emit kernelPicked(texts(m_model->row(row).nodes));
  m_picking = false;
  m_code->setCurrentLine(line);
}

}  // namespace kerf::ui::inline panels
