// Search: windows of the graph that are tested speculatively while a slow verdict about all of it is awaited.
#include <algorithm>

#include "minifier/core/search.h"

namespace kerf::inline minifier::inline core {

namespace {

/// A test that takes longer is worth speculative ones that spare others like it.
constexpr std::chrono::seconds slowTest{1};
/// Fewer workers have nothing to spare beside the start graph.
constexpr std::size_t fewestWorkers = 3;
/// Calls of one window. All windows together are as much work as the graph twice.
constexpr std::size_t windowCalls = 64;
/// A graph of less than so many windows is halved as fast.
constexpr std::size_t fewestWindows = 4;
/// Likewise a verdict that is awaited for so long is not worth waiting for where a smaller graph is known to fail.
constexpr std::chrono::seconds longWait{2};

/// Neighbouring calls, side by side, then those that a border of these parts.
///
///     160 calls      →      0…63, 64…127, 128…159, 32…95, 96…159
std::vector<UnitSet> windowsOf(std::size_t calls) {
  std::vector<UnitSet> windows;
  if (calls < fewestWindows * windowCalls) return windows;
  for (const std::size_t from : {std::size_t(0), windowCalls / 2})
    for (std::size_t first = from; first < calls; first += windowCalls) {
      UnitSet window(std::min(windowCalls, calls - first));
      for (std::size_t i = 0; i < window.size(); ++i) window[i] = first + i;
      windows.push_back(std::move(window));
    }
  return windows;
}

}  // namespace

/// The windows of the start graph, and the search through the first that fails.
struct Search::StartWindows {
  StartWindows(const Candidate& start, const std::stop_token& stop) : base(start, stop) {
    windows = windowsOf(base.builder.units().size());
  }
  bool isLeft() const { return next < windows.size(); }
  /// Proposals in the order in which their verdicts count: the one that is searched already, then the others.
  const Proposal& inOrder(std::size_t i) const {
    if (!found || i > foundIndex) return proposals[i];
    return proposals[i == 0 ? foundIndex : i - 1];
  }

  SetBase base;
  std::vector<UnitSet> windows;
  std::size_t next = 0;
  std::vector<Proposal> proposals;
  std::unique_ptr<SetBase> found;  ///< a window that fails, supposed that the start graph fails in the same way
  std::size_t foundIndex = 0;      ///< of its proposal
  std::chrono::nanoseconds foundAt{};
  SpeculativeState search;  ///< through it
};

/// Gives idle workers windows of the start graph, once that is seen to take long.
void Search::speculateOnWindows() {
  if (m_windowsDone || m_runner.width() < fewestWorkers || m_context.options.flakyStarts > 0) return;
  if (!m_startWindows) {
    if (m_runner.now() - m_startTestedAt < slowTest) return;
    m_startWindows = std::make_shared<StartWindows>(m_result.candidate, m_context.stop);
  }
  const bool isEnough = m_startWindows->found && m_result.fingerprint.empty();
  while (!isEnough && m_startWindows->isLeft() && m_running.size() < m_runner.width()) {
    const UnitSet& window = m_startWindows->windows[m_startWindows->next++];
    auto proposal =
        proposalOf(m_safe.build("windows", [&] { return m_startWindows->base.builder.build(window); }), m_start);
    if (!proposal) continue;
    if (!proposal->verdict && !m_answers.contains(proposal->key) && !m_running.contains(proposal->key))
      start(*proposal);
    m_startWindows->proposals.push_back(std::move(*proposal));
  }
  if (m_result.fingerprint.empty()) speculateInFound();
}

/// Goes on from the window that is the first to fail, while the start graph's verdict is still awaited: most often it is
/// the same. The other windows, which take longer where they pass, are stopped: should it be another failure, they are
/// tested again.
void Search::speculateInFound() {
  StartWindows& start = *m_startWindows;
  for (std::size_t i = 0; !start.found && i < start.proposals.size(); ++i) {
    const auto answer = m_answers.find(start.proposals[i].key);
    if (answer == m_answers.end()) continue;
    const auto& verdict = answer->second.verdict;
    if (!verdict || verdict->kind != VerdictKind::Fails) continue;
    want(verdict->fingerprint, *start.proposals[i].candidate);
    start.found = std::make_unique<SetBase>(*start.proposals[i].candidate, m_context.stop);
    start.foundIndex = i;
    start.foundAt = m_runner.now() - m_paused;
    start.search.tests = firstSubsetTests(*start.found);
    start.search.best = start.proposals[i].size;
    for (const Proposal& other : start.proposals) stop(other.key);
  }
  if (start.found) speculate(start.search);
}

/// Takes a window that fails as the start graph does.
Result<void> Search::takeWindows() {
  m_windowsDone = !m_startWindows;
  if (m_windowsDone) return {};
  const std::string step = "windows";
  tellReduction(MinifyActivity::Kind::ReductionBegins, step, false);
  bool helped = false;
  for (std::size_t i = 0; !helped; ++i) {
    KERF_CHECK(checkStop());
    if (i == m_startWindows->proposals.size()) speculateOnWindows();
    if (i == m_startWindows->proposals.size()) break;
    const Proposal proposal = m_startWindows->inOrder(i);
    SpeculativeState state;
    KERF_TRY(const auto verdict, verdictOf(state, proposal));
    helped = isWanted(*verdict);
    KERF_CHECK(helped ? accept(step, proposal, *verdict) : report(step, proposal, *verdict, false));
  }
  m_windowsDone = true;
  m_since = {m_startWindows->found ? m_startWindows->foundAt : m_runner.now() - m_paused, m_result.tests};
  if (!helped) stopPointless({});
  tellReduction(MinifyActivity::Kind::ReductionEnds, step, helped);
  return {};
}

/// The verdicts after which comes the smallest graph that is known to fail already, those that are not known yet
/// supposed to be failures: each is about more calls than it has. Empty if there is none.
std::vector<bool> Search::pathToKnownFailure(const SpeculativeState& now) const {
  std::vector<bool> path{true};
  std::size_t length = 0;
  if (now.tests->isSurvey()) return {};
  for (const SpeculativeState* state = now.next[1].get(); state != nullptr && !state->tests->isSurvey();) {
    const std::optional<bool> answer = state->isProposed ? known(*state) : std::nullopt;
    if (answer && *answer) length = path.size();
    path.push_back(answer.value_or(true));
    state = state->next[path.back() ? 1 : 0].get();
  }
  path.resize(length);
  return path;
}

bool Search::isOverdue(std::chrono::nanoseconds since) const { return m_runner.now() - since >= longWait; }

}  // namespace kerf::inline minifier::inline core
