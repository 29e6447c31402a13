// Search: proposals, and what is asked before its turn.
#include <algorithm>
#include <queue>

#include "minifier/core/minify_control.h"
#include "minifier/core/search.h"

namespace kerf::inline minifier::inline core {

namespace {

/// Questions less likely than this to be put are not worth building a candidate for.
constexpr double leastChance = 0.01;
/// With fewer workers there are few cores, and what is waited for takes longer for what is asked beside it: that is to
/// be no more than so many times as large.
constexpr std::size_t fewWorkers = 3;
constexpr std::size_t mostBeside = 4;

}  // namespace

/// Builds the question's candidate and drops it unless it is smaller, known to be wrong, or broken.
void Search::propose(Moment& moment) const {
  if (std::exchange(moment.isProposed, true)) return;
  moment.proposal = proposalOf(moment.questions->build(), moment.best);
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

Search::Moment& Search::follow(Moment& moment, bool fails) const {
  std::unique_ptr<Moment>& next = moment.next[fails ? 1 : 0];
  if (!next) {
    next = std::make_unique<Moment>();
    next->questions = moment.questions->after(fails);
    const bool isTaken = fails && moment.proposal && !moment.questions->isSurvey();
    next->best = isTaken ? moment.proposal->size : moment.best;
  }
  return *next;
}

/// What the answer is, if that is known.
std::optional<bool> Search::known(const Moment& moment) const {
  if (!moment.proposal) return false;
  const auto answer = m_answers.find(moment.proposal->key);
  if (answer != m_answers.end()) return answer->second.verdict && isWanted(*answer->second.verdict);
  return moment.proposal->verdict ? std::optional(isWanted(*moment.proposal->verdict)) : std::nullopt;
}

/// Gives every idle worker the likeliest question that nobody works at.
void Search::askAhead(Moment& now) {
  if (!now.questions) return scoutAhead();
  if (m_runner.width() < 2) return;
  using Entry = std::pair<double, Moment*>;
  const auto isLess = [](const Entry& a, const Entry& b) { return a.first < b.first; };
  std::priority_queue<Entry, std::vector<Entry>, decltype(isLess)> open(isLess);
  open.emplace(1.0, &now);
  while (!open.empty() && m_running.size() < m_runner.width()) {
    const auto [chance, moment] = open.top();
    open.pop();
    if (chance < leastChance || moment->questions->isOver()) continue;
    propose(*moment);
    const std::optional<bool> answer = known(*moment);
    const bool isTooLarge = m_runner.width() < fewWorkers && now.proposal && moment->proposal &&
                            moment->proposal->size.nodes > mostBeside * now.proposal->size.nodes;
    if (!answer && !m_running.contains(moment->proposal->key) && !isTooLarge) start(*moment->proposal);
    const double fails = answer ? (*answer ? 1.0 : 0.0) : chanceOf(*moment->questions);
    for (const bool side : {false, true})
      if (const double likely = chance * (side ? fails : 1 - fails); likely >= leastChance)
        open.emplace(likely, &follow(*moment, side));
    while (auto came = m_runner.next({})) take(std::move(*came));  // building takes time
    if (now.proposal && m_answers.contains(now.proposal->key)) return;
  }
}

/// Of a survey only one way is followed: the other one leads to the same questions.
double Search::chanceOf(const Questions& questions) const {
  return questions.isSurvey() ? 0.0 : m_outlook.chance(questions.habit());
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

/// Stops what no future of `now` asks any more. What a survey asked ahead it asks on its other ways, too.
void Search::stopPointless(const Moment& now) {
  if (now.questions && now.questions->isSurvey()) return;
  std::set<std::string> wanted;
  std::vector<const Moment*> open{&now};
  while (!open.empty()) {
    const Moment* moment = open.back();
    open.pop_back();
    if (moment->proposal) wanted.insert(moment->proposal->key);
    for (const auto& next : moment->next)
      if (next) open.push_back(next.get());
  }
  std::vector<std::string> pointless;
  for (const auto& [key, query] : m_running)
    if (!wanted.contains(key)) pointless.push_back(key);
  for (const std::string& key : pointless) stop(key);
}

}  // namespace kerf::inline minifier::inline core
