#include "app/workbench/issue.h"

#include <algorithm>
#include <charconv>

#include "app/workbench/exporting.h"
#include "app/workbench/line_diff.h"
#include "app/workbench/output_file.h"
#include "app/workbench/store_id.h"
#include "app/workbench/store_verdicts.h"
#include "engine/capture/repro/export_text.h"
#include "minifier/core/candidate.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "minifier/report/closest_passing.h"

namespace kerf::workbench {

namespace {

/// An oracle that is only remembered: it names the verdicts that the store has, and can be asked nothing.
class RememberedOracle : public Oracle {
 public:
  explicit RememberedOracle(std::string identity) : m_identity(std::move(identity)) {}
  Result<Verdict> judge(const Candidate&, std::stop_token) override {
    return fail(ErrorCode::BadUsage, "the oracle of a stored reduction is not asked again");
  }
  std::string identity() const override { return m_identity; }

 private:
  std::string m_identity;
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
  CandidateHasher hasher;
  const auto verdict = judge.cache.find(
      verdictKey(hasher.hash(candidate), judge.oracle.identity() + judge.oracle.circumstances(), judge.votes));
  return verdict ? verdict->detail : std::string();
}

/// "engine … plant=relu=accuracy … votes=3 …" of a stored reduction, taken apart.
struct StoredOracle {
  std::string identity, plant;
  int votes = 1;
};

StoredOracle takeApart(const std::string& text) {
  StoredOracle stored;
  const std::size_t votes = text.rfind(" votes=");
  stored.identity = text.substr(0, votes);
  if (votes != std::string::npos)
    (void)std::from_chars(text.data() + votes + 7, text.data() + text.size(), stored.votes);  // else it stays 1
  constexpr std::string_view mark = " plant=";
  const std::size_t plant = text.find(mark);
  if (plant == std::string::npos) return stored;
  const std::size_t begin = plant + mark.size();
  stored.plant = text.substr(begin, std::min(text.find(' ', begin), text.size()) - begin);
  return stored;
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
  const NeighbourJudge judge{searched.oracle, searched.known, searched.votes, searched.votes > 0 ? 8 : 0};
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

Result<std::optional<IssueFacts>> storedIssueFacts(Workbench& bench, GraphSource& source, const Job& job) {
  const auto id = parseStoreId(source.text);
  if (!id || (id->kind != 'm' && id->kind != 'p')) return std::nullopt;
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto reduction, reductionOf(*store, source.text));
  if (!reduction) return std::nullopt;
  KERF_TRY(const auto row, store->reduction(*reduction));
  KERF_TRY(const auto steps, store->steps(*reduction));
  const StoredOracle stored = takeApart(row.oracle);
  IssueFacts facts;
  facts.fingerprint = row.fingerprint;
  facts.oracle = stored.identity.substr(0, stored.identity.find(" ["));  // without Oracle::circumstances()
  facts.fault = stored.plant;
  facts.startNodes = row.startNodes;
  facts.nodes = int(source.graph().module.graph.size());
  facts.steps = int(steps.size());
  GraphSource copy = source;
  const auto inputs = prepareToRun(copy, job);
  if (!inputs) return facts;  // what cannot run has no neighbours that did
  RememberedOracle oracle(stored.identity);
  std::mutex mutex;
  StoreVerdicts verdicts(*store, mutex);
  const Candidate failing{copy.graph().module, *inputs};
  const NeighbourJudge judge{oracle, verdicts, stored.votes, 0};
  facts.detail = detailOf(failing, judge);
  facts.closest = differenceFrom(failing, judge, job.stop);
  return facts;
}

Result<std::string> issueAround(IssueFacts facts, const std::string& repro) {
  KERF_TRY(const auto capture, importRepro(repro, {}));
  const ReproEnvelope& envelope = capture.envelope;
  facts.repro = repro;
  facts.runner = envelope.runner;
  facts.versions = versionLines(envelope);
  facts.environment = envelope.environmentLines;
  facts.environment.insert(facts.environment.end(), envelope.configLines.begin(), envelope.configLines.end());
  const CapturedGraph& graph = capture.graphs.front();
  facts.hasStorages =
      std::ranges::any_of(graph.storages, [](const StorageRef& storage) { return !storage.hash.empty(); });
  return issueText(facts, graph.module);
}

Result<std::filesystem::path> exportIssue(GraphSource& source, const ExportTarget& target, const Job&) {
  if (!target.issue)
    return fail(ErrorCode::BadUsage, "{} is no minified failure; an issue is about a reduction (m3) or its repro (p4)",
                source.text);
  ExportOptions options;
  if (!target.issue->fault.empty()) options.accuracy = "False";  // PyTorch has no such fault
  KERF_TRY(const auto repro, exportText(source.capture, source.index, options));
  KERF_TRY(const auto text, issueAround(*target.issue, repro));
  KERF_CHECK(writeText(text, target.path));
  return target.path;
}

}  // namespace kerf::workbench
