#include "ui/panels/kernels_panel.h"

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
    return m_code->setCode(text(m_tabs->currentIndex() == 0 ? kernel.loopIr : kernel.code));
  }
  m_code->setHint(compiled && !compiled->error.empty() ? tr("Not compiled: %1").arg(text(compiled->error))
                                                       : tr("Kernels appear here when a graph has been compiled."));
  m_code->setCode(QStringList());
}

}  // namespace kerf::ui::inline panels
