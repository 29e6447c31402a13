#include "ui/panels/path_panel.h"

#include <algorithm>

#include <QEvent>
#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include "ui/models/format.h"

namespace kerf::ui::inline panels {
namespace {

enum PathPlace : int { python, nodes, code, kernel };
constexpr qint64 largestSource = 4 << 20;

QString readText(const QString& path) {
  QFile file(path);
  // What says that it is empty may be without end: files of the kernel.
  if (!QFileInfo(path).isFile() || file.size() == 0 || file.size() > largestSource) return {};
  if (!file.open(QIODevice::ReadOnly)) return {};
  return QString::fromUtf8(file.readAll());
}

}  // namespace

PathPanel::PathPanel(Session& session, QWidget* parent)
    : QWidget(parent), m_session(session), m_missing(new QLabel), m_editor(new QPushButton(tr("Open in editor"))) {
  static constexpr const char* names[] = {"pathPython", "pathNodes", "pathCode", "pathKernel"};
  static constexpr const char* spoken[] = {"Python lines", "FX nodes", "Output code", "Kernel"};
  m_missing->setObjectName("status");
  m_missing->setMinimumWidth(1);
  m_editor->setObjectName("openInEditor");
  m_editor->setToolTip(tr("Open the Python line in your editor: $KERF_EDITOR, such as code -g {file}:{line}"));
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 6, 12, 6);
  bar->addWidget(m_missing, 1);
  bar->addWidget(m_editor);
  auto* splitter = new QSplitter(Qt::Horizontal);
  for (int i = 0; i < columns; ++i) {
    auto* pane = new QWidget;
    auto* column = new QVBoxLayout(pane);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_titles[std::size_t(i)] = new QLabel;
    m_titles[std::size_t(i)]->setObjectName("tableTitle");
    m_titles[std::size_t(i)]->setMinimumWidth(1);
    m_views[std::size_t(i)] = new CodeView;
    m_views[std::size_t(i)]->setObjectName(names[i]);
    m_views[std::size_t(i)]->setAccessibleName(tr(spoken[i]));
    column->addWidget(m_titles[std::size_t(i)]);
    column->addWidget(m_views[std::size_t(i)], 1);
    splitter->addWidget(pane);
    connect(m_views[std::size_t(i)], &CodeView::linePicked, this, [this, i](int line) { pick(i, line); });
  }
  splitter->setChildrenCollapsible(false);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->setSpacing(0);
  whole->addLayout(bar);
  whole->addWidget(splitter, 1);
  connect(m_editor, &QPushButton::clicked, this, &PathPanel::openEditor);
  for (const auto signal : {&Session::graphChanged, &Session::recordedCodeChanged})
    connect(&session, signal, this, &PathPanel::showGraph);
  for (const auto signal : {&Session::nodeChanged, &Session::compiledChanged})
    connect(&session, signal, this, &PathPanel::showNode);
  showGraph();
}

QString PathPanel::title(int at) const { return m_titles[std::size_t(at)]->text(); }

QString PathPanel::missing() const { return m_missing->text(); }

void PathPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showGraph();
}

void PathPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && isVisible()) {
    m_graph = nullptr;
    showGraph();
  }
}

void PathPanel::ask() {
  m_session.findRecordedCode();
  m_session.compilePlanted();
}

/// Away from the window's thread: the file may lie anywhere.
void PathPanel::readSource() {
  const auto file = m_graph ? sourceFileOf(*m_graph) : std::string();
  if (file == m_file) return;
  m_file = file;
  m_source.clear();
  if (file.empty()) return;
  m_session.jobs().submit<QString>(
      "source", [path = text(file)](std::stop_token) { return readText(path); },
      [this, file](const QString& source) {
        if (file != m_file || source.isEmpty()) return;
        m_source = source;
        if (m_graph) show(python, pythonColumn(*m_graph, m_file, m_source));
        mark();
      },
      JobQueue::Weight::Quiet);
}

/// Columns are made when somebody looks at them.
void PathPanel::showGraph() {
  if (!isVisible()) return;
  const auto graph = m_session.graph();
  const auto recorded = graph ? m_session.recordedCode() : nullptr;
  if (graph) ask();
  if (graph == m_graph && recorded == m_code) return showNode();
  m_graph = graph;
  m_code = recorded;
  m_program = nullptr;
  readSource();
  const auto hint = tr("Open a graph to follow its Python lines to kernels.");
  show(python, graph ? pythonColumn(*graph, m_file, m_source) : PathColumn{tr("Python"), {}, {}, hint});
  show(nodes, graph ? nodeColumn(*graph) : PathColumn{tr("FX nodes"), {}, {}, hint});
  // Nothing of the graph before stays: its lines stand for nodes that this one may not have.
  show(code, {tr("Output code"), {}, {}, graph ? QString() : hint});
  show(kernel, {tr("Kernel"), {}, {}, graph ? QString() : hint});
  showNode();
}

