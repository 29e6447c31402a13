#include "ui/graph_view/legend.h"

#include <algorithm>
#include <bitset>

#include <QEvent>
#include <QPainter>

#include "ui/graph_view/graph_painter.h"
#include "ui/graph_view/graph_widget.h"
#include "ui/graph_view/hull_painter.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

constexpr double inset = 12, swatch = 9, gap = 14;

using Entry = LegendEntry;

QFont legendFont() {
  QFont font = interfaceFont();
  font.setPixelSize(11);
  return font;
}

std::vector<Entry> kindEntries(const Scene& scene) {
  std::bitset<nodeKinds> present;
  bool blocks = false, gradients = false;
  for (const auto& card : scene.cards) {
    if (card.group < 0) present.set(std::size_t(card.kind));
    const bool backward = card.group >= 0 && scene.groups->groups[std::size_t(card.group)].backward;
    blocks |= card.group >= 0 && !backward;
    gradients |= backward;
  }
  std::vector<Entry> entries;
  for (int kind = 0; kind < nodeKinds; ++kind)
    if (present[std::size_t(kind)]) entries.push_back({theme().kind(NodeKind(kind)), nodeKindName(NodeKind(kind))});
  if (blocks) entries.push_back({theme().accent, "Block"});
  if (gradients) entries.push_back({theme().warn, "Block of gradients"});
  if (std::ranges::any_of(scene.graph->nodes, &NodeDoc::backward)) entries.push_back({theme().accent, "Backward"});
  return entries;
}

std::vector<Entry> changeEntries(const Scene& scene, const ViewState& state) {
  std::vector<Entry> entries;
  if (!state.added.isEmpty()) entries.push_back({theme().good, "+ added"});
  if (!state.rewritten.isEmpty())
    entries.push_back({rewroteMost(scene, state) ? theme().faint : theme().warn, "~ rewritten"});
  if (scene.ghosts) entries.push_back({theme().bad, "− gone"});
  return entries;
}

std::vector<Entry> hullEntries(const Scene& scene, const ViewState& state) {
  if (!state.hulls || scene.shown == nullptr) return {};
  return {{HullPainter::colorOf(0), QString("%1 outlined").arg(plural(qint64(state.hulls->size()), "fusion group"))}};
}

std::vector<Entry> placementEntries(const Scene& scene, const ViewState& state) {
  if (!state.sharding) return {{theme().faint, "no placements are known"}};
  std::vector<int> nodes(state.sharding->kinds.size());
  for (const auto& node : scene.shown->nodes)
    if (const int kind = state.sharding->kindOf(node.name); kind >= 0) ++nodes[std::size_t(kind)];
  std::vector<Entry> entries;
  for (std::size_t kind = 0; kind < nodes.size(); ++kind)
    entries.push_back({placementColor(*state.sharding, int(kind)),
                       QString("%1 %2").arg(text(state.sharding->kinds[kind]), plural(nodes[kind], "node"))});
  if (std::ranges::any_of(state.sharding->nodes, [](const auto& node) { return node.cost > 0; }))
    entries.push_back({theme().warn, "moved between ranks"});
  return entries;
}

std::vector<Entry> accuracyEntries() {
  return {{theme().good, "well within the limit"},
          {theme().heat(0.3), "near the limit"},
          {theme().bad, "beyond the limit"},
          {theme().faint, "not measured"}};
}

}  // namespace

std::vector<LegendEntry> legendEntries(const Scene& scene, const ViewState& state) {
  auto entries = state.mode == ColorMode::Kind        ? kindEntries(scene)
                 : state.mode == ColorMode::Placement ? placementEntries(scene, state)
                                                      : accuracyEntries();
  for (const auto& more : {changeEntries(scene, state), hullEntries(scene, state)})
    entries.insert(entries.end(), more.begin(), more.end());
  return entries;
}

Legend::Legend(GraphWidget& view, QWidget* parent) : QWidget(parent), m_view(view) {
  setObjectName("legend");
  connect(&view, &GraphWidget::meaningChanged, this, &Legend::refresh);
}

QSize Legend::sizeHint() const { return {200, QFontMetrics(legendFont()).height() + 12}; }

void Legend::refresh() {
  m_entries = m_view.scene() ? legendEntries(*m_view.scene(), m_view.state()) : std::vector<LegendEntry>();
  QStringList labels;
  for (const auto& entry : m_entries) labels << entry.label;
  setAccessibleName(tr("Colours: %1").arg(labels.join(", ")));
  setToolTip(labels.join(", "));
  update();
}

void Legend::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) refresh();
  QWidget::changeEvent(event);
}

/// What there is no room for is in the tool tip.
void Legend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().base);
  painter.setPen(theme().border);
  painter.drawLine(0, 0, width(), 0);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(legendFont());
  const QFontMetricsF metrics(legendFont());
  const double middle = (height() + 1) / 2.0;
  double x = inset;
  for (const auto& entry : m_entries) {
    const double advance = metrics.horizontalAdvance(entry.label);
    painter.setPen(theme().muted);
    if (x + swatch + 6 + advance > width() - inset && &entry != &m_entries.front())
      return painter.drawText(QPointF(x, middle + metrics.ascent() / 2 - 1), "…");
    painter.drawText(QRectF(x + swatch + 6, 1, advance + 2, height() - 1), Qt::AlignLeft | Qt::AlignVCenter,
                     entry.label);
    painter.setPen(Qt::NoPen);
    painter.setBrush(entry.color);
    painter.drawRoundedRect(QRectF(x, middle - swatch / 2, swatch, swatch), 2, 2);
    x += swatch + 6 + advance + gap;
  }
}

}  // namespace kerf::ui::inline graph_view
