#include "ui/panels/program_panel.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

QString totalsOf(const ProgramDocument& program) {
  const auto skips = std::ranges::count(program.breaks, true, &workbench::ProgramBreak::isSkip);
  QStringList parts{plural(qint64(program.frames.size()), "frame"), plural(qint64(program.graphs.size()), "graph"),
                    plural(qint64(program.breaks.size()) - skips, "graph break"),
                    plural(qint64(program.recompiles.size()), "recompile")};
  if (skips > 0) parts << ProgramPanel::tr("%1 not compiled").arg(plural(skips, "frame"));
  if (!program.exception.empty()) parts << ProgramPanel::tr("ended by %1").arg(text(program.exception));
  return parts.join("  ·  ");
}

DataTable* madeTable(QAbstractItemModel* model, const char* name, const QString& spoken, int stretch) {
  auto* table = new DataTable(model);
  table->setObjectName(name);
  table->setAccessibleName(spoken);
  table->setStretchColumn(stretch);
  table->setContextMenuPolicy(Qt::CustomContextMenu);
  return table;
}

QVBoxLayout* bareColumn(QWidget* page) {
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  return column;
}

}  // namespace

ProgramPanel::ProgramPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_title(new QLabel),
      m_totals(new QLabel),
      m_source(new ProgramSource(session)),
      m_frameModel(makeProgramFrameModel().release()),
      m_guardModel(makeProgramGuardModel().release()),
      m_graphModel(makeProgramGraphModel().release()),
      m_nodeModel(makeProgramNodeModel().release()),
      m_eventModel(makeProgramEventModel().release()),
      m_frames(madeTable(m_frameModel, "programFrames", tr("Frames"), 1)),
      m_guards(madeTable(m_guardModel, "programGuards", tr("Guards"), 2)),
      m_graphs(madeTable(m_graphModel, "programGraphs", tr("Graphs"), 0)),
      m_nodes(madeTable(m_nodeModel, "programNodes", tr("Nodes of the line"), 0)),
      m_events(madeTable(m_eventModel, "programEvents", tr("What happened"), 4)),
      m_original(new CodeView),
      m_modified(new CodeView),
      m_guardFilter(new QLineEdit),
      m_output(new QPlainTextEdit),
      m_tabs(new QTabWidget),
      m_content(new QSplitter(Qt::Horizontal)) {
  setObjectName("programPage");
  m_title->setObjectName("overviewTitle");
  m_totals->setObjectName("quiet");
  m_totals->setWordWrap(true);
  m_frames->setSpareColumns({7, 2, 6, 4, 8});
  m_events->setSpareColumns({2});
  m_output->setReadOnly(true);
  m_output->setFont(codeFont());
  m_output->setAccessibleName(tr("Output of the program"));
  m_output->setFrameShape(QFrame::NoFrame);
  m_tabs->setObjectName("programTabs");
  m_tabs->setAccessibleName(tr("Parts of the program"));
  m_tabs->setDocumentMode(true);
  m_tabs->addTab(m_events, tr("Events"));
  m_tabs->addTab(bytecodePage(), tr("Bytecode"));
  m_tabs->addTab(guardsPage(), tr("Guards"));
  m_tabs->addTab(m_graphs, tr("Graphs"));
  m_tabs->addTab(m_nodes, tr("Nodes"));
  m_tabs->addTab(m_output, tr("Output"));
  auto* right = new QSplitter(Qt::Vertical);
  right->addWidget(m_frames);
  right->addWidget(m_tabs);
  right->setChildrenCollapsible(false);
  right->setSizes({200, 420});
  m_content->addWidget(m_source);
  m_content->addWidget(right);
  m_content->setChildrenCollapsible(false);
  m_content->setStretchFactor(0, 1);
  m_content->setStretchFactor(1, 1);
  m_content->setSizes({450, 610});
  auto* head = new QVBoxLayout;
  head->setContentsMargins(14, 10, 14, 8);
  head->setSpacing(2);
  head->addWidget(m_title);
  head->addWidget(m_totals);
  auto* column = bareColumn(this);
  column->addLayout(head);
  column->addWidget(m_content, 1);
  connectTables();
  for (const auto signal : {&Session::programChanged, &Session::locationChanged, &Session::capturesChanged})
    connect(&session, signal, this, &ProgramPanel::showProgram);
  showProgram();
}

