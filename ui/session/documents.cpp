#include "ui/session/documents.h"

namespace kerf::ui::inline session {

QStringList TraceLogDoc::remarksOf(const std::string& id, int rank) const {
  QStringList said;
  for (const auto& remark : remarks)
    if (remark.id == id && remark.rank == rank) said << session::text(remark.text);
  return said;
}

OddNodes AccuracyDoc::odd(const GraphDoc& graph) const {
  OddNodes odd;
  std::vector<char> constant(graph.nodes.size(), 0);
  std::string firstPartly;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    const auto isConstant = [&](int input) { return constant[std::size_t(input)] != 0; };
    constant[i] = node.kind != NodeKind::Input && node.kind != NodeKind::Parameter && node.kind != NodeKind::Random &&
                  std::ranges::all_of(node.inputs, isConstant);
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
