#include "ui/models/placement_words.h"

#include <algorithm>

#include <QCoreApplication>

#include "ui/models/format.h"

namespace kerf::ui::inline models {
namespace {

QString sayPlaced(const char* words) { return QCoreApplication::translate("ShardingPanel", words); }

}  // namespace

std::vector<int> movedInputs(const GraphDoc& graph, const ShardingDoc& sharding,
                             const workbench::ShardedNodeDoc& node) {
  std::vector<int> found(node.moved.size(), -1);
  const int call = graph.find(node.name);
  if (call < 0) return found;
  for (std::size_t i = 0; i < node.moved.size(); ++i) {
    std::vector<int> inputs;
    for (const int input : graph.nodes[std::size_t(call)].inputs) {
      const auto* placed = sharding.find(graph.nodes[std::size_t(input)].name);
      if (placed && placed->placements == node.moved[i].from) inputs.push_back(input);
    }
    const auto alike = [&](const auto& moved) { return moved.from == node.moved[i].from; };
    const auto moves = std::ranges::count_if(node.moved, alike);
    const auto before = std::count_if(node.moved.begin(), node.moved.begin() + std::ptrdiff_t(i), alike);
    if (std::ssize(inputs) == moves) found[i] = inputs[std::size_t(before)];
  }
  return found;
}

QStringList whyPlaced(const GraphDoc& graph, const ShardingDoc& sharding, const workbench::ShardedNodeDoc& node) {
  const auto name = text(node.name), target = text(node.target), placements = text(node.placements);
  if (node.target == "placeholder") return {sayPlaced("%1 is an input, placed as %2").arg(name, placements)};
  QStringList said{sayPlaced("%1 = %2 is placed as %3").arg(name, target, placements)};
  if (node.calls.empty()) return said;
  said << sayPlaced("it runs %1 on parts").arg(texts(node.calls).join(", "));
  const auto inputs = movedInputs(graph, sharding, node);
  for (std::size_t i = 0; i < node.moved.size(); ++i) {
    const auto operand = inputs[i] < 0 ? sayPlaced("an operand")
                                       : sayPlaced("operand %1").arg(text(graph.nodes[std::size_t(inputs[i])].name));
    said << sayPlaced("%1 goes from %2 to %3: %4")
                .arg(operand, text(node.moved[i].from), text(node.moved[i].to), formatMicroseconds(node.moved[i].cost));
  }
  said << (node.moved.empty()
               ? sayPlaced("its operands stay where they are: of all strategies this one moves nothing")
               : sayPlaced("of all strategies this one moves least: %1 in all").arg(formatMicroseconds(node.cost)));
  return said;
}

}  // namespace kerf::ui::inline models