QWidget* ProgramPanel::bytecodePage() {
  auto* page = new QSplitter(Qt::Horizontal);
  const auto side = [page](const QString& title, CodeView* view) {
    auto* pane = new QWidget;
    auto* column = bareColumn(pane);
    auto* label = new QLabel(title);
    label->setObjectName("tableTitle");
    column->addWidget(label);
    column->addWidget(view, 1);
    page->addWidget(pane);
  };
  m_original->setAccessibleName(tr("Bytecode as it was written"));
  m_modified->setAccessibleName(tr("Bytecode as it runs"));
  side(tr("As it was written"), m_original);
  side(tr("As it runs"), m_modified);
  page->setChildrenCollapsible(false);
  return page;
}

QWidget* ProgramPanel::guardsPage() {
  auto* page = new QWidget;
  auto* column = bareColumn(page);
  m_guardFilter->setPlaceholderText(tr("Filter guards"));
  m_guardFilter->setAccessibleName(tr("Filter guards"));
  m_guardFilter->setClearButtonEnabled(true);
  column->addWidget(m_guardFilter);
  column->addWidget(m_guards, 1);
  return page;
}

void ProgramPanel::connectTables() {
  connect(m_source, &ProgramSource::lineChosen, this, &ProgramPanel::choose);
  connect(m_source, &ProgramSource::editorAsked, this, &ProgramPanel::editorAsked);
  connect(m_source, &ProgramSource::nodesAsked, this, [this](int line) {
    const auto rows = m_program ? programNodes(*m_program, line) : std::vector<ProgramNodeRow>();
    if (!rows.empty()) openGraph(rows.front().graph, rows.front().name);
  });
  connect(m_frames, &DataTable::picked, this, [this](int row) {
    showFrame();
    if (const auto line = m_frameModel->row(row)->line; line > 0) m_source->choose(int(line));
  });
  connect(m_events, &DataTable::picked, this, [this](int row) {
    const auto event = m_eventModel->row(row);
    if (event.line > 0) m_source->choose(event.line);
    if (event.frame < 0) return;
    m_frames->selectSourceRow(event.frame);
    showFrame();
  });
  connect(m_guards, &DataTable::picked, this, [this](int row) {
    const auto where = text(m_guardModel->row(row).where);
    const auto file = QString::fromStdString(m_program->path).section('/', -1) + ":";
    if (!where.startsWith(file)) return;
    if (const int line = where.mid(file.size()).section(' ', 0, 0).toInt(); line > 0) m_source->choose(line);
  });
  connect(m_nodes, &DataTable::clicked, this, [this] {
    const int row = m_nodes->currentSourceRow();
    if (row >= 0) openGraph(m_nodeModel->row(row).graph, m_nodeModel->row(row).name);
  });
  connect(m_nodes, &DataTable::activated, this, [this] {
    const int row = m_nodes->currentSourceRow();
    if (row >= 0) openGraph(m_nodeModel->row(row).graph, m_nodeModel->row(row).name);
  });
  connect(m_graphs, &DataTable::activated, this, [this] {
    const int row = m_graphs->currentSourceRow();
    if (row >= 0 && frame()) openGraph(frame()->graphs[std::size_t(row)], {});
  });
  connect(m_guardFilter, &QLineEdit::textChanged, this, &ProgramPanel::filterGuards);
  for (auto [from, lines] : {std::pair(m_original, &m_originalRows), std::pair(m_modified, &m_modifiedRows)})
    connect(from, &CodeView::linePicked, this, [this, lines](int row) {
      const int line = std::size_t(row) < lines->lines.size() ? lines->lines[std::size_t(row)] : 0;
      if (line <= 0) return;
      markBytecode(line);
      m_source->choose(line);
    });
  for (auto* table : {m_frames, m_guards, m_graphs, m_nodes, m_events})
    connect(table, &QWidget::customContextMenuRequested, this, [this, table](const QPoint& at) {
      QMenu menu(this);
      if (table == m_graphs || table == m_nodes)
        menu.addAction(tr("Open the graph"), this, [table] { emit table->activated(table->currentIndex()); })
            ->setEnabled(table->currentSourceRow() >= 0);
      const auto cell = table->currentIndex().data().toString();
      menu.addAction(tr("Copy cell"), this, [cell] { QApplication::clipboard()->setText(cell); })
          ->setEnabled(!cell.isEmpty());
      menu.addAction(tr("Copy table"), this, [table] { QApplication::clipboard()->setText(table->text()); });
      menu.exec(table->viewport()->mapToGlobal(at));
    });
}

