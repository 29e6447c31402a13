// The table of what the values of all nodes are like.
#include <algorithm>
#include <array>

#include "ui/models/format.h"
#include "ui/models/spark.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline models {
namespace {

using workbench::NodeFigures, workbench::ValueFigures;

/// Inputs that were made up stand where recorded ones would.
struct FigureSide {
  const char *side, *title, *instead;
};
constexpr std::array figureSides{FigureSide{"interpreter", "Interpreter", ""}, FigureSide{"compiled", "Compiled", ""},
                                 FigureSide{"fp64", "fp64 reference", ""},
                                 FigureSide{"recorded", "Recorded", "made up"}};

const ValueFigures* figuresOn(const NodeFigures& row, const FigureSide& side) {
  for (const char* name : {side.side, side.instead})
    if (const auto found = std::ranges::find(row.sides, name, &workbench::SideFigures::side); found != row.sides.end())
      return &found->figures;
  return nullptr;
}

QString sideText(const NodeFigures& row, const FigureSide& side) {
  const auto* figures = figuresOn(row, side);
  if (figures == nullptr) return "–";
  const auto odd = oddText(*figures);
  return odd.isEmpty() ? rangeText(*figures) : rangeText(*figures) + "  " + odd;
}

QVariant sideLook(const NodeFigures& row, const FigureSide& side, int role) {
  const auto* figures = figuresOn(row, side);
  if (figures == nullptr) return role == Qt::ForegroundRole ? QVariant(theme().muted) : QVariant();
  if (role == Qt::ForegroundRole && figures->finite < figures->elements) return theme().bad;
  if (role == Qt::DecorationRole && !figures->histogram.empty()) return sparkImage(*figures, QSize(48, 16), 1);
  if (role == Qt::ToolTipRole)
    return QString("mean %1, std %2, %3, %4 zeros")
        .arg(figures->mean, 0, 'g', 5)
        .arg(figures->deviation, 0, 'g', 5)
        .arg(plural(figures->elements, "element"), formatCount(figures->zeros));
  return {};
}

}  // namespace

std::unique_ptr<FiguresModel> makeFiguresModel() {
  std::vector<Column<NodeFigures>> columns{{"Node", [](const NodeFigures& row) { return text(row.node); }}};
  for (const FigureSide& side : figureSides)
    columns.push_back({side.title, [&side](const NodeFigures& row) { return sideText(row, side); },
                       [&side](const NodeFigures& row) {
                         const auto* figures = figuresOn(row, side);
                         return QVariant(figures ? figures->maximum : 0.0);
                       },
                       false, [&side](const NodeFigures& row, int role) { return sideLook(row, side, role); }});
  return std::make_unique<FiguresModel>(std::move(columns));
}

}  // namespace kerf::ui::inline models
