#include "ui/panels/minify_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <ranges>

#include "ui/models/format.h"
#include "ui/models/run_words.h"
#include "ui/panels/inputs_editor.h"
#include "ui/panels/minified_graphs.h"
#include "ui/panels/minify_settings.h"
#include "ui/panels/reduction_chart.h"

namespace kerf::ui::inline panels {

namespace {

/// Whether `steps` only adds to what is shown.
bool goesOn(const std::vector<StepDoc>& shown, const std::vector<StepDoc>& steps) {
  return steps.size() >= shown.size() &&
         std::ranges::equal(shown, steps | std::views::take(shown.size()), {}, &StepDoc::test, &StepDoc::test);
}

}  // namespace

MinifyPanel::MinifyPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_plant(new PlantPicker(session)),
      m_backend(new BackendPicker(session)),
      m_model(makeStepModel().release()),
      m_table(new DataTable(m_model)),
      m_chart(new ReductionChart),
      m_graphs(new MinifiedGraphs(session)),
      m_workers(new QLabel),
      m_findings(new QListWidget) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(buildBar());
  m_hint = new QLabel;
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_content = buildContent();
  m_table->setObjectName("steps");
  m_table->setStretchColumn(1);
  column->addWidget(m_hint, 1);
  column->addWidget(m_content, 1);
  connect(&session, &Session::minifyChanged, this, &MinifyPanel::showMinified);
  connect(&session, &Session::graphChanged, this, &MinifyPanel::showMinified);
  connect(&session, &Session::locationChanged, this, &MinifyPanel::showPlace);
  connect(&session, &Session::pinsChanged, this, &MinifyPanel::showMinified);
  connect(&session, &Session::inputsChanged, this, &MinifyPanel::showMinified);
  connect(&session, &Session::plantChanged, this, &MinifyPanel::showMinified);
  connect(m_table, &DataTable::picked, this, [this](int row) {
    const auto doc = m_session.minified();
    if (doc && doc->state == MinifyDoc::State::Running) return showControls();
    m_session.showStage(Location::Stage::Step, row);
  });
  showMinified();
}

/// The chart, the graph that fails still, and the steps with what else was found.
QWidget* MinifyPanel::buildContent() {
  auto* splitter = new QSplitter(Qt::Horizontal);
  auto* right = new QSplitter(Qt::Vertical);
  m_findings->setObjectName("findings");
  m_findings->setAccessibleName(tr("Other failures that were met"));
  m_findings->setToolTip(tr("Other failures of candidates; double-click opens the smallest graph of each"));
  auto* found = new QWidget;
  auto* column = new QVBoxLayout(found);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* title = new QLabel(tr("Other failures that were met"));
  title->setObjectName("tableTitle");
  column->addWidget(title);
  column->addWidget(m_findings, 1);
  m_found = found;
  right->addWidget(m_table);
  right->addWidget(found);
  auto* left = new QWidget;
  auto* progress = new QVBoxLayout(left);
  progress->setContentsMargins(0, 0, 0, 0);
  progress->setSpacing(0);
  progress->addWidget(m_status);
  progress->addWidget(m_chart, 1);
  progress->addWidget(m_workers);
  m_workers->setObjectName("quiet");
  m_workers->setWordWrap(true);
  m_workers->setContentsMargins(10, 4, 10, 4);
  m_workers->setMinimumWidth(1);
  splitter->addWidget(left);
  splitter->addWidget(m_graphs);
  splitter->addWidget(right);
  for (auto* each : {splitter, right}) each->setChildrenCollapsible(false);
  splitter->setSizes({320, 460, 340});
  right->setSizes({300, 140});
  connect(m_findings, &QListWidget::itemActivated, this,
          [this](const QListWidgetItem* item) { m_session.open({item->data(Qt::UserRole).toString()}); });
  return splitter;
}

void MinifyPanel::buildExport() {
  auto* menu = new QMenu(m_export);
  const std::pair<QString, QString> formats[] = {
      {"repro", tr("repro.py and storages…")}, {"zip", tr("One zip…")}, {"issue", tr("Issue text (Markdown)…")}};
  for (const auto& [format, title] : formats)
    menu->addAction(title, this, [this, format = format] { emit exportRequested(format); })->setObjectName(format);
  m_export->setMenu(menu);
}