QString ProgramPanel::totals() const { return m_totals->text(); }
QString ProgramPanel::output() const { return m_output->toPlainText(); }
void ProgramPanel::showTab(Tab tab) { m_tabs->setCurrentIndex(int(tab)); }
ProgramPanel::Tab ProgramPanel::tab() const { return Tab(m_tabs->currentIndex()); }

const workbench::ProgramFrame* ProgramPanel::frame() const {
  const int row = m_program ? m_frames->currentSourceRow() : -1;
  return row < 0 || row >= int(m_program->frames.size()) ? nullptr : &m_program->frames[std::size_t(row)];
}

void ProgramPanel::showProgram() {
  const int capture = m_session.shownProgram();
  const auto program = m_session.program(capture);
  if (program == m_program && program) return;
  m_program = program;
  const auto index = m_session.capture(capture);
  const auto path = program && !program->path.empty() ? program->path : index ? index->path : std::string();
  m_title->setText(captureTitle(text(path)));
  m_title->setToolTip(text(path));
  m_totals->setText(program ? totalsOf(*program) : QString());
  std::vector<ProgramFramePtr> frames;
  if (program)
    for (const auto& each : program->frames) frames.emplace_back(program, &each);
  m_frameModel->setRows(std::move(frames));
  m_eventModel->setRows(program ? programEvents(*program) : std::vector<ProgramEvent>());
  showNodes(0);
  m_output->setPlainText(program ? text(program->output) + text(program->errors) : QString());
  m_frames->setHint(!program                   ? QString()
                    : program->error.isEmpty() ? tr("No frame was compiled. The program must call "
                                                    "torch.compile, or name a function to compile "
                                                    "when you capture it.")
                                               : program->error);
  m_events->setHint(program ? tr("No graph break and no recompile: every frame was compiled once, as a whole.")
                            : QString());
  m_nodes->setHint(tr("Click a line of the source: its nodes appear here, and a click on one opens its graph."));
  for (auto* table : {m_frames, m_events}) table->fitColumns();
  if (!m_frames->currentIndex().isValid() && m_frameModel->rowCount() > 0) m_frames->selectSourceRow(0);
  showFrame();
  if (program && !m_wanted.isEmpty()) restore(std::exchange(m_wanted, {}));
}

void ProgramPanel::showFrame() {
  const auto* shown = frame();
  m_guardModel->setRows(shown ? shown->guards : std::vector<workbench::ProgramGuard>());
  std::vector<ReportedGraphPtr> graphs;
  for (const int graph : shown ? shown->graphs : std::vector<int>())
    graphs.emplace_back(m_program, &m_program->graphs[std::size_t(graph)]);
  m_graphModel->setRows(std::move(graphs));
  m_guards->setHint(shown ? tr("This frame has no guards.") : tr("Choose a frame: its guards appear here."));
  m_graphs->setHint(shown ? tr("This frame calls no graph: it only goes on in other frames.")
                          : tr("Choose a frame: its graphs appear here."));
  m_tabs->setTabText(int(Tab::Guards), tr("Guards (%1)").arg(formatCount(m_guardModel->rowCount())));
  m_tabs->setTabText(int(Tab::Graphs), tr("Graphs (%1)").arg(formatCount(m_graphModel->rowCount())));
  for (auto* table : {m_guards, m_graphs}) table->fitColumns();
  filterGuards();
  showBytecode();
}

