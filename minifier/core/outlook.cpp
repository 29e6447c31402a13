#include "minifier/core/outlook.h"

#include <algorithm>
#include <cmath>

namespace kerf::inline minifier::inline core {

namespace {

constexpr double usualChance = 0.4;
constexpr double weightOfNews = 0.25;
/// A round of edits that are all refused asks about so many per node.
constexpr double testsPerNode = 3;

}  // namespace

double Outlook::chance(const std::string& habit) const {
  const auto found = m_chances.find(habit);
  return found == m_chances.end() ? usualChance : found->second;
}

void Outlook::learn(const std::string& habit, bool fails) {
  double& chance = m_chances.try_emplace(habit, usualChance).first->second;
  chance += weightOfNews * ((fails ? 1.0 : 0.0) - chance);
}

/// While halving helps, a few questions per halving and then a round over what a halving search leaves; a round without
/// luck asks about each node's edits once.
double Outlook::testsLeft(std::size_t nodes) const {
  const double size = double(std::max<std::size_t>(nodes, 2));
  const double halvings = m_round == 0 ? 2 * std::log2(size) : 0;
  const double proof = testsPerNode * std::min(size, 16 + std::sqrt(size));
  return halvings + std::max(1.0, proof - m_sinceAccepted);
}

}  // namespace kerf::inline minifier::inline core
