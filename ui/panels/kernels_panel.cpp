#include "ui/panels/kernels_panel.h"

#include <algorithm>

#include <QLabel>
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
      m_code(new CodeView),
      m_lowered(new CodeView) {
  m_table->setObjectName("kernels");
  m_table->setStretchColumn(0);
  m_table->setHint(tr("No kernels yet."));
  m_code->setAccessibleName(tr("Loop IR"));
  m_lowered->setAccessibleName(tr("LLVM IR or assembly"));
  m_tabs->addTab(tr("LLVM IR"));
  m_tabs->addTab(tr("Assembly"));
  m_tabs->setObjectName("inner");
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  auto* loops = new QLabel(tr("Loop IR"));
  const auto sayRun = [this, &session, loops] {
    const auto plant = session.plant();
    loops->setText(plant.isEmpty() ? tr("Loop IR") : tr("Loop IR  ·  planted: %1").arg(plant));
    const bool cuda = session.backend() == "cuda";
    m_tabs->setTabText(0, cuda ? tr("CUDA C++") : tr("LLVM IR"));
    m_tabs->setTabText(1, cuda ? tr("PTX") : tr("Assembly"));
  };
  for (const auto signal : {&Session::plantChanged, &Session::locationChanged, &Session::backendChanged})
    connect(&session, signal, loops, sayRun);
  loops->setObjectName("tableTitle");
  const auto stacked = [](QWidget* above, QWidget* below) {
    auto* pane = new QWidget;
    auto* column = new QVBoxLayout(pane);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(above);
    column->addWidget(below, 1);
    return pane;
  };
  auto* splitter = new QSplitter(Qt::Horizontal);
  splitter->addWidget(m_table);
  splitter->addWidget(stacked(loops, m_code));
  splitter->addWidget(stacked(m_tabs, m_lowered));
  splitter->setChildrenCollapsible(false);
  splitter->setSizes({360, 320, 380});
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(splitter);
  connect(m_tabs, &QTabBar::currentChanged, this, &KernelsPanel::showLowered);
  for (const auto signal : {&Session::compiledChanged, &Session::plantChanged, &Session::backendChanged})
    connect(&session, signal, this, &KernelsPanel::showKernels);
  connect(&session, &Session::nodeChanged, this, &KernelsPanel::showNode);
  connect(m_code, &CodeView::linePicked, this, &KernelsPanel::pickLine);
  connect(m_lowered, &CodeView::linePicked, this, &KernelsPanel::pickLowered);
  connect(m_table, &DataTable::picked, this, [this](int row) {
    showCode();
    emit kernelPicked(texts(m_model->row(row).nodes));
  });
  showKernels();
}

/// Those of what is run; with a planted fault they are made when somebody looks at them.
void KernelsPanel::showKernels() {
  if (isVisible()) m_session.compilePlanted();
  const auto compiled = m_session.compiledAsRun();
  m_model->setRows(compiled ? compiled->kernels : std::vector<KernelDoc>());
  m_table->fitColumns();
  if (m_model->rowCount() > 0) {
    int first = 0;
    while (first + 1 < m_model->rowCount() && m_model->row(first).kind != "fused") ++first;
    m_table->selectSourceRow(m_model->row(first).kind == "fused" ? first : 0);
  }
  showCode();
}

void KernelsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_session.plant().isEmpty() && m_session.backend() == workbench::BackendsRequest::usual) return;
  showKernels();
  showNode();
}

void KernelsPanel::showCode() {
  const auto compiled = m_session.compiledAsRun();
  const int row = m_table->currentSourceRow();
  if (row >= 0) {
    const auto& kernel = m_model->row(row);
    m_code->setHint(
        tr("%1 runs as a library call (%2): there is no generated code.").arg(text(kernel.name), text(kernel.reason)));
    m_lowered->setHint(tr("No generated code"));
    m_code->setCode(text(kernel.loopIr));
    return showLowered();
  }
  m_code->setHint(compiled && !compiled->error.empty() ? tr("Not compiled: %1").arg(text(compiled->error))
                                                       : tr("Kernels appear here when a graph has been compiled."));
  m_lowered->setHint(QString());
  m_code->setCode(QStringList());
  m_lowered->setCode(QStringList());
}

void KernelsPanel::showLowered() {
  const int row = m_table->currentSourceRow();
  if (row < 0) return;
  const auto& kernel = m_model->row(row);
  m_lowered->setCode(text(m_tabs->currentIndex() == 0 ? kernel.code : kernel.assembly));
  markNode();
}

/// By line of what is shown beside: the line of the loop IR, from 1.
const std::vector<int>& KernelsPanel::loopLines() const {
  static const std::vector<int> none;
  const int row = m_table->currentSourceRow();
  if (row < 0) return none;
  const auto& kernel = m_model->row(row);
  return m_tabs->currentIndex() == 0 ? kernel.codeLines : kernel.assemblyLines;
}

/// What became of these lines of the loop IR, counted from 0.
void KernelsPanel::markLowered(const QSet<int>& loopLines, bool bringIntoView) {
  QSet<int> marked;
  const auto& origins = this->loopLines();
  for (std::size_t i = 0; i < origins.size(); ++i)
    if (loopLines.contains(origins[i] - 1)) marked.insert(int(i));
  m_lowered->setMarkedLines(marked);
  if (bringIntoView) m_lowered->setCurrentLine(marked.isEmpty() ? -1 : *std::min_element(marked.begin(), marked.end()));
}

/// The kernel that computes the selected node, and its lines.
void KernelsPanel::showNode() {
  const auto* node = m_session.nodeDoc();
  if (node == nullptr) {
    m_code->setMarkedLines({});
    return m_lowered->setMarkedLines({});
  }
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
  if (m_picking) return;
  QSet<int> marked;
  const auto* node = m_session.nodeDoc();
  for (int line = 0; node != nullptr && line < m_code->lineCount(); ++line)
    if (nodesOn(m_code->line(line)).contains(QString::fromStdString(node->name))) marked.insert(line);
  m_code->setMarkedLines(marked);
  m_code->setCurrentLine(marked.isEmpty() ? -1 : *std::min_element(marked.begin(), marked.end()));
  markLowered(marked, true);
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
void KernelsPanel::selectNodesOf(const QSet<int>& loopLines) {
  const int row = m_table->currentSourceRow();
  QStringList nodes;
  for (int line = 0; line < m_code->lineCount(); ++line)
    if (loopLines.contains(line)) nodes << nodesOn(m_code->line(line));
  m_picking = true;
  if (!nodes.isEmpty())
    m_session.selectNode(nodes.front());
  else if (row >= 0)
    emit kernelPicked(texts(m_model->row(row).nodes));
  m_picking = false;
}

void KernelsPanel::pickLine(int line) {
  selectNodesOf({line});
  m_code->setMarkedLines({});
  m_code->setCurrentLine(line);
  markLowered({line}, true);
}

/// A line of LLVM IR or assembly: the line of the loop IR that it comes from, and all that became of that.
void KernelsPanel::pickLowered(int line) {
  const auto& origins = loopLines();
  const int from = std::size_t(line) < origins.size() ? origins[std::size_t(line)] - 1 : -1;
  selectNodesOf({from});
  m_code->setMarkedLines({});
  m_code->setCurrentLine(from);
  markLowered({from}, false);
  m_lowered->setCurrentLine(line);
}

}  // namespace kerf::ui::inline panels
