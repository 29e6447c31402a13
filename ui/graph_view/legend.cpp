#include "ui/graph_view/legend.h"

#include <algorithm>
#include <bitset>

#include "ui/graph_view/graph_painter.h"
#include "ui/graph_view/hull_painter.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

constexpr double inset = 12, boxHeight = 26, swatch = 9, gap = 14;

struct Entry {
  QColor color;
  QString label;
};

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

std::vector<Entry> accuracyEntries() {
  return {{theme().good, "well within the limit"},
          {theme().heat(0.3), "near the limit"},
          {theme().bad, "beyond the limit"},
          {theme().faint, "not measured"}};
}

}  // namespace

void paintLegend(QPainter& painter, const QRect& view, const Scene& scene, const ViewState& state) {
  auto entries = state.mode == ColorMode::Kind ? kindEntries(scene) : accuracyEntries();
  const auto changes = changeEntries(scene, state);
  entries.insert(entries.end(), changes.begin(), changes.end());
  const auto hulls = hullEntries(scene, state);
  entries.insert(entries.end(), hulls.begin(), hulls.end());
  QFont font = interfaceFont();
  font.setPixelSize(11);
  const QFontMetricsF metrics(font);
  double width = gap;
  for (const auto& entry : entries) width += swatch + 6 + metrics.horizontalAdvance(entry.label) + gap;
  if (width > view.width() - 180) return;
  const QRectF box(inset + 0.5, view.height() - inset - boxHeight + 0.5, width - 1, boxHeight - 1);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(theme().border);
  painter.setBrush(theme().base);
  painter.drawRoundedRect(box, 6, 6);
  painter.setFont(font);
  double x = box.left() + gap - 4;
  for (const auto& entry : entries) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(entry.color);
    painter.drawRoundedRect(QRectF(x, box.center().y() - swatch / 2, swatch, swatch), 2, 2);
    x += swatch + 6;
    painter.setPen(theme().muted);
    const double advance = metrics.horizontalAdvance(entry.label);
    painter.drawText(QRectF(x, box.top(), advance + 2, box.height()), Qt::AlignLeft | Qt::AlignVCenter, entry.label);
    x += advance + gap;
  }
}

}  // namespace kerf::ui::inline graph_view
