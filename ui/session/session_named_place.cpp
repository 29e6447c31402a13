// Session: places by name, which notes and a closed window keep.
#include <algorithm>

#include "ui/session/session.h"

namespace kerf::ui::inline session {

std::optional<NamedPlace> Session::namedPlace() const {
  const auto doc = capture(m_location.capture);
  if (!m_graph || !doc || m_location.graph >= int(doc->graphs.size())) return std::nullopt;
  return NamedPlace{doc->name, doc->graphs[std::size_t(m_location.graph)].name, m_location};
}

void Session::goTo(const NamedPlace& place) {
  m_wanted = place;
  const auto isOpen = [&](const auto& item) {
    return item.second->name == place.capture && item.second->error.empty();
  };
  if (std::ranges::none_of(m_captures, isOpen)) openNamed(place.capture);
  reachWanted();
}

/// Waits while the capture is being read.
void Session::reachWanted() {
  if (!m_wanted) return;
  const auto found =
      std::ranges::find_if(m_captures, [&](const auto& item) { return item.second->name == m_wanted->capture; });
  if (found == m_captures.end() || found->second->loading) return;
  const auto wanted = *std::exchange(m_wanted, std::nullopt);
  if (!found->second->error.empty()) return;  // which was told already
  const auto& graphs = found->second->graphs;
  const auto entry = wanted.graph.empty() ? graphs.begin() : std::ranges::find(graphs, wanted.graph, &GraphEntry::name);
  if (entry == graphs.end())
    return emit noted(tr("%1 has no graph %2 any more").arg(text(wanted.capture), text(wanted.graph)));
  auto place = wanted.place;
  place.capture = found->first;
  place.graph = int(entry - graphs.begin());
  m_showNext = false;
  go(place);
}

}  // namespace kerf::ui::inline session
