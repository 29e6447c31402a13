#include "ui/panels/cut_rows.h"

#include <unordered_set>

#include "ui/models/tables.h"

namespace kerf::ui::inline panels {

namespace {

/// Backward nodes that take a value; one that takes it through a call that is made again counts too.
std::vector<int> backwardUsers(const GraphDoc& graph, int node, const std::unordered_set<std::string>& recomputed) {
  std::vector<int> users;
  for (const int user : graph.nodes[std::size_t(node)].users) {
    const auto& doc = graph.nodes[std::size_t(user)];
    if (doc.opcode != "output" && (doc.backward || recomputed.contains(doc.name))) users.push_back(user);
  }
  return users;
}

}  // namespace

std::vector<CutRow> cutRows(const GraphDoc& graph, const workbench::PartitionDoc& cut) {
  std::vector<CutRow> rows;
  const std::unordered_set<std::string> recomputed(cut.recomputed.begin(), cut.recomputed.end());
  for (const auto& saved : cut.saved) {
    CutRow row{graph.find(saved.name),
               text(saved.name),
               text(saved.value),
               saved.bytes,
               0,
               savedReason(saved.rule),
               false,
               {}};
    if (cut.savedBytes > 0) row.share = double(saved.bytes) / double(cut.savedBytes);
    rows.push_back(std::move(row));
  }
  for (const auto& name : cut.recomputed) {
    CutRow row{graph.find(name), text(name), {}, 0, 0, QObject::tr("computed again"), true, {}};
    if (row.forward >= 0) row.value = text(graph.nodes[std::size_t(row.forward)].value);
    rows.push_back(std::move(row));
  }
  for (auto& row : rows)
    if (row.forward >= 0) row.users = backwardUsers(graph, row.forward, recomputed);
  std::ranges::stable_sort(rows, {},
                           [&](const CutRow& row) { return row.forward < 0 ? int(graph.nodes.size()) : row.forward; });
  return rows;
}

std::vector<int> counterparts(const GraphDoc& graph, int node) {
  std::vector<int> found;
  if (node < 0 || std::size_t(node) >= graph.nodes.size()) return found;
  const auto& chosen = graph.nodes[std::size_t(node)];
  if (chosen.backward) {
    if (const int forward = graph.find(chosen.forwardNode); forward >= 0) found.push_back(forward);
    return found;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].backward && graph.nodes[i].forwardNode == chosen.name) found.push_back(int(i));
  return found;
}

}  // namespace kerf::ui::inline panels
