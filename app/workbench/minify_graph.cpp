// A minification from the graph to the checked repro: search, store, resume, export, and a last check in a fresh
// process.
#include "app/workbench/checkpoints.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/failure_choice.h"
#include "app/workbench/issue.h"
#include "app/workbench/oracle_choice.h"
#include "app/workbench/output_file.h"
#include "app/workbench/protocol/job_control.h"
#include "app/workbench/protocol/remote_workbench.h"
#include "app/workbench/recorded_settings.h"
#include "app/workbench/reduction_log.h"
#include "app/workbench/store_id.h"
#include "app/workbench/store_verdicts.h"
#include "app/workbench/torch_confirmation.h"
#include "engine/capture/repro/allowed_calls.h"
#include "engine/process/temporary_folder.h"
#include "engine/tensor/mapped_file.h"
#include "minifier/core/minify_control.h"
#include "minifier/reductions/reductions.h"
#include "minifier/report/minify_report.h"

namespace kerf::workbench {

namespace {

using Clock = std::chrono::steady_clock;
using ReproPlace = MinifyRequest::ReproPlace;

/// Fingerprint that a fresh kerf finds in the written repro under the same oracle.
Result<Verdict> recheck(Workbench& bench, const OracleSettings& oracle, const std::filesystem::path& repro,
                            const Job& job) {
  RemoteWorkbench fresh(bench.options().program, bench.options().store);
  KERF_TRY(const auto judged, fresh.perform(JudgeRequest{{repro.string()}, oracle}, {{}, job.stop}));
  return Verdict{.kind = VerdictKind(judged.verdict), .fingerprint = judged.fingerprint, .detail = judged.detail};
}

/// The oracle's verdict on a graph as it is opened from a file or the store.
Result<Verdict> judgeGraph(Oracle& oracle, GraphSource& source, const Job& job) {
  KERF_TRY(auto inputs, prepareToRun(source, job));
  KERF_TRY(auto module, moduleToCompare(source));
  return oracle.judge({std::move(module), std::move(inputs)}, job.stop);
}

/// What PyTorch finds in the written repro: each query is a process that knows nothing of the search.
Result<Verdict> recheckWith(Workbench& bench, Oracle& oracle, const std::filesystem::path& repro, const Job& job) {
  KERF_TRY(auto source, resolveGraph(bench, {repro.string()}, job));
  return judgeGraph(oracle, source, job);
}

/// run_repro's accuracy= for this failure; none where the capture's own is right, or nothing is known of the failure.
std::optional<std::string> accuracyFor(std::string_view fingerprint, const ReproEnvelope& envelope) {
  constexpr std::string_view known[] = {"accuracy", "compile", "run", "crash", "hang"};
  const bool isKnown = std::ranges::any_of(known, [&](std::string_view start) { return fingerprint.starts_with(start); });
  if (!isKnown) return std::nullopt;
  const std::string wanted = accuracyOption(fingerprint);
  const auto said = std::ranges::find(envelope.runOptions, "accuracy", &std::pair<std::string, std::string>::first);
  const bool isOn = said != envelope.runOptions.end() && said->second != "False" && said->second != "None";
  if (wanted == "True" && isOn) return std::nullopt;  // 'strict_accuracy' stays
  return wanted;
}

/// Other inputs are another search; the usual ones are not mentioned, so that older reductions are found again.
std::string inputsIdentity(const GraphAddress& graph) {
  const bool usual = graph.inputs == GraphAddress::usualInputs && graph.seed == GraphAddress::usualSeed;
  return usual ? std::string() : fmt::format(" inputs={} seed={}", graph.inputs, graph.seed);
}

/// So is a search that judges in another way, or that must keep nodes.
std::string searchIdentity(const MinifyRequest& request) {
  std::string text = request.flaky > 0 ? fmt::format(" flaky={}", request.flaky) : "";
  return request.pins.empty() ? text : text + fmt::format(" pins={}", fmt::join(request.pins, ","));
}

/// While it lives, what a person wishes of the job is passed on to its search.
class Controlled {
 public:
  explicit Controlled(const Job& job) : m_job(job.control) {
    if (m_job) m_job->listen([this](const ControlMessage& message) { obey(message); });
  }
  ~Controlled() {
    if (m_job) m_job->listen({});
  }
  Controlled(const Controlled&) = delete;
  Controlled& operator=(const Controlled&) = delete;
  /// Null where nobody can wish anything: to be able to go back costs the memory of all steps.
  MinifyControl* search() { return m_job ? &m_search : nullptr; }

