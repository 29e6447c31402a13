#include "ui/graph_view/graph_pane.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include <QAbstractItemView>
#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QRegularExpression>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/graph_view/breadcrumbs.h"
#include "ui/graph_view/elided_label.h"
#include "ui/graph_view/legend.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"
#include "ui/session/aot_stages.h"
#include "ui/session/node_search.h"

namespace kerf::ui::inline graph_view {
namespace {

/// Nodes on a shortest path along edges in either direction; empty if there is none.
std::vector<int> shortestPath(const GraphDoc& graph, int from, int to) {
  std::vector<int> before(graph.nodes.size(), -2);
  std::deque<int> queue{from};
  before[std::size_t(from)] = -1;
  while (!queue.empty() && before[std::size_t(to)] == -2) {
    const int node = queue.front();
    queue.pop_front();
    for (const auto* next : {&graph.nodes[std::size_t(node)].users, &graph.nodes[std::size_t(node)].inputs})
      for (const int other : *next)
        if (before[std::size_t(other)] == -2) {
          before[std::size_t(other)] = node;
          queue.push_back(other);
        }
  }
  std::vector<int> path;
  if (before[std::size_t(to)] != -2)
    for (int node = to; node >= 0; node = before[std::size_t(node)]) path.push_back(node);
  return path;
}

}  // namespace

GraphPane::GraphPane(Session& session, QWidget* parent)
    : QWidget(parent), m_session(session), m_layouts(session.jobs()), m_strip(new QWidget), m_view(new GraphWidget) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  buildStrip();
  column->addWidget(m_strip);
  column->addWidget(m_view, 1);
  column->addWidget(new Legend(*m_view));
  connect(&session, &Session::graphChanged, this, &GraphPane::showGraph);
  connect(&session, &Session::graphLeft, this, &GraphPane::leaveGraph);
  connect(&session, &Session::nodeChanged, this, [this] { showNode(); });
  connect(&session, &Session::locationChanged, this, &GraphPane::updateTitle);
  connect(&session, &Session::locationChanged, this, &GraphPane::showStage);
  connect(&session, &Session::compiledChanged, this, [this] {
    if (m_grouping == Grouping::Kernels && m_session.graph()) relayout(false);
  });
  for (const auto changed : {&Session::compiledChanged, &Session::fusionChanged})
    connect(&session, changed, this, &GraphPane::showHulls);
  connect(&session, &Session::accuracyChanged, this, &GraphPane::showAccuracy);
  for (const auto signal : {&Session::shardingChanged, &Session::locationChanged})
    connect(&session, signal, this, &GraphPane::showSharding);
  connect(&session, &Session::pinsChanged, this, &GraphPane::showPins);
  for (const auto signal : {&Session::plantChanged, &Session::accuracyChanged, &Session::locationChanged})
    connect(&session, signal, this, &GraphPane::showDoubt);
  connect(&session, &Session::symbolsChanged, this, &GraphPane::showSymbols);
  connect(&session, &Session::notesChanged, this, &GraphPane::showNotes);
  connect(&session, &Session::differenceChanged, this, &GraphPane::showDifference);
  connect(&session, &Session::stagesChanged, this, [this] { m_recorded = m_session.recordedStages(); });
  connect(&m_layouts, &LayoutService::ready, this, &GraphPane::showScene);
  m_slow.setSingleShot(true);
  m_slow.setInterval(300);
  connect(&m_slow, &QTimer::timeout, this, &GraphPane::updateTitle);
  connect(&m_layouts, &LayoutService::busyChanged, this, [this] {
    m_layouts.busy() ? m_slow.start() : m_slow.stop();
    updateTitle();
  });
  connect(m_view, &GraphWidget::nodePicked, this, [this](int node) {
    if (pickGhost(node)) return;
    m_picked = true;
    m_session.selectNode(node);
    m_picked = false;
  });
  m_resized.setSingleShot(true);
  m_resized.setInterval(120);
  connect(&m_resized, &QTimer::timeout, this, &GraphPane::fitAgain);
  connect(m_view, &GraphWidget::resized, this, [this] { m_resized.start(); });
  connect(m_view, &GraphWidget::groupToggled, this, &GraphPane::toggleGroup);
  connect(m_view, &GraphWidget::pathRequested, this, &GraphPane::selectPath);
  connect(m_view, &GraphWidget::nodeOpened, this, &GraphPane::offerBodies);
  connect(m_view, &GraphWidget::leaveRequested, &session, [&session] { session.leaveBody(); });
  connect(m_breadcrumbs, &Breadcrumbs::leaveRequested, &session, &Session::leaveBody);
  connect(&session, &Session::locationChanged, this, &GraphPane::showPlaceInBodies);
}

