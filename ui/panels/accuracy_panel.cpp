#include "ui/panels/accuracy_panel.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include "ui/graph_view/elided_label.h"
#include "ui/graph_view/theme_change.h"
#include "ui/models/format.h"
#include "ui/models/run_words.h"
#include "ui/models/theme.h"
#include "ui/panels/backend_picker.h"
#include "ui/panels/growth_chart.h"

namespace kerf::ui::inline panels {
namespace {

using By = workbench::BisectRequest::By;

struct BisectMode {
  By by;
  const char *name, *said;  ///< said: in the menu of Kerf's own; null: only PyTorch is bisected so
};
constexpr BisectMode bisectModes[] = {
    {By::Node, "node", "By node: every node compared"},
    {By::Pass, "pass", "By pass: passes enabled one after the other"},
    {By::Subsystem, "part of the compiler", "By part of the compiler: passes, fusion, code generation, …"},
    {By::Fusion, "fusion", "By fusion: fused groups taken apart"},
    {By::Kernel, "kernel", "By kernel: code of kernels enabled one after the other"},
    {By::Module, "module", "By module: the model's modules compiled one after the other"},
    {By::Config, "config option", nullptr},
    {By::Version, "version", nullptr},
};
QString modeName(By by) {
  const auto* found = std::ranges::find(bisectModes, by, &BisectMode::by);
  return AccuracyPanel::tr(found->name);
}

QWidget* titled(const QString& title, QWidget* content) {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* label = new QLabel(title);
  label->setObjectName("tableTitle");
  column->addWidget(label);
  column->addWidget(content, 1);
  return box;
}

}  // namespace

AccuracyPanel::AccuracyPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_plant(new PlantPicker(session)),
      m_outputs(makeOutputModel().release()),
      m_nodes(makeNodeAccuracyModel().release()),
      m_outputTable(new DataTable(m_outputs)),
      m_nodeTable(new DataTable(m_nodes)),
      m_trials(makeTrialModel().release()),
      m_trialTable(new DataTable(m_trials)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(buildBar());
  m_bisection = new QLabel;
  m_bisection->setObjectName("bisection");
  m_bisection->setContentsMargins(12, 0, 12, 8);
  m_bisection->setWordWrap(true);
  column->addWidget(m_bisection);
  m_hint = new QLabel;
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  column->addWidget(m_hint, 1);
  m_tables = buildTables();
  column->addWidget(m_tables, 1);
  for (const auto signal : {&Session::accuracyChanged, &Session::graphChanged, &Session::bisectChanged})
    connect(&session, signal, this, &AccuracyPanel::showAccuracy);
  connect(m_nodeTable, &DataTable::picked, this,
          [this](int row) { m_session.selectNode(QString::fromStdString(m_nodes->row(row).node)); });
  connect(&session, &Session::nodeChanged, this, [this] {
    const auto accuracy = m_session.accuracy();
    const auto* node = m_session.nodeDoc();
    const auto* row = accuracy && node ? accuracy->find(node->name) : nullptr;
    m_growth->setCurrent(node ? text(node->name) : QString());
    m_nodeTable->selectSourceRow(row ? int(row - accuracy->nodes.data()) : -1);
  });
  onThemeChange(*this, [this] {
    const auto doc = m_session.accuracy();
    if (doc && !doc->running && doc->error.isEmpty()) showVerdict(*doc);
  });
  showAccuracy();
}

QWidget* AccuracyPanel::buildBar() {
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(12, 8, 12, 8);
  row->setSpacing(10);
  m_run = new QPushButton(tr("Compare"));
  m_run->setObjectName("primary");
  m_run->setToolTip(tr("Compare the compiled graph with the interpreter and an fp64 reference, in its own process"));
  m_bisect = new QPushButton(tr("Bisect"));
  m_bisect->setObjectName("bisect");
  m_bisect->setToolTip(tr("Find the pass or node where the difference begins"));
  auto* menu = new QMenu(m_bisect);
  for (const auto& mode : bisectModes)
    if (mode.said != nullptr) menu->addAction(tr(mode.said), this, [this, by = mode.by] { bisect(by); });
  menu->addSeparator();
  for (const By by : {By::Pass, By::Subsystem, By::Config})
    menu->addAction(tr("With PyTorch: by %1").arg(modeName(by)), this, [this, by] { emit torchBisectRequested(by); });
  m_bisect->setMenu(menu);
  m_cancel = new QPushButton(tr("Cancel"));
  m_verdict = new ElidedLabel;
  m_verdict->setObjectName("verdict");
  row->addWidget(m_run);
  row->addWidget(new BackendPicker(m_session));
  row->addWidget(m_bisect);
  row->addWidget(m_cancel);
  m_go = new QPushButton;
  m_go->setObjectName("goToNode");
  m_go->setAccessibleName(tr("Go to the node that the verdict names"));
  m_doubts = new QLabel;
  m_doubts->setObjectName("warnChip");
  m_doubts->setTextInteractionFlags(Qt::LinksAccessibleByMouse);
  row->addWidget(m_plant);
  row->addWidget(m_doubts);
  row->addWidget(m_verdict, 1);
  row->addWidget(m_go);
  connect(m_run, &QPushButton::clicked, this, &AccuracyPanel::run);
  connect(m_cancel, &QPushButton::clicked, &m_session, &Session::cancelCompare);
  connect(m_go, &QPushButton::clicked, this, [this] {
    const auto doc = m_session.accuracy();
    doc && !doc->firstBadNode().empty() ? emit badRequested() : emit oddRequested();
  });
  return bar;
}

QWidget* AccuracyPanel::buildTables() {
  m_outputTable->setObjectName("outputs");
  m_nodeTable->setObjectName("nodeAccuracy");
  m_trialTable->setObjectName("trials");
  m_trialTable->setStretchColumn(1);
  auto* splitter = new QSplitter(Qt::Horizontal);
  splitter->addWidget(titled(tr("Outputs"), m_outputTable));
  splitter->addWidget(titled(tr("Nodes"), m_nodeTable));
  splitter->setChildrenCollapsible(false);
  m_growth = new GrowthChart;
  splitter->addWidget(titled(tr("Error along the graph"), m_growth));
  splitter->setSizes({260, 440, 300});
  connect(m_growth, &GrowthChart::nodePicked, this, [this](const QString& node) { m_session.selectNode(node); });
  m_comparison = splitter;
  m_trialBox = titled(tr("Trials of the bisection"), m_trialTable);
  auto* both = new QSplitter(Qt::Horizontal);
  both->addWidget(m_comparison);
  both->addWidget(m_trialBox);
  both->setChildrenCollapsible(false);
  both->setSizes({700, 300});
  return both;
}

void AccuracyPanel::run() {
  if (m_plant->accepted()) m_session.compare();
}

void AccuracyPanel::bisect(By by) {
  if (m_plant->accepted()) m_session.bisect(by);
}

QVariantMap AccuracyPanel::kept() const {
  const auto place = m_session.namedPlace();
  const auto accuracy = m_session.accuracy();
  if (!place) return {};
  const bool shown = accuracy && !accuracy->running && accuracy->error.isEmpty() && accuracy->plant.isEmpty();
  const auto verdict = shown ? m_verdict->toolTip() : earlierVerdict();
  if (verdict.isEmpty()) return {};
  return {{"capture", QString::fromStdString(place->capture)},
          {"graph", QString::fromStdString(place->graph)},
          {"stage", QString::fromStdString(place->place.aotStage)},
          {"verdict", verdict}};
}

void AccuracyPanel::setEarlier(const QVariantMap& kept) {
  m_earlier = kept;
  showAccuracy();
}

/// Of the graph that is shown.
QString AccuracyPanel::earlierVerdict() const {
  const auto place = m_earlier.isEmpty() ? std::nullopt : m_session.namedPlace();
  const bool here = place && m_earlier["capture"].toString().toStdString() == place->capture &&
                    m_earlier["graph"].toString().toStdString() == place->graph &&
                    m_earlier["stage"].toString().toStdString() == place->place.aotStage;
  return here ? m_earlier["verdict"].toString() : QString();
}

QString AccuracyPanel::verdict() const { return m_verdict->text(); }

QString AccuracyPanel::bisection() const { return m_bisection->text(); }

void AccuracyPanel::showAccuracy() {
  const auto accuracy = m_session.accuracy();
  const auto bisected = m_session.bisected();
  const bool comparing = accuracy && accuracy->running, bisecting = bisected && bisected->running;
  const bool shown = accuracy && !comparing && accuracy->error.isEmpty();
  m_run->setEnabled(m_session.graph() && !comparing);
  m_bisect->setEnabled(m_session.graph() && !bisecting);
  m_plant->setEnabled(m_run->isEnabled() && m_bisect->isEnabled());
  m_cancel->setVisible(comparing || bisecting);
  m_outputs->setRows(shown ? accuracy->outputs : std::vector<OutputVerdict>());
  m_nodes->setRows(shown ? accuracy->nodes : std::vector<NodeDivergence>());
  m_comparison->setVisible(shown);
  m_verdict->setForms({});
  m_go->hide();
  m_doubts->hide();
  showBisection();
  const bool tables = shown || m_trials->rowCount() > 0;
  m_tables->setVisible(tables);
  m_hint->setVisible(!tables);
  showHint();
  if (!shown) return;
  m_outputTable->fitColumns();
  m_nodeTable->fitColumns();
  m_growth->setNodes(accuracy->nodes, m_session.graph());
  showVerdict(*accuracy);
}

void AccuracyPanel::showHint() {
  const auto accuracy = m_session.accuracy();
  if (accuracy && accuracy->running)
    m_hint->setText(tr("Comparing the compiled graph with the interpreter and an fp64 reference…"));
  else if (accuracy && !accuracy->error.isEmpty())
    m_hint->setText(accuracy->error);
  else if (const auto earlier = earlierVerdict(); !earlier.isEmpty())
    m_hint->setText(tr("Before the restart: %1\nThe values are not kept. Compare computes them again.").arg(earlier));
  else
    m_hint->setText(m_session.graph() ? tr("Compare to see where the compiled result leaves the reference.\n"
                                           "Help > Try it with a planted fault shows what that looks like.")
                                      : tr("Open a capture to compare its results."));
}

/// What NaN and infinities do to a verdict: they equal themselves, and so pass.
QString AccuracyPanel::oddText(const AccuracyDoc& doc) const {
  const auto graph = m_session.graph();
  const auto lost = [](const OutputVerdict& row) { return row.nanRes + row.infRes > 0; };
  const auto odd = graph ? doc.odd(*graph) : OddNodes();
  const bool outputs = std::ranges::any_of(doc.outputs, lost);
  if (odd.wholly == 0 && !outputs) return {};
  const int count = odd.wholly > 0 ? odd.wholly : odd.partly;
  if (count == 0)
    return tr("%1 of %2 are NaN or infinite")
        .arg(std::ranges::count_if(doc.outputs, lost))
        .arg(plural(std::ssize(doc.outputs), "output"));
  const auto said = odd.wholly > 0 ? tr("%1 of %2 are NaN or infinite, first: %3")
                                   : tr("%1 of %2 have NaN or infinite elements, first: %3");
  return said.arg(count).arg(plural(std::ssize(doc.nodes), "node")).arg(text(odd.first));
}

void AccuracyPanel::showVerdict(const AccuracyDoc& doc) {
  const auto bad = std::ranges::count(doc.nodes, false, &NodeDivergence::same);
  const auto first = text(doc.firstBadNode());
  const auto odd = doc.failure.empty() ? oddText(doc) : QString();
  const auto result = doc.same              ? odd.isEmpty() ? tr("Same") : tr("Same, but %1").arg(odd)
                                   : doc.failure.empty() ? tr("Different")
                                            : tr("Failed: %1").arg(text(doc.failure));
  const auto setting = settingText(doc.plant, doc.backend);
  const auto count = bad > 0 ? tr("  ·  %1 beyond the limit").arg(plural(bad, "node")) : QString();
  const auto where = first.isEmpty() ? QString() : tr("  ·  first bad: %1").arg(first);
  const auto before = doc.isOfBefore ? tr("Before the restart: ") : QString();
  m_verdict->setForms({before + result + count + where + setting, before + result + where, before + result});
  m_verdict->setToolTip(result + count + where + setting);
  auto palette = m_verdict->palette();
  const auto good = odd.isEmpty() ? theme().good : theme().warn;
  palette.setColor(QPalette::WindowText, doc.same && bad == 0 ? good : theme().bad);
  m_verdict->setPalette(palette);
  const auto graph = m_session.graph();
  const auto target = !first.isEmpty() ? first : odd.isEmpty() || !graph ? QString() : text(doc.odd(*graph).first);
  m_go->setText(tr("Go to %1").arg(fontMetrics().elidedText(target, Qt::ElideMiddle, 160)));
  m_go->setToolTip(tr("Show %1 in the graph").arg(target));
  m_go->setVisible(!target.isEmpty());
  showDoubts(doc);
}

/// What makes the verdict worth less: inputs that were made up, recorded values that the ops do not give.
void AccuracyPanel::showDoubts(const AccuracyDoc& doc) {
  QStringList brief, full;
  if (const int made = doc.madeUpInputs(); made > 0) {
    brief << tr("%1 made up").arg(plural(made, "input"));
    for (const auto& row : doc.inputs)
      if (row.source == "generated") full << text(row.name) + (row.why.empty() ? QString() : ": " + text(row.why));
  }
  if (!doc.annotations.empty()) brief << tr("%1 contradicted").arg(plural(std::ssize(doc.annotations), "annotation"));
  if (!doc.haveFp64) brief << tr("no fp64 reference");
  if (!doc.fp64Note.empty()) full << text(doc.fp64Note);
  m_doubts->setText(brief.join(", "));
  m_doubts->setToolTip(full.join('\n'));
  m_doubts->setVisible(!brief.isEmpty());
}

void AccuracyPanel::showBisection() {
  const auto doc = m_session.bisected();
  m_trials->setRows(doc ? doc->trials : std::vector<BisectTrial>());
  m_trialBox->setVisible(m_trials->rowCount() > 0);
  m_trialTable->fitColumns();
  m_bisection->setVisible(doc != nullptr);
  if (!doc) return m_bisection->clear();
  const auto by = modeName(doc->by);
  const auto setting = settingText(QString(), doc->backend);
  if (doc->running) return m_bisection->setText(tr("Bisecting by %1… %2").arg(by, doc->progress) + setting);
  if (!doc->error.isEmpty()) return m_bisection->setText(tr("Bisecting by %1 failed: %2").arg(by, doc->error));
  const auto note = doc->note.empty() ? QString() : "  ·  " + text(doc->note);
  const auto found = doc->culprits.empty() ? tr("no %1 is to blame").arg(by)
                                           : tr("the fault begins at %1 %2").arg(by, texts(doc->culprits).join(", "));
  m_bisection->setText(tr("Bisection: ") + found + note + setting);
}

}  // namespace kerf::ui::inline panels
