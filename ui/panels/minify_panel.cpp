#include "ui/panels/minify_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <ranges>

#include "ui/models/format.h"
#include "ui/panels/reduction_chart.h"

namespace kerf::ui::inline panels {

namespace {

/// Whether `steps` only adds to what is shown.
bool goesOn(const std::vector<StepDoc>& shown, const std::vector<StepDoc>& steps) {
  return steps.size() >= shown.size() && std::ranges::equal(shown, steps | std::views::take(shown.size()), {},
                                                            &StepDoc::test, &StepDoc::test);
}

}  // namespace

MinifyPanel::MinifyPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_plant(new PlantPicker(session)),
      m_model(makeStepModel().release()),
      m_table(new DataTable(m_model)),
      m_chart(new ReductionChart) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(buildBar());
  m_hint = new QLabel;
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  auto* splitter = new QSplitter(Qt::Horizontal);
  splitter->addWidget(m_chart);
  splitter->addWidget(m_table);
  splitter->setChildrenCollapsible(false);
  splitter->setSizes({600, 400});
  m_content = splitter;
  m_table->setObjectName("steps");
  m_table->setStretchColumn(1);
  column->addWidget(m_hint, 1);
  column->addWidget(m_content, 1);
  connect(&session, &Session::minifyChanged, this, &MinifyPanel::showMinified);
  connect(&session, &Session::graphChanged, this, &MinifyPanel::showMinified);
  connect(&session, &Session::locationChanged, this, &MinifyPanel::showPlace);
  connect(m_table, &DataTable::picked, this, [this](int row) {
    const auto doc = m_session.minified();
    if (doc && doc->state == MinifyDoc::State::Running) return showControls();
    m_session.showStage(Location::Stage::Step, row);
  });
  showMinified();
}

QWidget* MinifyPanel::buildBar() {
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(12, 8, 12, 8);
  row->setSpacing(10);
  m_start = new QPushButton(tr("Minify"));
  m_start->setObjectName("primary");
  m_start->setToolTip(tr("Cut the failing graph down; every candidate runs in a process of its own"));
  m_cancel = new QPushButton(tr("Cancel"));
  m_cancel->setObjectName("cancelMinify");
  m_pause = new QPushButton;
  m_pause->setObjectName("pauseMinify");
  m_undo = new QPushButton(tr("Undo to step"));
  m_undo->setObjectName("undoMinify");
  m_undo->setShortcut(QKeySequence("Ctrl+Shift+U"));
  m_openRepro = new QPushButton(tr("Open repro"));
  m_openRepro->setToolTip(tr("Open the minified repro beside its capture"));
  m_export = new QPushButton(tr("Export repro…"));
  m_export->setToolTip(tr("Save the minified repro.py and its storages"));
  m_status = new QLabel;
  m_status->setObjectName("status");
  row->addWidget(m_start);
  row->addWidget(m_cancel);
  row->addWidget(m_pause);
  row->addWidget(m_undo);
  row->addWidget(m_plant);
  row->addWidget(m_openRepro);
  row->addWidget(m_export);
  row->addStretch(1);
  row->addWidget(m_status);
  connect(m_openRepro, &QPushButton::clicked, this,
          [this] { m_session.open({QString::fromStdString(m_session.minified()->repro)}); });
  connect(m_export, &QPushButton::clicked, this, &MinifyPanel::exportRequested);
  connect(m_start, &QPushButton::clicked, this, &MinifyPanel::start);
  connect(m_pause, &QPushButton::clicked, this, [this] { m_session.pauseMinify(!m_session.minified()->paused); });
  connect(m_undo, &QPushButton::clicked, this, [this] { m_session.undoMinify(chosenStep()); });
  connect(m_cancel, &QPushButton::clicked, &m_session, &Session::cancelMinify);
  return bar;
}

void MinifyPanel::start() { m_session.minify(m_plant->plant()); }

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
  if (doc.oneMinimal.value_or(false)) text += tr("  ·  1-minimal");
  return text;
}

void MinifyPanel::showMinified() {
  const auto doc = m_session.minified();
  const bool running = doc && doc->state == MinifyDoc::State::Running;
  const bool shown = doc && !doc->points.empty();
  m_start->setEnabled(m_session.graph() && !running);
  m_plant->setEnabled(m_start->isEnabled());
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
                                           "Plant a fault to try it.")
                                      : tr("Open a capture to minify it."));
  m_status->setText(shown ? statusOf(*doc) : QString());
  m_status->setToolTip(doc ? text(doc->fingerprint) : QString());
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
  m_pause->setToolTip((paused ? tr("Go on with new queries") : tr("Begin no new queries until resumed; those under way end")) +
                      tr("  (Ctrl+Shift+M)"));
  m_pause->setShortcut(QKeySequence("Ctrl+Shift+M"));  // a new text drops the old one
  const int step = chosenStep();
  const bool behind = doc && step >= 0 && std::size_t(step) + 1 < doc->steps.size();
  m_undo->setEnabled(behind);
  m_undo->setToolTip((behind ? tr("Go back to step %1, and on from there in another way").arg(step)
                             : tr("Choose a step before the last one in the table to go back to it")) +
                     tr("  (Ctrl+Shift+U)"));
}

}  // namespace kerf::ui::inline panels
