// Node search: what a query finds in the shown graph, and what is wrong with the query.
#pragma once

#include <utility>
#include <vector>

#include <QString>

#include "ui/session/session.h"

namespace kerf::ui::inline session {

struct FoundNodes {
  std::vector<int> nodes;
  QString problem;  ///< why the query says nothing; empty: it was understood
};
/// In the session's graph, with what the session knows of its nodes: values that diverged, changes, pins, notes.
FoundNodes searchNodes(const Session& session, const QString& query);

/// What a query may be made of, and what it means: ("op:", "op:relu, op:*norm*"), …
std::vector<std::pair<QString, QString>> searchWords();

}  // namespace kerf::ui::inline session