void GraphPane::buildStrip() {
  m_strip->setObjectName("strip");
  auto* row = new QHBoxLayout(m_strip);
  row->setContentsMargins(12, 5, 8, 5);
  row->setSpacing(8);
  m_breadcrumbs = new Breadcrumbs;
  m_title = new ElidedLabel;
  m_title->setObjectName("stripTitle");
  m_detail = new ElidedLabel;
  m_detail->setObjectName("quiet");
  m_cancel = new QToolButton;
  m_cancel->setText(tr("Cancel layout"));
  m_cancel->setObjectName("cancelLayout");
  m_cancel->hide();
  connect(m_cancel, &QToolButton::clicked, this, &GraphPane::cancelLayout);
  m_symbols = new QLineEdit;
  m_symbols->setObjectName("symbols");
  m_symbols->setAccessibleName(tr("Symbolic sizes"));
  m_symbols->setMinimumWidth(160);
  m_symbols->setToolTip(tr("Values of symbolic sizes for comparing and minifying, such as: s0=8 s1=3"));
  m_symbols->hide();
  connect(m_symbols, &QLineEdit::editingFinished, this, &GraphPane::readSymbols);
  buildStages();
  m_colors = new QComboBox;
  m_colors->setObjectName("colorMode");
  m_colors->addItems({tr("Colour by op kind"), tr("Colour by accuracy"), tr("Colour by placement")});
  m_colors->setToolTip(tr("What the colours of the graph mean"));
  m_colors->setAccessibleName(tr("Colours"));
  connect(m_colors, &QComboBox::currentIndexChanged, this, [this](int i) { m_view->setColorMode(ColorMode(i)); });
  connect(m_colors, &QComboBox::activated, this, [this](int i) {
    if (ColorMode(i) == ColorMode::Placement && !m_view->state().sharding) emit placementsAsked();
  });
  row->addWidget(m_breadcrumbs);
  row->addWidget(m_title);
  row->addWidget(m_detail);
  m_doubt = new QToolButton;
  m_doubt->setObjectName("warnChip");
  m_doubt->setAccessibleName(tr("Why results may not be the capture's"));
  m_doubt->hide();
  row->addWidget(m_doubt);
  connect(m_doubt, &QToolButton::clicked, this, &GraphPane::doubtPicked);
  row->addStretch(1);
  row->addWidget(m_cancel);
  row->addWidget(m_symbols);
  row->addWidget(m_stages);
  row->addWidget(m_colors);
}

void GraphPane::buildStages() {
  m_stages = new QComboBox;
  m_stages->setObjectName("aotStage");
  m_stages->setAccessibleName(tr("Stage"));
  m_stages->setToolTip(tr("The captured graph, or what AOTAutograd makes of it"));
  for (const auto& stage : aotStageTitles()) m_stages->addItem(stage.title);
  m_stages->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_stages->setMinimumContentsLength(9);
  m_stages->view()->setMinimumWidth(m_stages->view()->sizeHintForColumn(0) + 24);
  m_stages->setEnabled(false);
  connect(m_stages, &QComboBox::activated, this,
          [this](int i) { m_session.showAotStage(aotStageTitles()[std::size_t(i)].stage); });
}

void GraphPane::showDoubt() {
  const auto accuracy = m_session.accuracy();
  const int made = accuracy ? accuracy->madeUpInputs() : 0;
  QStringList said;
  if (const auto plant = m_session.plant(); !plant.isEmpty()) said << tr("planted: %1").arg(plant);
  if (made > 0) said << tr("%1 made up").arg(plural(made, "input"));
  if (accuracy && !accuracy->annotations.empty())
    said << tr("%1 contradicted").arg(plural(std::ssize(accuracy->annotations), "annotation"));
  m_doubt->setText(said.join(", "));
  m_doubt->setToolTip(tr("Results may not be those of the capture; a click shows why"));
  m_doubt->setVisible(!said.isEmpty());
}

void GraphPane::showStage() {
  m_stages->setEnabled(m_session.graph() != nullptr);
  m_stages->setCurrentIndex(indexOfStage(m_session.location().aotStage));
}