 private:
  void obey(const ControlMessage& message) {
    if (message.wish == ControlMessage::Wish::Undo) return m_search.undoTo(message.step);
    return message.wish == ControlMessage::Wish::Pause ? m_search.pause() : m_search.resume();
  }
  std::shared_ptr<JobControl> m_job;
  MinifyControl m_search;
};

/// One minification: everything that its steps share.
class Minification {
 public:
  Minification(Workbench& bench, GraphSource source, const MinifyRequest& request, const Job& job)
      : m_bench(bench), m_source(std::move(source)), m_request(request), m_job(job) {}

  Result<Minified> run() {
    const auto start = Clock::now();
    KERF_CHECK(prepare());
    KERF_TRY(auto candidate, startCandidate());
    auto result = search(std::move(candidate));
    if (!result) {
      (void)m_log->finish("interrupted", 0);  // the search's own error is the one to report
      return fail(std::move(result.error()));
    }
    KERF_CHECK(conclude(*result));
    m_outcome.time = Clock::now() - start;
    return std::move(m_outcome);
  }

 private:
  Result<void> prepare() {
    takeRecordedEnvironment(m_source);
    if (!m_request.checkpoints.empty()) m_checkpoints.emplace(m_request.checkpoints, m_source);
    KERF_TRY(m_match, failureMatch(m_request));
    KERF_TRY(m_store, storeToWorkIn());
    KERF_TRY(m_inputs, prepareToRun(m_source, m_job));
    KERF_TRY(m_graphId, storedGraphId(*m_store, m_source));
    KERF_TRY(m_oracle, makeOracle(m_request.oracle, m_source, {m_job, m_request.jobs}));
    m_log.emplace(*m_store, m_mutex, m_source, m_graphId,
                  fmt::format("{}{} votes={}{}{}", m_oracle->identity(), m_oracle->circumstances(), m_request.votes,
                              inputsIdentity(m_request.graph), m_match.text()) +
                      searchIdentity(m_request));
    return {};
  }

  /// The bench's store; one in memory, with a warning, where that cannot be written: the repro does not depend on it.
  Result<Store*> storeToWorkIn() {
    auto opened = m_bench.store();
    if (!opened && opened.error().code != ErrorCode::Environment) return opened;
    if (opened && !(*opened)->readOnly()) return opened;
    m_bench.noteUnstored(
        m_job, opened ? Error{ErrorCode::Environment, "the store can only be read", (*opened)->path().string()}
                      : opened.error());
    KERF_TRY(auto substitute, Store::inMemory());
    m_substitute.emplace(std::move(substitute));
    return &*m_substitute;
  }

  /// What cannot be written to the store is said once; the search goes on.
  Result<void> tolerate(Result<void> written) {
    if (written || written.error().code != ErrorCode::Environment) return written;
    if (!m_lost) m_bench.noteUnstored(m_job, written.error());
    m_lost = true;
    return {};
  }

  Result<Candidate> startCandidate() {
    std::optional<Candidate> resumed;
    if (!m_request.fresh) {
      KERF_TRY(resumed, m_log->resume());
    }
    if (!resumed) {
      KERF_TRY(auto module, moduleToCompare(m_source));
      return Candidate{std::move(module), std::move(m_inputs)};
    }
    m_outcome.resumed = true;
    m_job.note(fmt::format("resuming {}: {} of {} nodes after {} tests", m_log->idText(), m_log->bestNodes(),
                           m_log->startNodes(), m_log->testsBefore()));
    return std::move(*resumed);
  }

