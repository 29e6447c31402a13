// Partners: which nodes of two graphs are the same computation, by position, and how that is known.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/diff/compared_graph.h"

namespace kerf::inline diff {

/// How a pair was found, strongest first.
enum class Evidence : std::uint8_t {
  None,
  Recorded,   ///< the compiler wrote down where the node came from
  Structure,  ///< same call of partners, or same use by partners
  Origin,     ///< same op from the same source line, in the same order
  Place,      ///< same op at the same place of partners
  Name,       ///< same op, value and name
};
std::string_view evidenceName(Evidence evidence);

class Partners {
 public:
  static constexpr int none = -1;

  Partners(const ComparedGraph& before, const ComparedGraph& after)
      : m_before(before),
        m_after(after),
        m_partner(std::size_t(before.size()), none),
        m_origin(std::size_t(after.size()), none),
        m_evidence(std::size_t(before.size())),
        m_stand(std::size_t(before.size()), none),
        m_claimed(std::size_t(before.size()), 0),
        m_claimedAfter(std::size_t(after.size()), 0) {}

  const ComparedGraph& before() const { return m_before; }
  const ComparedGraph& after() const { return m_after; }
  int of(int before) const { return m_partner[std::size_t(before)]; }
  int back(int after) const { return m_origin[std::size_t(after)]; }
  bool has(int before) const { return of(before) != none; }
  bool taken(int after) const { return back(after) != none; }
  Evidence evidence(int before) const { return m_evidence[std::size_t(before)]; }

  /// Neither paired nor part of a rewrite.
  bool isOpen(int before) const { return !has(before) && !m_claimed[std::size_t(before)]; }
  bool isOpenAfter(int after) const { return !taken(after) && !m_claimedAfter[std::size_t(after)]; }
  /// Nodes that a rewrite accounts for.
  void claim(const std::vector<int>& before, const std::vector<int>& after) {
    for (const int at : before) m_claimed[std::size_t(at)] = 1;
    for (const int at : after) m_claimedAfter[std::size_t(at)] = 1;
  }

  void pair(int before, int after, Evidence evidence) {
    m_partner[std::size_t(before)] = after;
    m_origin[std::size_t(after)] = before;
    m_evidence[std::size_t(before)] = evidence;
  }

  /// The node of the second graph that yields what `before` did: its partner, or the last of what it became.
  int valueOf(int before) const { return has(before) ? of(before) : m_stand[std::size_t(before)]; }
  void setValue(int before, int after) { m_stand[std::size_t(before)] = after; }

 private:
  const ComparedGraph& m_before;
  const ComparedGraph& m_after;
  std::vector<int> m_partner, m_origin;
  std::vector<Evidence> m_evidence;
  std::vector<int> m_stand;  ///< by position in the first graph
  std::vector<char> m_claimed, m_claimedAfter;
};

/// Which pairs may be made on weak evidence: those of one dtype and shape, as far as both are known, or any.
enum class ValueRule : std::uint8_t { Same, Any };

inline bool sameValueKnown(const Partners& partners, int before, int after) {
  const Key mine = partners.before().value(before), theirs = partners.after().value(after);
  return mine == 0 || theirs == 0 || mine == theirs;
}

}  // namespace kerf::inline diff