QWidget* MinifyPanel::buildBar() {
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(12, 8, 12, 8);
  row->setSpacing(10);
  m_start = new QPushButton(tr("Minify"));
  m_start->setObjectName("primary");
  m_start->setToolTip(tr("Minify the failing graph; each candidate runs in its own process"));
  m_cancel = new QPushButton(tr("Cancel"));
  m_cancel->setObjectName("cancelMinify");
  m_pause = new QPushButton;
  m_pause->setObjectName("pauseMinify");
  m_undo = new QPushButton(tr("Undo to step"));
  m_undo->setObjectName("undoMinify");
  m_undo->setShortcut(QKeySequence("Ctrl+Shift+U"));
  m_ask = new QToolButton;
  m_ask->setObjectName("minifySettings");
  m_ask->setToolTip(tr("What decides whether a graph fails, and the limits of time and tests"));
  connect(m_ask, &QToolButton::clicked, this, &MinifyPanel::askSettings);
  m_openRepro = new QPushButton(tr("Open repro"));
  m_openRepro->setToolTip(tr("Open the minified repro beside its capture"));
  m_export = new QPushButton(tr("Export"));
  m_export->setObjectName("exportMinified");
  m_export->setToolTip(tr("Save the minified repro: as files, as one zip, or as the text of an issue"));
  buildExport();
  m_status = new QLabel;
  m_status->setObjectName("status");
  m_status->setWordWrap(true);
  m_status->setContentsMargins(10, 4, 10, 0);
  m_status->setMinimumWidth(1);
  row->addWidget(m_start);
  row->addWidget(m_cancel);
  row->addWidget(m_pause);
  row->addWidget(m_undo);
  row->addWidget(m_ask);
  row->addWidget(m_backend);
  row->addWidget(m_plant);
  row->addWidget(m_openRepro);
  row->addWidget(m_export);
  row->addStretch(1);
  connect(m_openRepro, &QPushButton::clicked, this,
          [this] { m_session.open({QString::fromStdString(m_session.minified()->repro)}); });
  connect(m_start, &QPushButton::clicked, this, &MinifyPanel::start);
  connect(m_pause, &QPushButton::clicked, this, [this] { m_session.pauseMinify(!m_session.minified()->paused); });
  connect(m_undo, &QPushButton::clicked, this, [this] { m_session.undoMinify(chosenStep()); });
  connect(m_cancel, &QPushButton::clicked, &m_session, &Session::cancelMinify);
  return bar;
}

/// A fault is planted into Kerf's own compiled side, so only Kerf's engine is asked of it.
void MinifyPanel::start() {
  auto request = m_settings;
  if (request.oracle.oracle == "engine" && !m_plant->accepted()) return;
  if (request.oracle.oracle == "engine") request.oracle.plants = m_session.plants();
  m_session.minify(std::move(request));
}

void MinifyPanel::setSettings(const workbench::MinifyRequest& settings) {
  m_settings = settings;
  emit settingsChanged();
  showMinified();
}

void MinifyPanel::askSettings() {
  auto settings = m_settings;
  settings.graph.inputs = m_session.inputs().inputs;
  settings.graph.seed = m_session.inputs().seed;
  auto* dialog = new MinifySettings(settings, m_session.sizes(), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    const auto chosen = dialog->request();
    m_session.setInputs({chosen.graph.inputs, chosen.graph.seed});
    m_session.chooseSizes(texts(chosen.graph.symbols));
    setSettings(chosen);
    if (dialog->begins()) start();
  });
  m_session.findInputRows([shown = QPointer(dialog)](const std::vector<workbench::InputRow>& rows) {
    if (shown) shown->inputs().setNote(inputsText(rows));
  });
  dialog->open();
}

void MinifyPanel::showFindings(const MinifyDoc* doc) {
  m_findings->clear();
  for (const auto& slip : doc ? doc->findings : std::vector<workbench::SlipDoc>()) {
    auto* item = new QListWidgetItem(
        QString("%1  ·  %2  ·  %3").arg(text(slip.id), plural(slip.nodes, "node"), text(slip.fingerprint)));
    item->setData(Qt::UserRole, text(slip.id));
    item->setToolTip(text(slip.detail));
    m_findings->addItem(item);
  }
  m_found->setVisible(m_findings->count() > 0);
}

CandidateView& MinifyPanel::candidate() { return m_graphs->failing(); }

QString MinifyPanel::workers() const { return m_workers->text(); }

QString MinifyPanel::status() const { return m_status->text(); }