void GraphPane::setColorMode(ColorMode mode) { m_colors->setCurrentIndex(int(mode)); }

void GraphPane::setInlineParameters(bool on) {
  m_options.inlineParameters = on;
  relayout(true);
}

void GraphPane::setGraphviz(bool on) {
  m_options.dot = on;
  relayout(false);
}

/// `again`: of the graph that is shown already, or of what a pass made of it; groups and places stay then.
void GraphPane::relayout(bool again) {
  const auto before = again ? m_view->scene() : nullptr;
  m_again = again;
  m_options.open.reset();
  if (before && before->groups) m_options.open = before->openPaths();
  if (m_kept && !m_kept->open.empty()) m_options.open = m_kept->open;
  m_options.revealed = m_session.nodeDoc() != nullptr ? m_session.nodeDoc()->name : std::string();
  m_options.view = m_view->size();
  m_options.kernels = m_grouping == Grouping::Kernels ? kernelsOfNodes() : nullptr;
  m_options.budget = m_grouping == Grouping::Nothing ? 0 : SceneOptions().budget;
  m_layouts.layOut(m_session.graph(), m_options, before);
}

void GraphPane::setGrouping(Grouping grouping) {
  if (std::exchange(m_grouping, grouping) != grouping && m_session.graph()) relayout(false);
}

std::shared_ptr<const std::vector<std::string>> GraphPane::kernelsOfNodes() const {
  auto kernels = std::make_shared<std::vector<std::string>>(m_session.graph()->nodes.size());
  const auto compiled = m_session.compiled();
  const bool captured = m_session.location().stage == Location::Stage::Captured;
  for (const auto& kernel : compiled ? compiled->kernels : std::vector<KernelDoc>())
    for (const auto& name : captured ? kernel.capturedNodes : kernel.nodes)
      if (const int node = m_session.graph()->find(name); node >= 0 && (*kernels)[std::size_t(node)].empty())
        (*kernels)[std::size_t(node)] = kernel.name;
  return kernels;
}

void GraphPane::openAll(bool open) {
  const auto before = m_view->scene();
  if (!before || !before->groups || before->shown != m_session.graph()) return;
  rememberBlocks(open ? tr("opening all blocks") : tr("closing all blocks"));
  m_options.open.emplace();
  for (const auto& group : before->groups->groups)
    if (open || group.parent <= 0) m_options.open->insert(group.path);
  if (!open)
    std::erase_if(*m_options.open, [&](const std::string& path) {
      const int group = before->groups->find(path);
      return group > 0 && path != "/forward" && path != "/backward";
    });
  m_options.revealed.clear();
  m_again = true;
  m_layouts.layOut(m_session.graph(), m_options, before);
}

/// Another size shows more groups or fewer, as long as the user has not chosen any.
void GraphPane::fitAgain() {
  const auto& scene = m_view->scene();
  if (m_layouts.busy()) return m_resized.start();
  constexpr double slight = 24;  // the strip grows and shrinks with what it says
  const auto change = QSizeF(m_view->size()) - m_options.view;
  const bool same = std::abs(change.width()) < slight && std::abs(change.height()) < slight;
  const bool chosen = m_options.open.has_value() || !m_view->untouched();
  if (same || chosen || !scene || !scene->groups || scene->shown != m_session.graph()) return;
  relayout(false);
}

/// So that the user can take back what is done to blocks next, as long as the graph is shown.
void GraphPane::rememberBlocks(const QString& what) {
  const auto graph = m_session.graph();
  m_session.addUndo({what,
                     [this, graph, open = m_view->scene()->openPaths()] {
                       m_options.open = open;
                       m_options.revealed.clear();
                       m_again = true;
                       m_layouts.layOut(graph, m_options, m_view->scene());
                     },
                     [this, graph] {
                       const auto& scene = m_view->scene();
                       return m_session.graph() == graph && scene && scene->shown == graph;
                     }});
}

void GraphPane::toggleGroup(const std::string& path, bool open) {
  const auto before = m_view->scene();
  if (!before || !before->groups || before->shown != m_session.graph()) return;
  rememberBlocks(open ? tr("opening the block") : tr("closing the block"));
  auto paths = before->openPaths();
  if (open)
    paths.insert(path);
  else
    std::erase_if(paths, [&](const std::string& other) { return other == path || other.starts_with(path + "/"); });
  m_options.open = std::move(paths);
  m_options.revealed.clear();
  m_again = true;
  m_layouts.layOut(m_session.graph(), m_options, before);
}

