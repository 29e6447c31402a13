#include "app/workbench/minify/triage_case.h"

#include <algorithm>

namespace kerf::workbench {

namespace {

using By = BisectRequest::By;
using State = TriagedGraph::State;

constexpr State stateOf(JudgeAnswer::Verdict verdict) {
  constexpr State states[] = {State::Passes, State::Fails, State::FailsDifferently, State::CannotTest};
  return states[std::size_t(verdict)];
}

Result<void> unlessStopped(const Job& job) {
  if (job.stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped");
  return {};
}

void addOnce(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

/// Whether these are the engine's passes: PyTorch's own bisector goes to its passes by itself.
bool blamesPasses(const Bisection& found, const OracleSettings& oracle) {
  return oracle.oracle == "engine" &&
         std::ranges::any_of(found.culprits, [](const std::string& part) { return part.ends_with(" passes"); });
}

}  // namespace

/// A fault that finds no place in a graph is an error for one graph; of many, some have no place for it.
Result<JudgeAnswer> TriageSteps::verdictOfPlaced(TriageCase& one, const Job& job) {
  std::vector<std::string> placed;
  for (const auto& plant : m_request.oracle.plants) {
    auto alone = one.oracle;
    alone.plants = {plant};
    const auto judged = m_remote.perform(JudgeRequest{one.place, alone}, job);
    if (judged) placed.push_back(plant);
  }
  one.oracle.plants = placed;
  return verdictInTurns(one, job);
}

/// Of a failure that does not always show, one is proof.
Result<JudgeAnswer> TriageSteps::verdictInTurns(const TriageCase& one, const Job& job) {
  const JudgeRequest request{one.place, one.oracle, m_request.match};
  auto judged = m_remote.perform(request, job);
  for (int asked = 1; asked < m_request.flaky && judged && judged->verdict == JudgeAnswer::Verdict::Passes; ++asked)
    judged = m_remote.perform(request, job);
  return judged;
}

Result<JudgeAnswer> TriageSteps::verdict(TriageCase& one, const Job& job) {
  auto judged = verdictInTurns(one, job);
  if (judged || judged.error().code != ErrorCode::BadUsage || one.oracle.plants.empty()) return judged;
  return verdictOfPlaced(one, job);
}

Result<void> TriageSteps::judge(TriagedGraph& row, TriageCase& one, const Job& job) {
  const auto judged = verdict(one, job);
  KERF_CHECK(unlessStopped(job));
  if (!judged) {
    row.state = State::CannotTest;
    row.detail = judged.error().text();
    if (!m_problem) m_problem = judged.error();
    return {};
  }
  row.state = stateOf(judged->verdict);
  row.fingerprint = judged->fingerprint;
  row.detail = judged->detail;
  return {};
}

Result<void> TriageSteps::minify(TriagedGraph& row, TriageCase& one, const std::filesystem::path& folder,
                                 const Job& job) {
  MinifyRequest request{.graph = one.place, .oracle = one.oracle, .jobs = m_request.jobs};
  request.output = folder.string();
  request.maxTests = m_request.maxTests;
  request.maxTime = m_request.maxTime;
  request.fresh = m_request.fresh;
  request.match = m_request.match;
  request.flaky = m_request.flaky;
  const auto minified = m_remote.perform(request, job);
  if (!minified) {
    row.trouble = minified.error().text();
    return unlessStopped(job);
  }
  row.reduction = minified->reductionId;
  row.startNodes = minified->startNodes;
  row.nodes = minified->nodes;
  row.tests = minified->tests;
  row.oneMinimal = minified->oneMinimal;
  row.trouble = minified->cancelled ? "stopped" : minified->stoppedBy.empty() ? "" : "ended by " + minified->stoppedBy;
  if (!minified->fingerprint.empty()) row.fingerprint = minified->fingerprint;
  if (!minified->repro.empty()) {
    one.repro = minified->repro;
    one.place = {one.repro.string()};
  }
  return unlessStopped(job);
}

/// As the case was judged: its graph as it is, without decompositions.
Result<Bisection> TriageSteps::bisectBy(By by, const TriageCase& one, const OracleSettings& oracle, const Job& job) {
  BisectRequest request;
  request.graph = one.place;
  request.by = by;
  request.plants = oracle.plants;
  request.passes = oracle.passes;
  request.tolerance = oracle.tolerance;
  request.accuracy = oracle.accuracy;
  request.timeout = oracle.timeout;
  request.limits = oracle.limits;
  request.oracle = oracle.oracle;
  request.python = oracle.python;
  request.torchCheck = oracle.torchCheck;
  request.warmJobs = oracle.warmJobs;
  return m_remote.perform(request, job);
}

void TriageSteps::addParts(TriagedGraph& row, const TriageCase& one, const OracleSettings& oracle, const Job& job) {
  const auto parts = bisectBy(By::Subsystem, one, oracle, job);
  if (!parts) {
    row.trouble = "not bisected: " + parts.error().text();
    return;
  }
  row.culprits = parts->culprits;
  if (parts->different && parts->culprits.empty()) row.trouble = "not bisected: " + parts->note;
  if (!blamesPasses(*parts, oracle)) return;
  const auto passes = bisectBy(By::Pass, one, oracle, job);
  if (!passes) return;
  for (const auto& pass : passes->culprits) row.culprits.push_back("pass " + pass);
}

/// Ops instead of the nodes, whose names are other ones in every graph.
void TriageSteps::addNodes(TriagedGraph& row, const TriageCase& one, const OracleSettings& oracle,
                           const GraphDoc& graph, const Job& job) {
  const auto nodes = bisectBy(By::Node, one, oracle, job);
  if (!nodes) return;
  for (const auto& name : nodes->culprits) {
    const int node = graph.find(name);
    addOnce(row.culprits, node < 0 ? name : graph.nodes[std::size_t(node)].target);
  }
}

Result<void> TriageSteps::bisect(TriagedGraph& row, const TriageCase& one, const Job& job) {
  const auto graph = m_remote.perform(GraphRequest{one.place, -1, {}}, job);
  KERF_CHECK(unlessStopped(job));
  if (!graph) return {};
  row.ops = (*graph)->ops;
  if (one.oracle.oracle == "command") return {};  // it judges files, and knows no parts
  TriageCase smallest = one;
  if (one.oracle.plants.size() > 1) (void)verdict(smallest, job);  // cut down, the graph may have room for fewer faults
  addParts(row, smallest, smallest.oracle, job);
  KERF_CHECK(unlessStopped(job));
  if (one.oracle.oracle == "engine") addNodes(row, smallest, smallest.oracle, **graph, job);
  return unlessStopped(job);
}

}  // namespace kerf::workbench
