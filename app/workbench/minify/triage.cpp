// A triage from paths to the report: open and judge everything, cut down what fails, say which part is to blame, and
// put together what is one bug.
#include <map>

#include "app/workbench/captures/store_id.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/minify/triage_case.h"
#include "app/workbench/workbench.h"
#include "engine/process/temporary_folder.h"
#include "minifier/triage/triage.h"

namespace kerf::workbench {

namespace {

using Clock = std::chrono::steady_clock;
using State = TriagedGraph::State;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// How far a triage is, from what opening, judging and minifying took until now.
class TriagePace {
 public:
  TriagePace(const Job& job, std::size_t captures) : m_job(job), m_captures(captures) {}

  void opened(std::size_t captures) { m_opened = captures; }
  void failing(std::size_t graphs) { m_failing = graphs; }
  void reduced(double seconds) {
    ++m_reduced;
    m_reducing += seconds;
  }
  void show(const std::string& what, double secondsOfThis = -1) const {
    const double elapsed = secondsSince(m_start), left = secondsLeft(elapsed, secondsOfThis);
    m_job.progress(what, elapsed / std::max(elapsed + left, 1e-3));
  }

 private:
  double secondsLeft(double elapsed, double secondsOfThis) const {
    const double looking = (elapsed - m_reducing) / double(std::max<std::size_t>(m_opened, 1));
    const double reducing = m_reduced > 0 ? m_reducing / double(m_reduced) : usualSearch * looking;
    const auto captures = double(m_captures - std::min(m_opened, m_captures));
    auto graphs = double(m_failing - std::min(m_failing, m_reduced));
    graphs += captures * double(m_failing) / double(std::max<std::size_t>(m_opened, 1));  // of what is not judged yet
    if (secondsOfThis >= 0 && graphs >= 1) return captures * looking + (graphs - 1) * reducing + secondsOfThis;
    return captures * looking + graphs * reducing;
  }

  static constexpr double usualSearch = 10;  ///< verdicts that a short search takes, until one was measured
  const Job& m_job;
  std::size_t m_captures, m_opened = 0, m_failing = 0, m_reduced = 0;
  double m_reducing = 0;
  Clock::time_point m_start = Clock::now();
};

class TriageRun {
 public:
  TriageRun(Workbench& bench, const TriageRequest& request, const Job& job, std::vector<std::string> captures,
            TemporaryFolder scratch)
      : m_request(request),
        m_job(job),
        m_captures(std::move(captures)),
        m_scratch(std::move(scratch)),
        m_remote(bench.options().program, bench.options().store),
        m_steps(m_remote, request),
        m_pace(job, m_captures.size()) {}

  Result<TriageOutcome> run() {
    const auto start = Clock::now();
    const auto done = work();
    if (!done && done.error().code != ErrorCode::Cancelled) return fail(done.error());
    m_triage.cancelled = !done;
    KERF_CHECK(anyVerdict());
    m_triage.clusters = clusterFailures(m_triage.rows);
    for (auto& cluster : m_triage.clusters) chooseRepro(cluster);
    m_triage.time = Clock::now() - start;
    KERF_CHECK(writeTriage(m_triage, m_request.output));
    return std::move(m_triage);
  }

 private:
  Result<void> work() {
    for (std::size_t i = 0; i < m_captures.size(); ++i) {
      const auto looked = look(m_captures[i], i);
      if (!looked) return missing(i, looked.error());
      m_pace.opened(i + 1);
    }
    for (std::size_t i = 0; i < m_triage.rows.size(); ++i)
      if (m_triage.rows[i].state == State::Fails) KERF_CHECK(reduce(i));
    return {};
  }

  /// Rows for what was not opened any more.
  Result<void> missing(std::size_t from, const Error& why) {
    for (std::size_t i = from; i < m_captures.size(); ++i)
      if (m_triage.rows.empty() || m_triage.rows.back().capture != m_captures[i]) addRow(m_captures[i], {});
    return fail(why);
  }

  TriagedGraph& addRow(const std::string& capture, const GraphAddress& place) {
    m_triage.rows.emplace_back().capture = capture;
    m_cases.push_back({place, m_request.oracle, {}});
    m_cases.back().oracle.warmJobs = m_request.jobs;  // one PyTorch for all
    return m_triage.rows.back();
  }