  static MinifyWorkEvent workEvent(const MinifyActivity& activity) {
    constexpr std::string_view verdicts[] = {"passes", "fails", "fails_differently", "cannot_test"};
    const bool isVerdict = activity.kind == MinifyActivity::Kind::Answered;
    return {MinifyWorkEvent::Kind(activity.kind),
            activity.reduction,
            activity.query,
            activity.worker,
            std::int64_t(activity.nodes),
            std::string(isVerdict ? verdicts[std::size_t(activity.verdict)] : ""),
            activity.fingerprint,
            activity.time,
            activity.cached,
            activity.accepted};
  }

  MinifyEvent eventOf(const MinifyProgress& progress) const {
    const auto& step = progress.step;
    return {m_log->idText(),
            step.reduction,
            step.fingerprint,
            step.accepted,
            std::int64_t(step.size.nodes),
            step.size.inputBytes,
            std::int64_t(step.size.outputs),
            std::max(m_log->startNodes(), 0),
            std::int64_t(progress.best.nodes),
            step.test + m_log->testsBefore(),
            step.elapsed,
            progress.secondsLeft,
            progress.slips,
            progress.slip != nullptr ? m_log->slipText(*progress.slip) : std::string(),
            step.index};
  }

  Result<MinifyResult> search(Candidate start) {
    StoreVerdicts verdicts(*m_store, m_mutex, m_request.fresh);
    MinifyOptions options;
    options.parallelQueries = m_request.jobs;
    options.candidateTimeout = longestAnswer(m_request.oracle);
    options.flakeVotes = m_request.votes;
    options.maxTests = m_request.maxTests;
    options.maxTime = m_request.maxTime;
    options.flakyStarts = m_request.flaky;
    options.pinned = m_request.pins;
    options.activity = [this](const MinifyActivity& activity) { m_job.tell(workEvent(activity)); };
    options.match = m_match;
    Controlled controlled(m_job);
    options.control = controlled.search();
    const MinifyObserver observer = [this](const MinifyProgress& progress, const Candidate* accepted) -> Result<void> {
      if (accepted != nullptr && !m_lost) KERF_CHECK(tolerate(m_log->accept(progress.step, *accepted)));
      if (accepted != nullptr && m_checkpoints) KERF_CHECK(m_checkpoints->accept(progress.step, *accepted));
      if (progress.slip != nullptr && !m_lost) KERF_CHECK(tolerate(m_log->keep(*progress.slip)));
      m_job.tell(eventOf(progress));
      return {};
    };
    return minify(std::move(start), *m_oracle, verdicts, options, observer, m_job.stop);
  }

  Result<void> conclude(const MinifyResult& result) {
    if (!m_substitute) m_outcome.reductionId = m_log->idText();
    m_outcome.startNodes = m_log->startNodes();
    m_outcome.nodes = int(result.candidate.module.graph.size());
    m_outcome.tests = m_log->testsBefore() + result.tests;
    m_outcome.cacheHits = result.cacheHits;
    m_outcome.steps = std::ssize(result.steps);
    m_outcome.fingerprint = result.fingerprint;
    m_outcome.oneMinimal = result.oneMinimal;
    m_outcome.editSet = result.editSet;
    if (!m_match.isSame() && !result.steps.empty()) m_outcome.fingerprint = result.steps.back().fingerprint;
    KERF_CHECK(concludeSlips(result));
    m_outcome.cancelled = result.cancelled;
    m_outcome.unusedTests = result.unusedTests;
    m_outcome.failureRate = result.failureRate;
    m_outcome.passesAsked = result.passesAsked;
    if (result.ending == MinifyEnding::MaxTests) m_outcome.stoppedBy = "--max-tests";
    if (result.ending == MinifyEnding::MaxTime) m_outcome.stoppedBy = "--max-time";
    KERF_CHECK(tolerate(m_log->finish(result.ending == MinifyEnding::Finished ? "finished" : "cancelled", result.tests)));
    if (result.cancelled) return {};
    std::optional<TemporaryFolder> scratch;
    if (m_request.place == ReproPlace::Store) {
      KERF_TRY(scratch, TemporaryFolder::create());
    }
    KERF_TRY(const auto repro, writeRepro(result, scratch ? scratch->path() : folder()));
    if (!scratch) m_outcome.repro = repro.string();
    KERF_CHECK(checkRepro(repro, result.candidate.module));
    KERF_CHECK(confirm(repro));
    return scratch ? Result<void>() : writeIssue(result, repro);
  }

