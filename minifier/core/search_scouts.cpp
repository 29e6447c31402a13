// Search: pieces of the graph that are judged while a slow verdict about all of it is awaited.
#include <algorithm>

#include "minifier/core/search.h"

namespace kerf::inline minifier::inline core {

namespace {

/// A query that takes longer is worth the questions that spare others like it.
constexpr std::chrono::seconds slowQuery{1};
/// Fewer workers have nothing to spare beside the start graph.
constexpr std::size_t fewestWorkers = 3;
/// Calls of one piece. All pieces together are as much work as the graph twice.
constexpr std::size_t windowCalls = 64;
/// A graph of less than so many pieces is halved as fast.
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

/// The pieces of the start graph.
struct Search::Scouts {
  Scouts(const Candidate& start, const std::stop_token& stop) : base(start, stop) {
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
  std::unique_ptr<SetBase> found;  ///< a piece that fails, supposed that the start graph fails in the same way
  std::size_t foundIndex = 0;      ///< of its proposal
  std::chrono::nanoseconds foundAt{};
  Moment search;  ///< through it
};

/// Gives idle workers pieces of the start graph, once that is seen to take long.
void Search::scoutAhead() {
  if (m_isScouted || m_runner.width() < fewestWorkers || m_context.options.flakyStarts > 0) return;
  if (!m_scouts) {
    if (m_runner.now() - m_askedStart < slowQuery) return;
    m_scouts = std::make_shared<Scouts>(m_result.candidate, m_context.stop);
  }
  const bool isEnough = m_scouts->found && m_result.fingerprint.empty();
  while (!isEnough && m_scouts->isLeft() && m_running.size() < m_runner.width()) {
    const UnitSet& window = m_scouts->windows[m_scouts->next++];
    auto proposal = proposalOf(m_safe.build("windows", [&] { return m_scouts->base.builder.build(window); }), m_start);
    if (!proposal) continue;
    if (!proposal->verdict && !m_answers.contains(proposal->key) && !m_running.contains(proposal->key))
      start(*proposal);
    m_scouts->proposals.push_back(std::move(*proposal));
  }
  if (m_result.fingerprint.empty()) searchFound();
}

/// Goes on from the piece that is the first to fail, while the start graph's verdict is still awaited: most often it is
/// the same. The other pieces give way, which take longer where they pass: should it be another failure, they are asked
/// about again.
void Search::searchFound() {
  Scouts& scouts = *m_scouts;
  for (std::size_t i = 0; !scouts.found && i < scouts.proposals.size(); ++i) {
    const auto answer = m_answers.find(scouts.proposals[i].key);
    if (answer == m_answers.end()) continue;
    const auto& verdict = answer->second.verdict;
    if (!verdict || verdict->kind != VerdictKind::Fails) continue;
    want(verdict->fingerprint, *scouts.proposals[i].candidate);
    scouts.found = std::make_unique<SetBase>(*scouts.proposals[i].candidate, m_context.stop);
    scouts.foundIndex = i;
    scouts.foundAt = m_runner.now() - m_paused;
    scouts.search.questions = firstQuestions(*scouts.found);
    scouts.search.best = scouts.proposals[i].size;
    for (const Proposal& other : scouts.proposals) stop(other.key);
  }
  if (scouts.found) askAhead(scouts.search);
}

/// Takes a piece that fails as the start graph does.
Result<void> Search::followScouts() {
  m_isScouted = !m_scouts;
  if (m_isScouted) return {};
  const std::string step = "windows";
  tellReduction(MinifyActivity::Kind::ReductionBegins, step, false);
  bool helped = false;
  for (std::size_t i = 0; !helped; ++i) {
    KERF_CHECK(checkStop());
    if (i == m_scouts->proposals.size()) scoutAhead();
    if (i == m_scouts->proposals.size()) break;
    const Proposal proposal = m_scouts->inOrder(i);
    Moment moment;
    KERF_TRY(const auto verdict, verdictOf(moment, proposal));
    helped = isWanted(*verdict);
    KERF_CHECK(helped ? accept(step, proposal, *verdict) : report(step, proposal, *verdict, false));
  }
  m_isScouted = true;
  m_since = {m_scouts->found ? m_scouts->foundAt : m_runner.now() - m_paused, m_result.tests};
  if (!helped) stopPointless({});
  tellReduction(MinifyActivity::Kind::ReductionEnds, step, helped);
  return {};
}

/// The answers after which comes the smallest graph that is known to fail already, those that are not known yet
/// supposed to be failures: each is about more calls than it has. Empty if there is none.
std::vector<bool> Search::wayToProven(const Moment& now) const {
  std::vector<bool> way{true};
  std::size_t length = 0;
  if (now.questions->isSurvey()) return {};
  for (const Moment* moment = now.next[1].get(); moment != nullptr && !moment->questions->isSurvey();) {
    const std::optional<bool> answer = moment->isProposed ? known(*moment) : std::nullopt;
    if (answer && *answer) length = way.size();
    way.push_back(answer.value_or(true));
    moment = moment->next[way.back() ? 1 : 0].get();
  }
  way.resize(length);
  return way;
}

bool Search::isOverdue(std::chrono::nanoseconds since) const { return m_runner.now() - since >= longWait; }

}  // namespace kerf::inline minifier::inline core
