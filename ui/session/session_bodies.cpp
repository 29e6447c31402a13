// Session: nested graphs of higher-order ops: going into them and out again.
#include <algorithm>

#include "ui/session/graph_state.h"
#include "ui/session/session.h"

namespace kerf::ui::inline session {

void Session::requestBody(const Location& location) {
  if (const auto known = state()->bodies.find(location.body); known != state()->bodies.end())
    return showGraph(location, known->second);
  workbench::GraphRequest request{shownAddress(location.key())};
  request.body = location.body;
  m_jobs.submit<Result<GraphDocPtr>>(
      "graph",
      [worker = browser(location.capture), request](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [this, location](const Result<GraphDocPtr>& read) {
        if (!read) return notRead(tr("Cannot show this body"), read.error());
        auto* target = state(location.key());
        if (!target) return;  // its capture has been closed
        target->bodies[location.body] = *read;
        showGraph(location, *read);
      });
}

/// Bodies are those of the graph as it was captured: what passes did is left.
void Session::enterBody(const std::string& path) {
  if (!m_graph || path.empty()) return;
  auto inside = m_location;
  inside.stage = Location::Stage::Captured;
  inside.index = -1;
  inside.body = m_location.body.empty() ? path : m_location.body + "/" + path;
  inside.node.clear();
  go(inside);
}

void Session::leaveBody(int levels) {
  auto outside = m_location;
  std::string left;
  for (; levels > 0 && !outside.body.empty(); --levels) {
    const auto slash = outside.body.rfind('/');
    left = outside.body.substr(slash == std::string::npos ? 0 : slash + 1);
    outside.body.resize(slash == std::string::npos ? 0 : slash);
  }
  if (left.empty()) return;
  outside.node.clear();
  if (const auto document = documentAt(outside)) {
    const auto calls = [&](const NodeDoc& node) {
      return node.opcode != "get_attr" && std::ranges::find(node.bodies, left) != node.bodies.end();
    };
    const auto call = std::ranges::find_if(document->nodes, calls);
    if (call != document->nodes.end()) outside.node = QString::fromStdString(call->name);
  }
  go(outside);
}

}  // namespace kerf::ui::inline session