/// A node that a closed group hides is shown, unless it was picked by its group.
void GraphPane::showNode() {
  m_view->select(m_session.node(), true);
  const auto& scene = m_view->scene();
  const int node = m_session.node();
  if (m_picked || node < 0 || !scene || scene->shown != m_session.graph()) return;
  const int card = scene->cardOfNode[std::size_t(node)];
  if (card >= 0 && scene->cards[std::size_t(card)].group >= 0) relayout(true);
}

void GraphPane::showSymbols() {
  const auto graph = m_session.graph();
  const bool some = graph && !graph->symbols.empty();
  m_symbols->setVisible(some);
  if (!some) return;
  QStringList parts;
  for (const auto& symbol : graph->symbols) {
    const auto name = text(symbol.name);
    const auto chosen = m_session.symbols().filter(QRegularExpression("^" + QRegularExpression::escape(name) + "="));
    parts << (chosen.isEmpty() ? name + "=" + text(symbol.hint) : chosen.first());
  }
  m_symbols->setText(parts.join(' '));
  m_symbols->setCursorPosition(0);  // the first symbols show where not all fit
}

/// Only values that differ from their hints are asked for.
void GraphPane::readSymbols() {
  QStringList chosen;
  for (const auto& part : m_symbols->text().split(QRegularExpression("[\\s,]+"), Qt::SkipEmptyParts)) {
    bool hinted = false;
    for (const auto& symbol : m_session.graph() ? m_session.graph()->symbols : std::vector<SymbolDoc>())
      hinted |= part == text(symbol.name + "=" + symbol.hint);
    if (!hinted) chosen << part;
  }
  m_session.setSymbols(chosen);
}

void GraphPane::showGraph() {
  m_hits.clear();
  showSymbols();
  if (!m_session.graph()) {
    m_layouts.cancel();
    m_session.reading() ? m_view->retire() : m_view->setScene(nullptr);
    return updateTitle();
  }
  // Stages of one compilation are one graph on its way: what stays, stays where it is.
  const auto recorded = m_session.recordedStages();
  const bool sameBody = m_body == m_session.location().body;
  const bool again =
      m_view->takeBack() && sameBody && (m_key == m_session.location().key() || (recorded && recorded == m_recorded));
  m_body = m_session.location().body;
  m_key = m_session.location().key();
  m_recorded = recorded;
  readDifference();
  if (again)
    m_view->setStale();
  else
    m_view->setScene(nullptr);
  relayout(again);
}

/// Until the next graph has been read, it is not known whether anything stays where it is.
void GraphPane::leaveGraph() {
  m_layouts.cancel();
  m_view->retire();
}

void GraphPane::cancelLayout() {
  m_layouts.cancel();
  if (m_view->scene() && m_view->scene()->shown != m_session.graph()) m_view->setScene(nullptr);
}

void GraphPane::showScene(ScenePtr scene) {
  m_view->select(m_session.node(), false);
  if (scene->shown != m_session.graph()) return;
  const bool fresh = scene->fresh;
  m_view->setScene(std::move(scene), m_again && !fresh);
  m_view->select(m_session.node(), true);
  markChanges();
  showPins();
  showNotes();
  showHulls();
  setHits();
  if (const int node = std::exchange(m_zoomTo, -1); node >= 0) m_view->reveal(node);
  if (const auto kept = std::exchange(m_kept, std::nullopt)) {
    m_view->setZoom(kept->zoom, {});
    m_view->moveTo(kept->center);
  }
  updateTitle();
}

void GraphPane::updateTitle() {
  const auto& place = m_session.location();
  const auto capture = m_session.capture(place.capture);
  const bool slow = m_layouts.busy() && !m_slow.isActive();
  m_cancel->setVisible(slow);
  if (!capture || !m_session.graph()) return showNoGraph(capture);
  const auto path = text(capture->path);
  const QFileInfo file(path);
  const auto folder = path.contains('/') ? file.dir().dirName() + "  ›  " : QString();
  const auto title = text(m_session.graph()->title);
  // The way into a body is told by the breadcrumbs in front of it.
  if (!place.body.empty())
    m_title->setForms({text(place.body).section('/', -1)});
  else
    m_title->setForms({folder + file.completeBaseName() + "  ›  " + title, folder + title, title});
  m_title->setToolTip(path);
  const auto nodes = plural(qint64(m_session.graph()->nodes.size()), "node");
  const auto busy = slow ? tr("  ·  laying out…") : QString();
  QStringList forms{nodes + busy};
  for (const bool brief : {true, false})
    if (const auto changes = changesText(brief); !changes.isEmpty()) forms.prepend(nodes + "  ·  " + changes + busy);
  m_detail->setForms(forms);
  m_detail->setToolTip(forms.first());
}

