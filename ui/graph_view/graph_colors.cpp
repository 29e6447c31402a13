#include "ui/graph_view/graph_colors.h"

#include "ui/graph_view/hull_painter.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

const NodeDivergence* accuracyOf(const NodeDoc& node, const ViewState& state) {
  return state.accuracy ? state.accuracy->find(node.name) : nullptr;
}

}  // namespace

QColor nodeColor(const NodeDoc& node, const ViewState& state) {
  if (state.mode == ColorMode::Kind) return theme().kind(node.kind);
  if (state.mode == ColorMode::Placement)
    return state.sharding ? placementColor(*state.sharding, state.sharding->kindOf(node.name)) : theme().faint;
  const auto* row = accuracyOf(node, state);
  if (!row) return theme().faint;
  return row->same ? theme().heat(std::min(row->ratioToLimit, 0.999)) : theme().bad;
}

QColor placementColor(const ShardingDoc& sharding, int kind) {
  if (kind < 0 || kind >= int(sharding.kinds.size()) || ShardingDoc::isReplicated(sharding.kinds[std::size_t(kind)]))
    return theme().faint;
  return HullPainter::colorOf(std::size_t(kind));
}

QColor quietEdge() { return blend(theme().muted, theme().canvas, theme().dark ? 0.62 : 0.75); }

bool isFirstBad(const NodeDoc& node, const ViewState& state) {
  const auto* row = accuracyOf(node, state);
  return row && row->firstBad;
}

}  // namespace kerf::ui::inline graph_view
