// Outlook: what a search learns of its own questions: how often they fail, how many are left, and what they take.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace kerf::inline minifier::inline core {

class Outlook {
 public:
  /// Probability that the next question of a habit fails, from what became of the ones before.
  double chance(const std::string& habit) const;
  void learn(const std::string& habit, bool fails);
  void beginRound(int number) { m_round = number; }
  /// A verdict was taken.
  void count(bool accepted) { m_sinceAccepted = accepted ? 0 : m_sinceAccepted + 1; }
  /// Tests that are probably left with `nodes` nodes.
  double testsLeft(std::size_t nodes) const;

 private:
  std::map<std::string, double> m_chances;
  int m_round = 0;
  double m_sinceAccepted = 0;  ///< verdicts since the last one that helped
};

}  // namespace kerf::inline minifier::inline core