  Result<void> look(const std::string& capture, std::size_t index) {
    m_pace.show(fmt::format("triage: {} of {}: {}", index + 1, m_captures.size(), capture));
    const auto opened = m_remote.perform(IndexRequest{capture}, within(capture));
    if (m_job.stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped");
    if (!opened) {
      auto& row = addRow(capture, {});
      row.state = State::NotOpened;
      row.detail = opened.error().text();
      return {};
    }
    const std::size_t first = m_triage.rows.size();
    for (std::size_t i = 0; i < opened->graphs.size(); ++i) addGraph(capture, *opened, i);
    if (opened->graphs.empty()) addEmpty(capture);
    for (std::size_t i = first; i < m_triage.rows.size(); ++i)
      if (m_triage.rows[i].state == State::NotReached) KERF_CHECK(judge(i));
    (void)m_remote.perform(CloseRequest{capture}, within(capture));  // a worker that died keeps nothing either
    return {};
  }

  void addEmpty(const std::string& capture) {
    auto& row = addRow(capture, {});
    row.state = State::CannotTest;
    row.detail = "holds no graph";
  }

  void addGraph(const std::string& capture, const CaptureIndex& index, std::size_t graph) {
    const auto& entry = index.graphs[graph];
    auto& row = addRow(capture, {.text = capture, .index = int(graph)});
    if (index.graphs.size() > 1) row.graph = entry.name;
    if (entry.hash.empty()) return;
    const auto [known, isNew] = m_known.emplace(entry.hash, rowName(row));
    if (!isNew) row.sameAs = known->second;
  }

  Result<void> judge(std::size_t index) {
    auto& row = m_triage.rows[index];
    const auto start = Clock::now();
    KERF_CHECK(m_steps.judge(row, m_cases[index], within(rowName(row))));
    row.time = Clock::now() - start;
    if (row.state == State::Fails) m_pace.failing(++m_failing);
    return {};
  }

  Result<void> reduce(std::size_t index) {
    auto& row = m_triage.rows[index];
    const auto start = Clock::now();
    const auto name = fmt::format("triage: minifying {}", rowName(row));
    m_pace.show(name);
    const auto job = within(rowName(row), [&](const MinifyEvent& event) {
      m_pace.show(fmt::format("{}: {} of {} nodes", name, event.bestNodes, event.startNodes), event.secondsLeft);
    });
    KERF_CHECK(m_steps.minify(row, m_cases[index], m_scratch.path() / std::to_string(index), job));
    m_pace.show(fmt::format("triage: bisecting {}", rowName(row)));
    KERF_CHECK(m_steps.bisect(row, m_cases[index], job));
    row.time += Clock::now() - start;
    m_pace.reduced(secondsSince(start));
    return {};
  }

  /// A job for one graph: what it has to note are details here, and name the graph.
  Job within(std::string name, std::function<void(const MinifyEvent&)> onMinify = {}) const {
    return {[this, name = std::move(name), onMinify = std::move(onMinify)](const JobEvent& event) {
              if (const auto* step = std::get_if<MinifyEvent>(&event); step != nullptr && onMinify) onMinify(*step);
              if (const auto* note = std::get_if<NoteEvent>(&event))
                m_job.tell(NoteEvent{NoteEvent::Weight::Detail, name + ": " + note->text});
            },
            m_job.stop};
  }

  /// Where nothing could be judged because of how it was asked, that is the answer.
  Result<void> anyVerdict() const {
    const auto& problem = m_steps.firstProblem();
    if (!problem || (problem->code != ErrorCode::BadUsage && problem->code != ErrorCode::Environment)) return {};
    for (const auto& row : m_triage.rows)
      if (row.state == State::Fails || row.state == State::Passes) return {};
    return fail(Error(*problem));
  }

  /// The first member that has one is the smallest.
  void chooseRepro(FailureCluster& cluster) const {
    for (const int member : cluster.members) {
      const auto& repro = m_cases[std::size_t(member)].repro;
      if (repro.empty() || !cluster.repro.empty()) continue;
      cluster.repro = repro.string();
    }
  }

  const TriageRequest& m_request;
  const Job& m_job;
  std::vector<std::string> m_captures;
  TemporaryFolder m_scratch;  ///< repros until it is known which are shown
  RemoteWorkbench m_remote;   ///< what a graph does to it ends one request
  TriageSteps m_steps;
  TriagePace m_pace;
  std::size_t m_failing = 0;
  std::vector<TriageCase> m_cases;             ///< of each row
  std::map<std::string, std::string> m_known;  ///< hash of a graph: the row that had it first
  TriageOutcome m_triage;
};

TriageRow::State stateOf(State state) {
  using Shown = TriageRow::State;
  constexpr Shown states[] = {Shown::Fails,     Shown::Passes,           Shown::CannotTest,
                              Shown::NotOpened, Shown::FailsDifferently, Shown::NotReached};
  return states[std::size_t(state)];
}

TriageRow documentOf(TriagedGraph row) {
  return {stateOf(row.state),
          std::move(row.capture),
          std::move(row.graph),
          std::move(row.fingerprint),
          std::move(row.detail),
          row.startNodes,
          row.nodes,
          row.tests,
          std::move(row.reduction),
          row.oneMinimal,
          std::move(row.trouble),
          std::move(row.culprits),
          std::move(row.ops),
          std::move(row.sameAs),
          row.cluster,
          row.time};
}

Triage documentOf(TriageOutcome outcome) {
  Triage triage{{}, {}, std::move(outcome.report), outcome.cancelled, outcome.time};
  for (TriagedGraph& row : outcome.rows) triage.rows.push_back(documentOf(std::move(row)));
  for (FailureCluster& each : outcome.clusters)
    triage.clusters.push_back({each.number, std::move(each.fingerprint), std::move(each.culprits), std::move(each.ops),
                               std::move(each.members), std::move(each.repro)});
  return triage;
}

}  // namespace

Result<Triage> perform(Workbench& bench, const TriageRequest& request, const Job& job) {
  if (request.paths.empty()) return fail(ErrorCode::BadUsage, "name files, folders or captures of the store");
  KERF_CHECK(parsePlants(request.oracle.plants));
  KERF_TRY(auto captures, capturesUnder(request.paths, request.output,
                                        [](const std::string& text) { return parseStoreId(text).has_value(); }));
  if (captures.empty()) return fail(ErrorCode::BadInput, "there is no file to open in {}", request.paths.front());
  std::error_code problem;
  std::filesystem::create_directories(request.output, problem);
  if (problem) return fail(Error{ErrorCode::Environment, "cannot be made: " + problem.message(), request.output});
  KERF_TRY(auto scratch, TemporaryFolder::create());
  KERF_TRY(TriageOutcome outcome, TriageRun(bench, request, job, std::move(captures), std::move(scratch)).run());
  return documentOf(std::move(outcome));
}

}  // namespace kerf::workbench