QString MinifyPanel::statusOf(const MinifyDoc& doc) const {
  auto text = plural(doc.startNodes, "node") + " → " + formatCount(doc.bestNodes) + "  ·  " + plural(doc.tests, "test");
  if (doc.slips > 0) text += "  ·  " + plural(doc.slips, "slip");
  if (m_times) text += "  ·  " + formatSeconds(doc.elapsedSeconds);
  if (doc.paused)
    text += tr("  ·  paused");
  else if (doc.state == MinifyDoc::State::Running && doc.secondsLeft >= 0)
    text += tr("  ·  about %1 left").arg(formatSeconds(doc.secondsLeft));
  if (doc.state == MinifyDoc::State::Cancelled) text += tr("  ·  cancelled");
  if (doc.state == MinifyDoc::State::Failed) text += tr("  ·  failed");
  text += settingText(doc.plant, doc.backend);
  if (doc.oneMinimal.value_or(false)) text += tr("  ·  1-minimal");
  if (!doc.stoppedBy.empty()) text += tr("  ·  stopped by its limit");
  return text;
}

void MinifyPanel::showMinified() {
  const auto doc = m_session.minified();
  const bool running = doc && doc->state == MinifyDoc::State::Running;
  const bool shown = doc && !doc->points.empty();
  m_start->setEnabled(m_session.graph() && !running);
  m_plant->setEnabled(m_start->isEnabled());
  m_ask->setEnabled(!running);
  for (QWidget* own : std::initializer_list<QWidget*>{m_plant, m_backend})
    own->setVisible(m_settings.oracle.oracle == "engine" && !running);
  auto settings = m_settings;
  settings.pins = plainTexts(m_session.pins());
  settings.graph.inputs = m_session.inputs().inputs;
  settings.graph.seed = m_session.inputs().seed;
  m_ask->setText(settingsText(settings) + "…");
  m_cancel->setVisible(running);
  m_pause->setVisible(running);
  m_undo->setVisible(running);
  const bool repro = doc && !doc->repro.empty();
  m_openRepro->setVisible(repro);
  m_export->setVisible(repro);
  m_content->setVisible(shown);
  m_hint->setVisible(!shown);
  if (running)
    m_hint->setText(tr("Checking that the graph fails…"));
  else if (doc && !doc->error.isEmpty())
    m_hint->setText(doc->error);
  else
    m_hint->setText(m_session.graph() ? tr("Minify a graph that fails to get the smallest one that still fails.\n"
                                           "Help > Try it with a planted fault shows what that looks like.")
                                      : tr("Open a capture to minify it."));
  m_status->setText(shown ? statusOf(*doc) : QString());
  m_status->setToolTip(doc ? text(doc->fingerprint) : QString());
  m_graphs->setMinified(doc.get());
  m_workers->setText(doc && m_times ? workersText(*doc) : QString());
  m_workers->setVisible(!m_workers->text().isEmpty());
  showFindings(doc.get());
  m_chart->setPoints(doc ? doc->points : std::vector<MinifyPoint>());
  const bool first = m_model->rowCount() == 0;
  const auto steps = doc ? doc->steps : std::vector<StepDoc>();
  if (running && goesOn(m_model->rows(), steps))
    m_model->appendRows(steps);
  else
    m_model->setRows(steps);
  if (first || !running) m_table->fitColumns();
  showPlace();
}

void MinifyPanel::showPlace() {
  const auto doc = m_session.minified();
  // Steps have graphs when the search has ended: until then a row is chosen to go back to it.
  if (doc && doc->state == MinifyDoc::State::Running) return showControls();
  const auto& place = m_session.location();
  m_table->selectSourceRow(place.stage == Location::Stage::Step ? place.index : -1);
  showControls();
}

/// The row that is selected; -1 where it is none.
int MinifyPanel::chosenStep() const { return m_table->currentSourceRow(); }

void MinifyPanel::showControls() {
  const auto doc = m_session.minified();
  const bool paused = doc && doc->paused;
  m_pause->setText(paused ? tr("Resume") : tr("Pause"));
  m_pause->setToolTip((paused ? tr("Go on with new queries")
                              : tr("Start no new tests until you resume; running "
                                   "tests finish")) +
                      tr("  (Ctrl+Shift+M)"));
  m_pause->setShortcut(QKeySequence("Ctrl+Shift+M"));  // a new text drops the old one
  const int step = chosenStep();
  const bool behind = doc && step >= 0 && std::size_t(step) + 1 < doc->steps.size();
  m_undo->setEnabled(behind);
  m_undo->setToolTip((behind ? tr("Go back to step %1 and continue differently from there").arg(step)
                             : tr("Choose a step before the last one in the table to go back to it")) +
                     tr("  (Ctrl+Shift+U)"));
}

}  // namespace kerf::ui::inline panels
