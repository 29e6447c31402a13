#include "ui/graph_view/graph_colors.h"

#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

const NodeDivergence* accuracyOf(const NodeDoc& node, const ViewState& state) {
  return state.accuracy ? state.accuracy->find(node.name) : nullptr;
}

}  // namespace

QColor nodeColor(const NodeDoc& node, const ViewState& state) {
  if (state.mode == ColorMode::Kind) return theme().kind(node.kind);
  const auto* row = accuracyOf(node, state);
  if (!row) return theme().faint;
  return row->same ? theme().heat(std::min(row->ratioToLimit, 0.999)) : theme().bad;
}

QColor quietEdge() { return blend(theme().muted, theme().canvas, theme().dark ? 0.62 : 0.75); }

bool isFirstBad(const NodeDoc& node, const ViewState& state) {
  const auto* row = accuracyOf(node, state);
  return row && row->firstBad;
}

}  // namespace kerf::ui::inline graph_view
