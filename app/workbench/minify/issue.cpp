#include "app/workbench/minify/issue.h"

#include <algorithm>

#include "app/workbench/captures/store_id.h"
#include "app/workbench/graphs/module_comparison.h"
#include "app/workbench/minify/search_identity.h"
#include "app/workbench/minify/store_verdicts.h"
#include "engine/support/atomic_file.h"
#include "engine/tensor/mapped_file.h"
#include "minifier/core/candidate.h"
#include "minifier/reductions/reductions.h"
#include "minifier/report/closest_passing.h"
#include "minifier/report/injected_fault.h"

namespace kerf::workbench {

namespace {

/// An oracle that is only remembered: it names the verdicts that the store has, and can be asked nothing.
class RememberedOracle : public Oracle {
 public:
  explicit RememberedOracle(SearchIdentity search) : m_search(std::move(search)) {}
  Result<Verdict> judge(const Candidate&, std::stop_token) override {
    return fail(ErrorCode::BadUsage, "the oracle of a stored reduction cannot be run again");
  }
  std::string identity() const override { return m_search.oracle; }
  std::string circumstances() const override { return m_search.circumstances; }

 private:
  SearchIdentity m_search;
};

std::optional<IssueDifference> differenceFrom(const Candidate& failing, const NeighbourJudge& judge,
                                              std::stop_token stop) {
  const auto reductions = allReductions();
  const auto found = closestPassing(failing, reductions, judge, stop);
  if (!found || !*found) return std::nullopt;
  const PassingNeighbour& passing = **found;
  return IssueDifference{passing.reduction, passing.description,
                         lineDiff(candidateText(passing.candidate), candidateText(failing))};
}

std::string detailOf(const Candidate& candidate, const NeighbourJudge& judge) {
  const auto verdict = judge.cache.find(VerdictKeys(judge.oracle, judge.rule).of(candidate));
  return verdict ? verdict->detail : std::string();
}

Result<std::optional<std::int64_t>> reductionOf(Store& store, const std::string& text) {
  const auto id = parseStoreId(text);
  if (id && id->kind == 'm') return id->number;
  if (!id || id->kind != 'p') return std::nullopt;
  KERF_TRY(const auto repro, store.repro(id->number));
  return repro.reductionId;
}

/// What PyTorch says of the machine: comments from "# torch version" on.
std::vector<std::string> versionLines(const ReproEnvelope& envelope) {
  const auto begin = std::ranges::find_if(
      envelope.headerLines, [](const std::string& line) { return line.starts_with("# torch version: "); });
  std::vector<std::string> lines;
  for (auto line = begin; line != envelope.headerLines.end() && (line->empty() || line->starts_with('#')); ++line)
    if (!line->empty()) lines.push_back(*line);
  return lines;
}

}  // namespace

IssueFacts issueFacts(const SearchedIssue& searched, std::stop_token stop) {
  const MinifyResult& result = searched.result;
  // Of a failure that does not always show, one pass says nothing.
  const NeighbourJudge judge{searched.oracle, searched.known, searched.rule, searched.rule.flakyStarts > 0 ? 0 : 8};
  IssueFacts facts;
  facts.fingerprint = result.fingerprint;
  facts.oracle = searched.oracle.identity();
  facts.detail = detailOf(result.candidate, judge);
  facts.nodes = int(result.candidate.module.graph.size());
  facts.startNodes = result.steps.empty() ? facts.nodes : int(result.steps.front().size.nodes);
  facts.judged = result.tests + result.cacheHits;
  facts.steps = int(result.steps.size());
  facts.oneMinimal = result.oneMinimal;
  facts.closest = differenceFrom(result.candidate, judge, stop);
  return facts;
}

Result<std::optional<IssueFacts>> storedIssueFacts(Workbench& bench, const GraphSource& source, const Job& job) {
  const auto id = parseStoreId(source.text);
  if (!id || (id->kind != 'm' && id->kind != 'p')) return std::nullopt;
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto reduction, reductionOf(*store, source.text));
  if (!reduction) return std::nullopt;
  KERF_TRY(const auto row, store->reduction(*reduction));
  KERF_TRY(const auto steps, store->steps(*reduction));
  const SearchIdentity search = SearchIdentity::parse(row.oracle);
  IssueFacts facts;
  facts.fingerprint = row.fingerprint;
  facts.oracle = search.oracle;
  facts.fault = search.plants();
  facts.startNodes = row.startNodes;
  facts.nodes = int(source.graph().module.graph.size());
  facts.steps = int(steps.size());
  const auto ready = runnable(source, job);
  if (!ready) return facts;  // what cannot run has no neighbours that did
  RememberedOracle oracle(search);
  std::mutex mutex;
  StoreVerdicts verdicts(*store, mutex);
  const Candidate failing{ready->graph().module, ready->inputs};
  const NeighbourJudge judge{oracle, verdicts, search.rule, 0};
  facts.detail = detailOf(failing, judge);
  facts.closest = differenceFrom(failing, judge, job.stop);
  return facts;
}

Result<StoredNeighbour> storedNeighbour(Workbench& bench, const GraphSource& source, const Job& job) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto reduction, reductionOf(*store, source.text));
  if (!reduction)
    return fail(ErrorCode::NotFound,
                "{} is not a minified graph: one edit away are those of a reduction (m3) or its repro "
                "(p4)",
                source.text);
  KERF_TRY(const auto row, store->reduction(*reduction));
  const SearchIdentity search = SearchIdentity::parse(row.oracle);
  KERF_TRY(const RunnableGraph ready, runnable(source, job));
  RememberedOracle oracle(search);
  std::mutex mutex;
  StoreVerdicts verdicts(*store, mutex);
  const Candidate failing{ready.graph().module, ready.inputs};
  const auto reductions = allReductions();
  StoredNeighbour neighbour{ready.graph().module, {}};
  KERF_TRY(neighbour.passing, closestPassing(failing, reductions, {oracle, verdicts, search.rule, 0}, job.stop));
  return neighbour;
}

Result<std::string> issueAround(IssueFacts facts, const std::string& repro) {
  KERF_TRY(const auto capture, importRepro(repro, {}));
  const ReproEnvelope& envelope = capture.envelope;
  facts.repro = repro;
  facts.injected = injectedFault(envelope);
  facts.fault = faultOfKerfAlone(facts.fault, envelope);
  facts.runner = envelope.runner;
  facts.versions = versionLines(envelope);
  facts.environment = envelope.environmentLines;
  facts.environment.insert(facts.environment.end(), envelope.configLines.begin(), envelope.configLines.end());
  const CapturedGraph& graph = capture.graphs.front();
  facts.hasStorages =
      std::ranges::any_of(graph.storages, [](const StorageRef& storage) { return !storage.hash.empty(); });
  return issueText(facts, graph.module);
}

Result<void> writeIssueBeside(IssueFacts facts, const std::filesystem::path& repro) {
  KERF_TRY(const auto file, mapFile(repro));
  const auto bytes = file->view();
  const std::string source(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  KERF_TRY(const auto text, issueAround(std::move(facts), source));
  return writeTextFile(text, repro.parent_path() / "issue.md");
}

}  // namespace kerf::workbench