  /// What the user's PyTorch makes of the written repro. It is no error that it does not fail: the fault may be Kerf's.
  Result<void> confirm(const std::filesystem::path& repro) {
    if (!m_request.confirm) return {};
    const auto& oracle = m_request.oracle;
    KERF_TRY(const auto said, confirmWithTorch(oracle.python, repro, oracle.limits, m_job.stop));
    m_outcome.torchSays = said.text();
    if (!said.fails && !oracle.plants.empty()) m_outcome.torchSays += ": the fault is Kerf's planted one";
    return {};
  }

  Result<void> writeIssue(const MinifyResult& result, const std::filesystem::path& repro) {
    StoreVerdicts verdicts(*m_store, m_mutex);
    const int rule = m_request.flaky > 0 ? -m_request.flaky : m_request.votes;  // as the search names its verdicts
    IssueFacts facts = issueFacts({result, *m_oracle, verdicts, rule}, m_job.stop);
    KERF_TRY(const auto faults, parsePlants(m_request.oracle.plants));
    facts.fault = faults.text();
    facts.startNodes = m_log->startNodes();
    facts.confirmed = m_outcome.torchSays;
    KERF_TRY(const auto file, mapFile(repro));
    const auto bytes = file->view();
    KERF_TRY(const auto text,
             issueAround(std::move(facts), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    return writeText(text, repro.parent_path() / "issue.md");
  }

  /// What the search met by the way; a verdict from the cache is not told of while it goes on.
  Result<void> concludeSlips(const MinifyResult& result) {
    m_outcome.slips = result.slipTests;
    for (const Slip& slip : result.slips)
      if (!m_lost) KERF_CHECK(tolerate(m_log->keep(slip)));
    if (!m_log->id()) return {};
    KERF_TRY(m_outcome.findings, slipDocs(*m_store, *m_log->id()));
    return {};
  }

  std::filesystem::path folder() const {
    if (!m_request.output.empty()) return m_request.output;
    return m_outcome.reductionId.empty() ? std::string("kerf-repro") : "kerf-repro-" + m_outcome.reductionId;
  }

  Result<std::filesystem::path> writeRepro(const MinifyResult& result, const std::filesystem::path& folder) {
    KERF_TRY(const auto faults, parsePlants(m_request.oracle.plants));
    const MinifyReportContext how{m_source.text, faults.text(), m_oracle->identity(), m_log->startNodes()};
    KERF_TRY(const auto capture, minifiedCapture(result, m_source.capture, m_source.index, how));
    ExportOptions options;
    // PyTorch knows nothing of a fault that Kerf planted: its accuracy check would judge another bug, or none.
    options.accuracy = faults.empty() ? accuracyFor(result.fingerprint, capture.envelope) : "False";
    KERF_TRY(auto repro, exportRepro(capture, 0, folder, options));
    KERF_TRY(const auto written, importCapture(repro));
    KERF_TRY(const auto stored, storableGraph(written, 0));
    const auto path = m_request.place == ReproPlace::Store ? std::filesystem::path() : std::filesystem::absolute(repro);
    const ReproRow row{0, m_log->id(), m_graphId, path.string(), stored.row.hash, "", m_outcome.nodes};
    if (m_lost || m_substitute) return repro;
    const auto id = m_store->addRepro(row, stored.row);
    KERF_CHECK(tolerate(id ? Result<void>() : fail(id.error())));
    if (id) m_outcome.reproId = fmt::format("p{}", *id);
    return repro;
  }

  Result<void> checkRepro(const std::filesystem::path& repro, const GraphModule& module) {
    const auto settings = withPlantsIn(module, m_request.oracle);
    const bool warm = m_request.oracle.oracle == "torch";
    const auto ask = [&] {
      return warm ? recheckWith(m_bench, *m_oracle, repro, m_job) : recheck(m_bench, settings, repro, m_job);
    };
    auto found = ask();  // of a flaky failure once is proof here as well
    for (int asked = 1; asked < m_outcome.passesAsked && found && found->kind != VerdictKind::Fails; ++asked)
      found = ask();
    if (!found && found.error().code == ErrorCode::Cancelled) {
      m_job.note(fmt::format("{} is written; stopped before a fresh process had checked it", repro.string()));
      return {};
    }
    if (!found) return fail(found.error().while_(fmt::format("checking {} in a fresh process", repro.string())));
    m_outcome.rechecked = found->fingerprint;
    const bool fails = found->kind == VerdictKind::Fails;
    const bool same = fails && m_match.accepts(found->fingerprint, found->detail, m_outcome.fingerprint);
    if (same || m_outcome.rechecked == fingerprintOfRepro(m_outcome.fingerprint)) return {};
    return fail(ErrorCode::Different,
                "the repro {} was written, but a fresh process finds \"{}\" where the search found \"{}\"",
                repro.string(), m_outcome.rechecked, m_outcome.fingerprint);
  }

  Workbench& m_bench;
  GraphSource m_source;
  const MinifyRequest& m_request;
  const Job& m_job;
  std::mutex m_mutex;
  std::optional<Store> m_substitute;  ///< where the bench's store cannot be written
  Store* m_store = nullptr;
  bool m_lost = false;  ///< the store could be written at first, and then no more
  std::int64_t m_graphId = 0;
  ValueList m_inputs;
  std::unique_ptr<Oracle> m_oracle;
  FailureMatch m_match;
  std::optional<ReductionLog> m_log;
  std::optional<Checkpoints> m_checkpoints;
  Minified m_outcome;
};

}  // namespace

Result<Minified> perform(Workbench& bench, const MinifyRequest& request, const Job& job) {
  KERF_TRY(auto source, resolveGraph(bench, request.graph, job));
  KERF_TRY(source.capture.allowedCalls, parseExtraCalls(request.oracle.allowedCalls));
  return Minification(bench, std::move(source), request, job).run();
}

Result<JudgeAnswer> perform(Workbench& bench, const JudgeRequest& request, const Job& job) {
  KERF_TRY(auto source, resolveGraph(bench, request.graph, job));
  KERF_TRY(source.capture.allowedCalls, parseExtraCalls(request.oracle.allowedCalls));
  takeRecordedEnvironment(source);
  KERF_TRY(const auto oracle, makeOracle(request.oracle, source, {job}));
  KERF_TRY(auto verdict, judgeGraph(*oracle, source, job));
  if (!request.match.empty() && verdict.kind == VerdictKind::Fails) {
    KERF_TRY(const auto match, FailureMatch::pattern(request.match));
    if (!match.acceptsAsStart(verdict.fingerprint, verdict.detail)) verdict.kind = VerdictKind::FailsDifferently;
  }
  return JudgeAnswer{JudgeAnswer::Verdict(verdict.kind), verdict.fingerprint, verdict.detail, verdict.time};
}

Result<std::vector<StepDoc>> perform(Workbench& bench, const StepsRequest& request, const Job&) {
  const auto id = parseStoreId(request.reduction);
  if (!id || id->kind != 'm') return fail(ErrorCode::BadUsage, "{} is no reduction, as m2 is", request.reduction);
  KERF_TRY(auto* store, bench.store());
  KERF_CHECK(store->reduction(id->number));
  KERF_TRY(const auto rows, store->steps(id->number));
  std::vector<StepDoc> steps;
  for (const auto& row : rows) {
    steps.push_back({fmt::format("m{}@step:{}", id->number, row.index), row.index, row.test, row.nodes, row.outputs,
                     row.inputBytes, row.reduction, row.fingerprint});
  }
  return steps;
}

}  // namespace kerf::workbench