void ProgramPanel::showBytecode() {
  const auto* shown = frame();
  m_originalRows = shown ? bytecodeRows(shown->original) : ProgramBytecode();
  m_modifiedRows = shown ? bytecodeRows(shown->modified) : ProgramBytecode();
  for (auto [view, rows] : {std::pair(m_original, &m_originalRows), std::pair(m_modified, &m_modifiedRows)}) {
    view->setHint(shown ? tr("This capture has no bytecode.") : tr("Choose a frame: its bytecode appears here."));
    view->setCode(rows->rows);
    view->setLabels(rows->labels);
  }
  markBytecode(m_source->chosenLine());
}

void ProgramPanel::markBytecode(int line) {
  for (auto [view, rows] : {std::pair(m_original, &m_originalRows), std::pair(m_modified, &m_modifiedRows)}) {
    QSet<int> marked;
    for (std::size_t i = 0; line > 0 && i < rows->lines.size(); ++i)
      if (rows->lines[i] == line) marked.insert(int(i));
    view->setMarkedLines(marked);
    view->setCurrentLine(marked.isEmpty() ? -1 : *std::min_element(marked.begin(), marked.end()));
  }
}

void ProgramPanel::filterGuards() {
  const auto words = m_guardFilter->text().simplified().split(' ', Qt::SkipEmptyParts);
  if (words.isEmpty()) return m_guards->filter().setKeep({});
  m_guards->filter().setKeep([this, words](int row) {
    const auto& guard = m_guardModel->row(row);
    const auto all = text(guard.kind + " " + guard.source + " " + guard.value + " " + guard.where);
    return std::ranges::all_of(words, [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
  });
}

void ProgramPanel::showNodes(int line) {
  auto rows = m_program && line > 0 ? programNodes(*m_program, line) : std::vector<ProgramNodeRow>();
  m_nodes->setHint(line > 0 ? tr("No node comes from line %1.").arg(line) : QString());
  m_tabs->setTabText(int(Tab::Nodes), tr("Nodes (%1)").arg(formatCount(qint64(rows.size()))));
  m_nodeModel->setRows(std::move(rows));
  m_nodes->fitColumns();
}

void ProgramPanel::choose(int line) {
  if (!m_program) return;
  if (m_source->chosenLine() != line) m_source->choose(line);
  const int of = frameOfLine(*m_program, line);
  const auto* shown = frame();
  const auto has = [line](const workbench::ProgramInstruction& row) { return row.line == line; };
  const bool inShown = shown && std::ranges::any_of(shown->original, has);
  if (of >= 0 && !inShown) {
    m_frames->selectSourceRow(of);
    showFrame();
  }
  markBytecode(line);
  showNodes(line);
  if (m_nodeModel->rowCount() > 0 && tab() != Tab::Bytecode) showTab(Tab::Nodes);
}

void ProgramPanel::openGraph(int graph, const QString& node) {
  if (!m_program || graph < 0 || graph >= int(m_program->graphs.size())) return;
  const int stored = m_program->graphs[std::size_t(graph)].stored;
  if (stored < 0) return m_session.noted(tr("This graph was not kept."));
  emit nodePicked(stored, node);
}

QVariantMap ProgramPanel::place() const {
  return {{"line", m_source->chosenLine()},
          {"frame", m_frames->currentSourceRow()},
          {"tab", m_tabs->currentIndex()},
          {"filter", m_guardFilter->text()}};
}

void ProgramPanel::restore(const QVariantMap& place) {
  if (!m_program) {
    m_wanted = place;
    return;
  }
  if (const int line = place["line"].toInt(); line > 0) choose(line);
  if (const int row = place["frame"].toInt(); row >= 0 && row < m_frameModel->rowCount()) {
    m_frames->selectSourceRow(row);
    showFrame();
  }
  m_tabs->setCurrentIndex(std::clamp(place["tab"].toInt(), 0, m_tabs->count() - 1));
  m_guardFilter->setText(place["filter"].toString());
}

}  // namespace kerf::ui::inline panels
