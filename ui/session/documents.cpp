#include "ui/session/documents.h"

#include <QRegularExpression>

namespace kerf::ui::inline session {

bool isStoreName(const QString& text) {
  static const QRegularExpression name("^[cmp]\\d+(/(g|slip)\\d+)?(@(pass|step):.+)?$");
  return name.match(text).hasMatch();
}

bool CaptureDoc::isStored() const { return name != path && isStoreName(QString::fromStdString(name)); }

void TraceLogDoc::afterReading() {
  const auto* lines = table("triton-lines");
  for (std::size_t row = 0; lines && row < lines->rows.size(); ++row)
    kernelLines[lines->rows[row].record].push_back(int(row));
}

QStringList TraceLogDoc::remarksOf(const std::string& id, int rank) const {
  QStringList said;
  for (const auto& remark : remarks)
    if (remark.id == id && remark.rank == rank) said << session::text(remark.text);
  return said;
}

namespace {

/// By node: it is computed from nothing that the graph is given or draws.
std::vector<char> constantNodes(const GraphDoc& graph) {
  std::vector<char> constant(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    const auto isConstant = [&](int input) { return constant[std::size_t(input)] != 0; };
    constant[i] = node.kind != NodeKind::Input && node.kind != NodeKind::Parameter && node.kind != NodeKind::Random &&
                  std::ranges::all_of(node.inputs, isConstant);
  }
  return constant;
}

}  // namespace

void AccuracyDoc::afterReading() {
  for (std::size_t i = 0; i < nodes.size(); ++i) nodeIndex.emplace(nodes[i].node, int(i));
  for (std::size_t i = 0; i < values.size(); ++i) figuresIndex.emplace(values[i].node, int(i));
}

std::vector<int> AccuracyDoc::withOddity(const GraphDoc& graph, Oddity oddity) const {
  const auto isOdd = [oddity](const workbench::SideFigures& side) {
    const auto& figures = side.figures;
    return oddity == Oddity::NaN ? figures.nans > 0 : figures.positiveInfinities + figures.negativeInfinities > 0;
  };
  const auto constant = constantNodes(graph);
  std::vector<int> places;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (const auto* row = figuresOf(graph.nodes[i].name); row && !constant[i] && std::ranges::any_of(row->sides, isOdd))
      places.push_back(int(i));
  return places;
}

OddNodes AccuracyDoc::odd(const GraphDoc& graph) const {
  OddNodes odd;
  const auto constant = constantNodes(graph);
  std::string firstPartly;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    const auto* row = find(node.name);
    if (!row || constant[i] || row->finite >= row->elements) continue;
    odd.places.push_back(int(i));
    ++(row->nothingFinite() ? odd.wholly : odd.partly);
    auto& first = row->nothingFinite() ? odd.first : firstPartly;
    if (first.empty()) first = node.name;
  }
  if (odd.first.empty()) odd.first = firstPartly;
  return odd;
}

}  // namespace kerf::ui::inline session
