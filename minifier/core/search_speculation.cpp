// Search: proposals, and speculative tests.
#include <algorithm>
#include <queue>

#include "minifier/core/minify_control.h"
#include "minifier/core/search.h"

namespace kerf::inline minifier::inline core {

namespace {

/// Tests less likely than this to be needed are not worth building a candidate for.
constexpr double leastChance = 0.01;
/// With fewer workers there are few cores, and what is waited for takes longer for what is tested beside it: that is to
/// be no more than so many times as large.
constexpr std::size_t fewWorkers = 3;
constexpr std::size_t mostBeside = 4;

}  // namespace

/// Builds the test's candidate and drops it unless it is smaller, known to be wrong, or broken.
void Search::propose(SpeculativeState& state) const {
  if (std::exchange(state.isProposed, true)) return;
  state.proposal = proposalOf(state.tests->build(), state.best);
}

/// None for what is not smaller than `best`, known to be wrong, or broken.
std::optional<Search::Proposal> Search::proposalOf(std::optional<Candidate> built, const CandidateSize& best) const {
  if (!built) return std::nullopt;
  Proposal proposal;
  proposal.size = measure(*built);
  if (!(proposal.size < best) || !built->module.graph.lint() || !keepsPins(*built)) return std::nullopt;
  if (proposal.size.outputs == 0 && !writesMemory(built->module)) return std::nullopt;
  proposal.key = keyOf(*built);
  if (m_forbidden.contains(proposal.key)) return std::nullopt;
  proposal.verdict = m_context.cache.find(proposal.key);
  proposal.candidate = std::make_shared<const Candidate>(std::move(*built));
  return proposal;
}

/// What is pinned stays a call of the same function, or an input, of its name.
bool Search::keepsPins(const Candidate& candidate) const {
  const Graph& graph = candidate.module.graph;
  return std::ranges::all_of(m_pins, [&](const Pin& pin) {
    return std::ranges::any_of(graph.order(), [&](NodeId id) {
      const Node& node = graph.node(id);
      return node.name() == pin.name && node.target() == pin.target;
    });
  });
}

Search::SpeculativeState& Search::follow(SpeculativeState& state, bool fails) const {
  std::unique_ptr<SpeculativeState>& next = state.next[fails ? 1 : 0];
  if (!next) {
    next = std::make_unique<SpeculativeState>();
    next->tests = state.tests->after(fails);
    const bool isTaken = fails && state.proposal && !state.tests->isSurvey();
    next->best = isTaken ? state.proposal->size : state.best;
  }
  return *next;
}

/// What the answer is, if that is known.
std::optional<bool> Search::known(const SpeculativeState& state) const {
  if (!state.proposal) return false;
  const auto answer = m_answers.find(state.proposal->key);
  if (answer != m_answers.end()) return answer->second.verdict && isWanted(*answer->second.verdict);
  return state.proposal->verdict ? std::optional(isWanted(*state.proposal->verdict)) : std::nullopt;
}

/// Gives every idle worker the likeliest test that nobody works at.
void Search::speculate(SpeculativeState& now) {
  if (!now.tests) return speculateOnWindows();
  if (m_runner.width() < 2) return;
  using Entry = std::pair<double, SpeculativeState*>;
  const auto isLess = [](const Entry& a, const Entry& b) { return a.first < b.first; };
  std::priority_queue<Entry, std::vector<Entry>, decltype(isLess)> open(isLess);
  open.emplace(1.0, &now);
  while (!open.empty() && m_running.size() < m_runner.width()) {
    const auto [chance, state] = open.top();
    open.pop();
    if (chance < leastChance || state->tests->isOver()) continue;
    propose(*state);
    const std::optional<bool> answer = known(*state);
    const bool isTooLarge = m_runner.width() < fewWorkers && now.proposal && state->proposal &&
                            state->proposal->size.nodes > mostBeside * now.proposal->size.nodes;
    if (!answer && !m_running.contains(state->proposal->key) && !isTooLarge) start(*state->proposal);
    const double fails = answer ? (*answer ? 1.0 : 0.0) : failureProbabilityOf(*state->tests);
    for (const bool side : {false, true})
      if (const double likely = chance * (side ? fails : 1 - fails); likely >= leastChance)
        open.emplace(likely, &follow(*state, side));
    while (auto came = m_runner.next({})) take(std::move(*came));  // building takes time
    if (now.proposal && m_answers.contains(now.proposal->key)) return;
  }
}

/// Of a survey only one side is followed: the other one leads to the same tests.
double Search::failureProbabilityOf(const TestSequence& tests) const {
  return tests.isSurvey() ? 0.0 : m_estimator.failureProbability(tests.category());
}

void Search::start(const Proposal& proposal) {
  if (m_context.options.control && m_context.options.control->isPaused()) return;
  const std::size_t id = ++m_lastQuery;
  m_running.emplace(proposal.key, id);
  m_keys.emplace(id, proposal.key);
  tell({.kind = MinifyActivity::Kind::Asked, .query = int(id), .nodes = proposal.size.nodes});
  m_runner.start(id, proposal.candidate, m_rule);
}

/// Takes the query back, if there is one.
void Search::stop(const std::string& key) {
  const auto running = m_running.find(key);
  if (running == m_running.end()) return;
  m_runner.stop(running->second);
  m_keys.erase(running->second);
  m_running.erase(running);
}

void Search::take(QueryAnswer answer) {
  const auto key = m_keys.find(answer.id);
  if (key == m_keys.end()) return;
  MinifyActivity activity{.kind = MinifyActivity::Kind::Answered, .query = int(answer.id), .worker = answer.worker};
  if (answer.verdict) {
    activity.verdict = answer.verdict->kind;
    activity.fingerprint = answer.verdict->fingerprint;
    activity.time = answer.verdict->time;
  }
  tell(std::move(activity));
  m_running.erase(key->second);
  m_answers.insert_or_assign(key->second, std::move(answer));
  m_keys.erase(key);
}

/// Stops what no state behind `now` tests any more. What a survey tests speculatively comes on its other sides, too.
void Search::stopPointless(const SpeculativeState& now) {
  if (now.tests && now.tests->isSurvey()) return;
  std::set<std::string> wanted;
  std::vector<const SpeculativeState*> open{&now};
  while (!open.empty()) {
    const SpeculativeState* state = open.back();
    open.pop_back();
    if (state->proposal) wanted.insert(state->proposal->key);
    for (const auto& next : state->next)
      if (next) open.push_back(next.get());
  }
  std::vector<std::string> pointless;
  for (const auto& [key, query] : m_running)
    if (!wanted.contains(key)) pointless.push_back(key);
  for (const std::string& key : pointless) stop(key);
}

}  // namespace kerf::inline minifier::inline core