/// The program that computes a node; the first where none does.
const workbench::RecordedProgram* PathPanel::programOf(int node) const {
  if (!m_code || m_code->programs.empty()) return nullptr;
  for (const auto& program : m_code->programs)
    for (const auto& span : program.spans)
      if (node >= 0 && std::ranges::find(span.nodes, m_graph->nodes[std::size_t(node)].name) != span.nodes.end())
        return &program;
  return m_program ? m_program : &m_code->programs.front();
}

void PathPanel::showNode() {
  if (!isVisible() || !m_graph || m_graph != m_session.graph()) return;
  const int node = m_session.node();
  if (const auto* program = programOf(node)) {
    if (program != m_program) show(code, codeColumn(*m_graph, *program));
    m_program = program;
    auto column = kernelColumn(*m_graph, *program, node);
    // A line of the kernel was clicked whose value another kernel defines: what is clicked stays.
    if (!m_picking || !column.lines.isEmpty()) show(kernel, std::move(column));
  } else if (const auto compiled = m_session.compiledAsRun()) {
    auto own = ownKernel(*m_graph, *compiled, node);
    if (!m_picking || !own.loops.lines.isEmpty()) {
      show(code, std::move(own.loops));
      show(kernel, std::move(own.code));
    }
  }
  showMissing();
  mark();
}

/// Of a log without output code: what PyTorch did instead of writing it.
void PathPanel::showMissing() {
  const auto capture = m_session.capture(m_session.location().capture);
  QString said;
  const auto place = std::size_t(m_session.location().graph);
  if (!m_program && capture && place < capture->graphs.size()) {
    const auto& id = capture->graphs[place].compileId;
    const auto entry = std::ranges::find(capture->compiles, id, &CompileEntryDoc::id);
    const bool hit = !id.empty() && entry != capture->compiles.end() && entry->status == "cache hit";
    said = hit ? tr("PyTorch took %1 from its cache and wrote no output code: record again with "
                    "TORCHINDUCTOR_FORCE_DISABLE_CACHES=1. Kerf's own kernels are shown.")
                     .arg(text(id))
           : id.empty() ? tr("This capture has no output code of PyTorch's; Kerf's own kernels are shown.")
                        : tr("The log has no output code of %1 (its compilation ended before, or the log was cut); "
                             "Kerf's own kernels are shown.")
                              .arg(text(id));
  } else if (m_program && !m_program->note.empty()) {
    said = text(m_program->note);
  }
  m_missing->setText(said);
  m_missing->setToolTip(said);
}

void PathPanel::show(int at, PathColumn column) {
  auto& view = *m_views[std::size_t(at)];
  m_titles[std::size_t(at)]->setText(column.title);
  m_titles[std::size_t(at)]->setToolTip(column.title);
  view.setHint(column.missing);
  if (view.code() != column.lines.join('\n')) view.setCode(column.lines);
  QHash<int, QColor> colors;
  for (std::size_t line = 0; line < column.nodes.size(); ++line)
    if (!column.nodes[line].empty()) colors[int(line)] = pathColor(*m_graph, column.nodes[line].back());
  view.setLineColors(colors);
  m_columns[std::size_t(at)] = std::move(column);
}

/// The lines of the selected node in every column.
void PathPanel::mark() {
  const int node = m_session.node();
  for (int i = 0; i < columns; ++i) {
    const auto& column = m_columns[std::size_t(i)];
    QSet<int> marked;
    for (std::size_t line = 0; node >= 0 && line < column.nodes.size(); ++line)
      if (std::ranges::find(column.nodes[line], node) != column.nodes[line].end()) marked.insert(int(line));
    m_views[std::size_t(i)]->setMarkedLines(marked);
    if (!m_picking || !marked.contains(m_views[std::size_t(i)]->currentLine()))
      m_views[std::size_t(i)]->setCurrentLine(node < 0 ? -1 : column.lineOf(node));
  }
  m_editor->setEnabled(m_session.nodeDoc() && m_session.nodeDoc()->line > 0);
}

/// Of several nodes on a line, further clicks go from one to the next.
void PathPanel::pick(int at, int line) {
  const auto& lines = m_columns[std::size_t(at)].nodes;
  m_views[std::size_t(at)]->setCurrentLine(line);
  if (!m_graph || line < 0 || line >= int(lines.size()) || lines[std::size_t(line)].empty()) return;
  const auto found = lines[std::size_t(line)];
  const auto now = std::ranges::find(found, m_session.node());
  const int next = now == found.end() || now + 1 == found.end() ? found.front() : *(now + 1);
  m_picking = true;
  QStringList names;
  for (const int node : found) names << text(m_graph->nodes[std::size_t(node)].name);
  emit nodesPicked(names);
  m_session.selectNode(next);
  m_picking = false;
}

void PathPanel::openEditor() {
  if (const auto* node = m_session.nodeDoc(); node && node->line > 0) emit editorAsked(text(node->file), node->line);
}

}  // namespace kerf::ui::inline panels
