#include "ui/panels/output_code_panel.h"

#include <algorithm>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include "ui/models/format.h"

namespace kerf::ui::inline panels {
namespace {

using workbench::CodeSpan;

QString titleOf(const workbench::RecordedProgram& program) {
  const auto name = text(program.name.substr(program.name.rfind('/') + 1));
  return program.part.empty() ? name : text(program.part) + "  ·  " + name;
}

/// The most that are named; the rest is counted.
QString namesText(const std::vector<std::string>& nodes) {
  constexpr qsizetype most = 6;
  auto names = texts(nodes);
  if (names.size() <= most) return names.join(", ");
  return QStringList(names.first(most)).join(", ") + OutputCodePanel::tr(" and %1 more").arg(names.size() - most);
}

}  // namespace

OutputCodePanel::OutputCodePanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_programs(new QComboBox),
      m_status(new QLabel),
      m_hint(new QLabel),
      m_model(makeCodeSpanModel().release()),
      m_table(new DataTable(m_model)),
      m_code(new CodeView),
      m_content(new QSplitter(Qt::Horizontal)) {
  m_programs->setObjectName("programs");
  m_programs->setAccessibleName(tr("Program"));
  m_programs->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  m_status->setObjectName("status");
  m_status->setMinimumWidth(1);
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_table->setObjectName("calls");
  m_table->setAccessibleName(tr("Calls of the output code"));
  m_table->setStretchColumn(1);
  m_table->setHint(tr("This program calls no kernels."));
  m_code->setObjectName("outputCode");
  m_code->setAccessibleName(tr("Output code"));
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 6, 12, 6);
  bar->setSpacing(10);
  bar->addWidget(m_programs);
  bar->addWidget(m_status, 1);
  m_content->addWidget(m_table);
  m_content->addWidget(m_code);
  m_content->setChildrenCollapsible(false);
  m_content->setSizes({420, 580});
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  column->addWidget(m_hint, 1);
  column->addWidget(m_content, 1);
  connect(m_programs, &QComboBox::activated, this, [this](int program) {
    showProgram(program);
    showNode();
  });
  connect(m_code, &CodeView::linePicked, this, &OutputCodePanel::pickLine);
  connect(m_table, &DataTable::picked, this, &OutputCodePanel::pickCall);
  for (const auto signal : {&Session::graphChanged, &Session::locationChanged, &Session::recordedCodeChanged})
    connect(&session, signal, this, &OutputCodePanel::showPrograms);
  connect(&session, &Session::nodeChanged, this, &OutputCodePanel::showNode);
  showPrograms();
}

QString OutputCodePanel::status() const { return m_status->text(); }

/// The code of a graph is read when somebody looks at it.
void OutputCodePanel::ask() {
  if (isVisible() && m_session.graph()) m_session.findRecordedCode();
}

void OutputCodePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  ask();
}

const workbench::RecordedProgram* OutputCodePanel::program() const {
  const auto at = std::size_t(m_program);
  return m_shown && m_program >= 0 && at < m_shown->programs.size() ? &m_shown->programs[at] : nullptr;
}

void OutputCodePanel::showPrograms() {
  const auto known = m_session.graph() ? m_session.recordedCode() : nullptr;
  if (!known) ask();
  const bool any = known && !known->programs.empty();
  m_content->setVisible(any);
  m_programs->setVisible(any);
  m_hint->setVisible(!any);
  if (known && !known->error.isEmpty())
    m_hint->setText(known->error);
  else
    m_hint->setText(
        tr("The output code that PyTorch recorded for the shown graph appears here.\n"
           "TORCH_TRACE logs and TORCH_COMPILE_DEBUG folders have it."));
  if (!any) m_status->clear();
  if (known == m_shown) return;
  m_shown = known;
  m_programs->clear();
  m_spansOf.clear();
  for (const auto& each : known ? known->programs : std::vector<workbench::RecordedProgram>()) {
    m_programs->addItem(titleOf(each));
    auto& spans = m_spansOf.emplace_back();
    for (std::size_t i = 0; i < each.spans.size(); ++i)
      for (const auto& node : each.spans[i].nodes) spans[node].push_back(int(i));
  }
  m_program = -1;
  showProgram(any ? 0 : -1);
  if (m_wanted >= 0 && known) showRecord(m_wanted);
  showNode();
}

void OutputCodePanel::showProgram(int program) {
  if (program == m_program && program >= 0) return;
  m_program = program;
  m_pickedSpan = -1;
  const auto* shown = this->program();
  m_programs->setCurrentIndex(program);
  std::vector<CodeSpan> calls;
  if (shown)
    std::ranges::copy_if(shown->spans, std::back_inserter(calls),
                         [](const CodeSpan& span) { return span.kind == CodeSpan::Kind::Call; });
  m_model->setRows(std::move(calls));
  m_table->fitColumns();
  m_code->setCode(shown ? text(shown->text) : QString());
  if (!shown) return;
  m_status->setText(shown->note.empty()
                        ? tr("%1, %2").arg(plural(m_code->lineCount(), "line"), plural(m_model->rowCount(), "call"))
                        : text(shown->note));
  m_status->setToolTip(text(shown->note));
}

