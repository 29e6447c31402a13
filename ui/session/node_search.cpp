#include "ui/session/node_search.h"

#include <unordered_set>

#include "app/workbench/protocol/node_query.h"

namespace kerf::ui::inline session {

namespace {

using workbench::NodeFacts, workbench::NodeQuery;
using Names = std::unordered_set<std::string>;

/// Facts of nodes by name, gathered once a search.
class Facts {
 public:
  explicit Facts(const Session& session) : m_accuracy(session.accuracy()) {
    for (const auto& pin : session.pins()) m_pinned.insert(pin.toStdString());
    if (const auto notes = session.notes())
      for (const auto& note : *notes)
        if (note.graphHash == session.graph()->hash) m_noted.insert(note.node);
    if (const auto difference = session.difference()) {
      m_added.insert(difference->added.begin(), difference->added.end());
      for (const auto& rewrite : difference->rewritten) m_rewritten.insert(rewrite.after.begin(), rewrite.after.end());
    }
  }
  NodeFacts of(const std::string& name) const {
    NodeFacts facts;
    if (const auto* row = m_accuracy ? m_accuracy->find(name) : nullptr) {
      facts.diverged = !row->same;
      facts.firstBad = row->firstBad;
    }
    facts.added = m_added.contains(name);
    facts.rewritten = m_rewritten.contains(name);
    facts.pinned = m_pinned.contains(name);
    facts.noted = m_noted.contains(name);
    return facts;
  }

 private:
  AccuracyDocPtr m_accuracy;
  Names m_pinned, m_noted, m_added, m_rewritten;
};

/// Why something that was asked for cannot be known yet.
QString missingFact(const Session& session, const std::set<std::string>& asked) {
  const auto accuracy = session.accuracy();
  const bool compared = accuracy && !accuracy->running && !accuracy->nodes.empty();
  if ((asked.contains("diverged") || asked.contains("firstbad")) && !compared)
    return Session::tr("Nothing is known to have diverged: compare first (Ctrl+R)");
  if ((asked.contains("added") || asked.contains("rewritten")) && !session.difference())
    return Session::tr("This graph is compared with no other one: choose one with Ctrl+D");
  return {};
}

}  // namespace

FoundNodes searchNodes(const Session& session, const QString& query) {
  FoundNodes found;
  const auto graph = session.graph();
  const auto parsed = NodeQuery::parse(query.toStdString());
  if (!parsed) {
    found.problem = text(parsed.error().message);
    return found;
  }
  if (!graph || parsed->empty()) return found;
  const auto asked = parsed->factsAskedFor();
  found.problem = missingFact(session, asked);
  if (!found.problem.isEmpty()) return found;
  const Facts facts(session);
  for (int i = 0; i < int(graph->nodes.size()); ++i) {
    const auto& node = graph->nodes[std::size_t(i)];
    if (parsed->matches(node, asked.empty() ? NodeFacts() : facts.of(node.name))) found.nodes.push_back(i);
  }
  return found;
}

std::vector<std::pair<QString, QString>> searchWords() {
  std::vector<std::pair<QString, QString>> words;
  for (const auto& [word, what] : workbench::queryWords()) words.emplace_back(text(word), text(what));
  return words;
}

}  // namespace kerf::ui::inline session
