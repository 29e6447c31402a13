// History: a list of places with a position in it, as browsers keep it.
#pragma once

#include <optional>
#include <vector>

namespace kerf::ui::inline session {

template <class T>
class History {
 public:
  /// Forgets what lay ahead. The same place twice in a row is kept once.
  void push(const T& place) {
    if (m_at >= 0 && m_places[std::size_t(m_at)] == place) return;
    m_places.resize(std::size_t(m_at + 1));
    m_places.push_back(place);
    if (m_places.size() > most) m_places.erase(m_places.begin());
    m_at = int(m_places.size()) - 1;
  }
  bool canBack() const { return m_at > 0; }
  bool canForward() const { return m_at + 1 < int(m_places.size()); }
  std::optional<T> back() { return canBack() ? std::optional<T>(m_places[std::size_t(--m_at)]) : std::nullopt; }
  std::optional<T> forward() { return canForward() ? std::optional<T>(m_places[std::size_t(++m_at)]) : std::nullopt; }

 private:
  static constexpr std::size_t most = 500;
  std::vector<T> m_places;
  int m_at = -1;
};

}  // namespace kerf::ui::inline session