/// Nothing of a graph that was left stands above an empty view.
void GraphPane::showNoGraph(const CaptureDocPtr& capture) {
  const auto& place = m_session.location();
  const bool known = capture && place.graph < int(capture->graphs.size());
  m_title->setForms({known ? text(capture->graphs[std::size_t(place.graph)].name) : QString()});
  m_title->setToolTip({});
  m_detail->setForms({!known ? QString() : m_session.reading() ? tr("reading…") : tr("could not be read")});
  m_detail->setToolTip({});
}

void GraphPane::showAccuracy() {
  const auto accuracy = m_session.accuracy();
  m_view->setAccuracy(accuracy);
  if (accuracy && !accuracy->running && !accuracy->nodes.empty())
    setColorMode(ColorMode::Accuracy);
  else if (!accuracy)
    setColorMode(ColorMode::Kind);
}

/// Placements colour the graph as soon as they are known.
void GraphPane::showSharding() {
  auto sharding = m_session.sharding();
  if (sharding && (sharding->running || !sharding->error.isEmpty())) sharding = nullptr;
  if (sharding == m_view->state().sharding) return;
  m_view->setSharding(sharding);
  if (sharding)
    setColorMode(ColorMode::Placement);
  else if (m_view->state().mode == ColorMode::Placement)
    setColorMode(ColorMode::Kind);
}

void GraphPane::selectPath(int target) {
  const auto graph = m_session.graph();
  if (!graph || m_session.node() < 0) return m_session.selectNode(target);
  const auto path = shortestPath(*graph, m_session.node(), target);
  m_view->setFound(QSet<int>(path.begin(), path.end()), target);
}

void GraphPane::search(const QString& query) {
  m_search = query.trimmed();
  m_currentHit = -1;
  setHits();
}

void GraphPane::setHits() {
  auto found = searchNodes(m_session, m_search);
  m_hits = std::move(found.nodes);
  m_searchProblem = std::move(found.problem);
  if (m_currentHit >= int(m_hits.size())) m_currentHit = -1;
  m_view->setFound(QSet<int>(m_hits.begin(), m_hits.end()), m_currentHit >= 0 ? m_hits[std::size_t(m_currentHit)] : -1);
  emit searchChanged();
}

void GraphPane::nextHit(int step) {
  if (m_hits.empty()) return;
  const int count = int(m_hits.size());
  showHit(m_currentHit < 0 ? (step > 0 ? 0 : count - 1) : (m_currentHit + step + count) % count);
}

void GraphPane::showHit(int hit) {
  m_currentHit = hit;
  const int node = m_hits[std::size_t(m_currentHit)];
  m_view->setFound(m_view->state().found, node);
  m_session.selectNode(node);
  m_view->reveal(node);
  if (m_layouts.busy()) m_zoomTo = node;  // a closed block opens first
  emit searchChanged();
}

void GraphPane::showPlaceInBodies() {
  const auto& place = m_session.location();
  const auto capture = m_session.capture(place.capture);
  const bool known = capture && place.graph < int(capture->graphs.size());
  m_breadcrumbs->setPath(known ? text(capture->graphs[std::size_t(place.graph)].name) : QString(), text(place.body));
}

/// Goes into what a node calls; where that is one of several graphs, the user chooses.
void GraphPane::offerBodies(int node) {
  const auto graph = m_session.graph();
  if (!graph || node < 0 || node >= int(graph->nodes.size())) return;
  const auto bodies = graph->nodes[std::size_t(node)].bodies;
  if (bodies.size() == 1) return m_session.enterBody(bodies.front());
  if (bodies.empty()) return;
  auto* menu = new QMenu(this);
  menu->setObjectName("bodies");
  menu->setAttribute(Qt::WA_DeleteOnClose);
  for (const auto& body : bodies)
    menu->addAction(tr("Enter %1").arg(text(body)), this, [this, body] { m_session.enterBody(body); });
  menu->popup(m_view->mapToGlobal(m_view->cardRect(node).center().toPoint()));
}

}  // namespace kerf::ui::inline graph_view
