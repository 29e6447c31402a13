#include "app/workbench/run/value_figures.h"

#include <algorithm>

#include "app/workbench/run/recorded_value.h"

namespace kerf::workbench {

namespace {

constexpr std::size_t mostSteps = 32;  ///< of a histogram of one among many nodes
/// Looking at more elements would need more memory than comparing them: there are two copies, one of them in fp64.
constexpr std::int64_t mostElements = std::int64_t(1) << 26;

/// Every two steps become one, until few are left.
void coarsen(std::vector<std::int64_t>& histogram) {
  while (histogram.size() > mostSteps) {
    for (std::size_t i = 0; i + 1 < histogram.size(); i += 2) histogram[i / 2] = histogram[i] + histogram[i + 1];
    histogram.resize(histogram.size() / 2);
  }
}

void add(std::vector<SideFigures>& sides, std::string_view side, const Value& value) {
  if (!value.isTensor() || value.tensor().numel() > mostElements) return;
  const auto view = TensorView::of(value.tensor());
  if (!view) return;
  sides.push_back({std::string(side), figuresDoc(view->figures())});
  coarsen(sides.back().figures.histogram);
}

}  // namespace

ValueFigures figuresDoc(TensorFigures of) {
  return {of.elements, of.finite,  of.nans, of.positiveInfinities, of.negativeInfinities,  of.zeros, of.subnormals,
          of.minimum,  of.maximum, of.mean, of.deviation,          std::move(of.histogram)};
}

std::vector<SideFigures> sideFigures(std::initializer_list<std::pair<std::string_view, const Value*>> sides) {
  std::vector<SideFigures> figures;
  for (const auto& [side, value] : sides) add(figures, side, *value);
  return figures;
}

std::vector<NodeFigures> givenFigures(const RunnableGraph& source) {
  std::vector<NodeFigures> figures;
  const RecordedSide recorded;
  const auto placeholders = source.graph().module.graph.placeholders();
  for (const NodeId id : source.graph().module.graph.order()) {
    const Node& node = source.graph().module.graph.node(id);
    if (node.op() != Opcode::Placeholder && node.op() != Opcode::GetAttr) continue;
    NodeFigures row{node.name(), {}};
    if (const auto known = recorded.find(source, id)) {
      add(row.sides, "recorded", known->value);
    } else if (node.op() == Opcode::Placeholder) {
      const auto place = std::size_t(std::ranges::find(placeholders, id) - placeholders.begin());
      if (place < source.inputs.size()) add(row.sides, "made up", source.inputs[place]);
    } else if (const TensorAttribute* const attribute = source.graph().module.attribute(node.target())) {
      add(row.sides, "made up", Value(attribute->tensor));
    }
    if (!row.sides.empty()) figures.push_back(std::move(row));
  }
  return figures;
}

void addExpectedFigures(const RunnableGraph& source, std::vector<NodeFigures>& figures) {
  const auto recorded = RecordedSide::of(source, {});
  if (!recorded || recorded->path().empty()) return;
  for (NodeFigures& row : figures) {
    if (std::ranges::find(row.sides, "recorded", &SideFigures::side) != row.sides.end()) continue;
    const auto node = source.graph().module.graph.find(row.node);
    if (!node) continue;
    if (const auto known = recorded->find(source, *node)) add(row.sides, "recorded", known->value);
  }
}

}  // namespace kerf::workbench
