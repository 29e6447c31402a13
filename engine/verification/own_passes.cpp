#include "engine/verification/own_passes.h"

#include <algorithm>
#include <map>

#include "engine/passes/manager/pass_manager.h"

namespace kerf::inline verification {
namespace {

struct RecordedPasses {
  std::string_view before, after;  ///< names that PyTorch gives the graphs
  PassStage stage;
  std::string_view title;
};
constexpr RecordedPasses recordedPasses[] = {
    {"before_pre_grad_graph", "after_pre_grad_graph", PassStage::PreGrad, "pre-grad"},
    {"before_joint_graph", "after_joint_graph", PassStage::Joint, "joint"},
    {"before_post_grad_graph", "inductor_post_grad_graph", PassStage::PostGrad, "post-grad"},
    {"before_post_grad_graph", "after_post_grad_graph", PassStage::PostGrad, "post-grad"},
};

std::map<std::string, int> callsOf(const Graph& graph) {
  std::map<std::string, int> calls;
  for (const NodeId id : graph.order())
    if (graph.node(id).op() == Opcode::CallFunction) ++calls[canonicalOpName(graph.node(id).target())];
  return calls;
}

std::vector<OwnOpCount> differentCalls(const Graph& recorded, const Graph& own) {
  std::map<std::string, OwnOpCount> all;
  for (const auto& [op, count] : callsOf(recorded)) all[op].recorded = count;
  for (const auto& [op, count] : callsOf(own)) all[op].own = count;
  std::vector<OwnOpCount> different;
  for (auto& [op, counts] : all)
    if (counts.recorded != counts.own) different.push_back({op, counts.recorded, counts.own});
  return different;
}

class OwnStages {
 public:
  OwnStages(Capture& capture, StagePlan& plan, std::vector<Pass> passes)
      : m_capture(capture), m_plan(plan), m_passes(std::move(passes)) {}

  Result<std::vector<OwnPasses>> run() {
    m_plan.pairs.clear();
    for (const UnreadStage& unread : m_plan.unread)
      m_plan.notes.push_back(fmt::format("{} cannot be read: {}", unread.name, unread.why));
    m_plan.unread.clear();
    const std::size_t recorded = m_plan.stages.size();
    for (std::size_t before = 0; before < recorded; ++before)
      for (const RecordedPasses& passes : recordedPasses) {
        if (kind(before) != passes.before) continue;
        if (const std::size_t after = behind(before, passes.after); after < recorded) {
          KERF_CHECK(add(before, after, passes));
          break;
        }
      }
    return std::move(m_made);
  }

 private:
  const CapturedGraph& graph(std::size_t stage) const { return m_capture.graphs[m_plan.stages[stage].graph]; }
  const std::string& kind(std::size_t stage) const { return graph(stage).origin.stage; }

  /// The next stage of that name and part, before another one begins as `before` does; past the end if there is none.
  std::size_t behind(std::size_t before, std::string_view name) const {
    for (std::size_t i = before + 1; i < m_plan.stages.size(); ++i) {
      if (m_plan.stages[i].part != m_plan.stages[before].part) continue;
      if (kind(i) == name) return i;
      if (kind(i) == kind(before)) break;
    }
    return m_plan.stages.size();
  }

  Result<void> add(std::size_t before, std::size_t after, const RecordedPasses& passes) {
    std::vector<Pass> chosen;
    std::ranges::copy_if(m_passes, std::back_inserter(chosen),
                         [&](const Pass& pass) { return pass.stage == passes.stage; });
    KERF_TRY(GraphModule module, PassManager(std::move(chosen)).run(graph(before).module));
    CapturedGraph own = graph(before);
    own.name = fmt::format("{} by Kerf's {} passes", graph(before).name, passes.title);
    own.module = std::move(module);
    m_made.push_back({.before = graph(before).name,
                      .recorded = graph(after).name,
                      .own = own.name,
                      .nodesBefore = graph(before).module.graph.size(),
                      .nodesRecorded = graph(after).module.graph.size(),
                      .nodesOwn = own.module.graph.size(),
                      .ops = differentCalls(graph(after).module.graph, own.module.graph)});
    Stage stage = m_plan.stages[before];
    stage.graph = m_capture.graphs.size();
    stage.name = own.name;
    m_capture.graphs.push_back(std::move(own));
    m_plan.stages.push_back(std::move(stage));
    m_plan.pairs.push_back({after, {m_plan.stages.size() - 1}});
    return {};
  }

  Capture& m_capture;
  StagePlan& m_plan;
  std::vector<Pass> m_passes;
  std::vector<OwnPasses> m_made;
};

}  // namespace

Result<std::vector<OwnPasses>> addOwnPasses(Capture& capture, StagePlan& plan, std::vector<Pass> passes) {
  return OwnStages(capture, plan, std::move(passes)).run();
}

}  // namespace kerf::inline verification