void OutputCodePanel::showRecord(int record) {
  m_wanted = record;
  if (!m_shown) return ask();
  m_wanted = -1;
  for (std::size_t i = 0; i < m_shown->programs.size(); ++i)
    if (m_shown->programs[i].record == record) return showProgram(int(i));
  emit recordMissing();
}

int OutputCodePanel::programWith(const std::string& node) const {
  for (std::size_t i = 0; i < m_spansOf.size(); ++i)
    if (m_spansOf[i].contains(node)) return int(i);
  return -1;
}

/// The selected node's lines, in whichever program has them.
void OutputCodePanel::showNode() {
  const auto* node = m_session.nodeDoc();
  if (!m_shown || m_program < 0) return;
  if (node == nullptr) return m_code->setMarkedLines({});
  if (!m_picking && !m_spansOf[std::size_t(m_program)].contains(node->name))
    if (const int other = programWith(node->name); other >= 0) showProgram(other);
  mark(node->name);
}

void OutputCodePanel::mark(const std::string& node) {
  const auto& spansOf = m_spansOf[std::size_t(m_program)];
  const auto found = spansOf.find(node);
  QSet<int> marked;
  int access = -1, call = -1, definition = -1;
  const auto& spans = program()->spans;
  for (const int at : found == spansOf.end() ? std::vector<int>() : found->second) {
    const auto& span = spans[std::size_t(at)];
    for (int line = span.first; line <= span.last; ++line) marked.insert(line);
    int& first = span.kind == CodeSpan::Kind::Access ? access : span.kind == CodeSpan::Kind::Call ? call : definition;
    if (first < 0) first = span.kind == CodeSpan::Kind::Call ? span.last : span.first;
  }
  m_code->setMarkedLines(marked);
  if (m_picking) return;
  m_code->setCurrentLine(definition >= 0 ? definition : call >= 0 ? call : access);
  if (marked.isEmpty())
    m_status->setText(tr("%1 has no lines of its own: it is a view, or became part of other nodes").arg(text(node)));
  else
    say(spans[std::size_t(found->second.front())], m_code->currentLine());
  const auto& rows = m_model->rows();
  const auto row = std::ranges::find_if(
      rows, [&](const CodeSpan& each) { return std::ranges::find(each.nodes, node) != each.nodes.end(); });
  m_table->selectSourceRow(row == rows.end() ? -1 : int(row - rows.begin()));
}

/// The innermost span that has the line; -1: none.
int OutputCodePanel::spanAt(int line) const {
  int found = -1;
  const auto& spans = program()->spans;
  for (std::size_t i = 0; i < spans.size() && spans[i].first <= line; ++i)
    if (line <= spans[i].last) found = int(i);
  return found;
}

void OutputCodePanel::say(const CodeSpan& span, int line) {
  const auto what = span.kind == CodeSpan::Kind::Access ? tr("touches") : tr("computes");
  m_status->setText(span.nodes.empty()
                        ? tr("Line %1: %2, of which no node is known").arg(line + 1).arg(text(span.kernel))
                        : tr("Line %1: %2 %3 %4").arg(line + 1).arg(text(span.kernel), what, namesText(span.nodes)));
  m_status->setToolTip(texts(span.nodes).join(", "));
}

/// All nodes of the line are marked; one alone is selected, and of several the next one with each further click.
void OutputCodePanel::pickLine(int line) {
  if (!program()) return;
  const int at = spanAt(line);
  m_code->setCurrentLine(line);
  if (at < 0) {
    m_pickedSpan = -1;
    return m_status->setText(tr("Line %1 belongs to no kernel").arg(line + 1));
  }
  const auto& span = program()->spans[std::size_t(at)];
  say(span, line);
  const bool again = std::exchange(m_pickedSpan, at) == at;
  m_pickedNode = again ? m_pickedNode + 1 : span.nodes.size() == 1 ? 0 : -1;
  m_picking = true;
  if (!span.nodes.empty()) emit nodesPicked(texts(span.nodes));
  if (m_pickedNode >= 0 && !span.nodes.empty())
    m_session.selectNode(QString::fromStdString(span.nodes[std::size_t(m_pickedNode) % span.nodes.size()]));
  m_picking = false;
}

void OutputCodePanel::pickCall(int row) {
  const auto call = m_model->row(row);
  m_picking = true;
  m_code->setCurrentLine(call.last);
  say(call, call.last);
  emit nodesPicked(texts(call.nodes));
  if (!call.nodes.empty()) m_session.selectNode(QString::fromStdString(call.nodes.front()));
  m_picking = false;
}

}  // namespace kerf::ui::inline panels
