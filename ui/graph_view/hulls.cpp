#include "ui/graph_view/hulls.h"

#include <QSet>

#include "ui/session/session.h"

namespace kerf::ui::inline graph_view {
namespace {

using NameList = std::vector<std::string>;

/// A node is in the first group that names it: what two kernels compute once each is drawn once.
class Collector {
 public:
  explicit Collector(const GraphDoc& graph) : m_graph(graph) {}

  void add(const std::string& title, const NameList& names) {
    NodeHull hull{text(title), {}};
    for (const auto& name : names)
      if (const int node = m_graph.find(name); node >= 0 && !m_taken.contains(node)) {
        m_taken.insert(node);
        hull.nodes.push_back(node);
      }
    m_found += int(hull.nodes.size());
    if (hull.nodes.size() > 1) m_hulls.push_back(std::move(hull));
  }
  /// Nodes that are in some group.
  int found() const { return m_found; }
  HullsPtr hulls() { return std::make_shared<const std::vector<NodeHull>>(std::move(m_hulls)); }

 private:
  const GraphDoc& m_graph;
  std::vector<NodeHull> m_hulls;
  QSet<int> m_taken;
  int m_found = 0;
};

/// Groups of this compile id by what they call their nodes; those before fusion are no kernels yet.
HullsPtr recordedBy(const GraphDoc& graph, const std::vector<FusionRow>& rows, const std::string& compileId,
                    NameList FusionRow::* names) {
  Collector collector(graph);
  std::size_t named = 0;
  for (const auto& row : rows) {
    if (row.kernel.empty() || (!compileId.empty() && !row.compileId.empty() && row.compileId != compileId)) continue;
    named += (row.*names).size();
    collector.add(row.kernel, row.*names);
  }
  // Of another graph a few names are the same by chance.
  const bool ofThisGraph = named > 0 && std::size_t(collector.found()) * 2 > named;
  return ofThisGraph ? collector.hulls() : nullptr;
}

HullsPtr recordedHulls(const Session& session) {
  const auto& place = session.location();
  const auto capture = session.capture(place.capture);
  const auto rows = capture ? session.fusion(place.capture) : nullptr;
  if (!rows || place.stage != Location::Stage::Captured || !place.aotStage.empty() || !place.body.empty())
    return nullptr;
  const auto at = std::size_t(place.graph);
  const auto compileId = at < capture->graphs.size() ? capture->graphs[at].compileId : std::string();
  for (const auto names : {&FusionRow::postGradNodes, &FusionRow::preGradNodes})
    if (auto hulls = recordedBy(*session.graph(), *rows, compileId, names)) return hulls;
  return nullptr;
}

}  // namespace

HullsPtr fusionHulls(const Session& session) {
  const auto graph = session.graph();
  if (!graph) return nullptr;
  if (auto recorded = recordedHulls(session)) return recorded;
  const auto compiled = session.compiled();
  if (!compiled) return nullptr;
  const bool captured = session.location().stage == Location::Stage::Captured;
  Collector collector(*graph);
  for (const auto& kernel : compiled->kernels)
    collector.add(kernel.name, captured ? kernel.capturedNodes : kernel.nodes);
  return collector.hulls();
}

}  // namespace kerf::ui::inline graph_view
