// SetSearch: the phases as a state machine.
#include "minifier/core/set_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace kerf::inline minifier::inline core {

SetSearch::SetSearch(Set failing, std::vector<Set> guesses, Proof proof, std::size_t parallelTests,
                     std::shared_ptr<const SetWeights> weights)
    : m_proof(proof),
      m_weights(std::move(weights)),
      m_set(std::move(failing)),
      m_guesses(std::move(guesses)),
      m_parallelTests(parallelTests) {
  if (proof == Proof::Only) {
    beginProof();
    return;
  }
  if (proof == Proof::MostNeeded) {
    beginSweep(1);
    return;
  }
  std::erase_if(m_guesses, [&](const Set& guess) { return guess.empty() || guess.size() >= m_set.size(); });
  if (m_guesses.empty()) beginHalving();
}

std::optional<SetSearch::Set> SetSearch::next() const {
  switch (m_phase) {
    case Phase::Guess:
      return m_guesses[m_guess];
    case Phase::HalveFirst:
      return without(half(), m_set.size());
    case Phase::HalveLast:
      return without(0, half());
    case Phase::Bisect:
      return without(middle(m_passing, m_set.size(), 0), m_set.size());
    case Phase::Sweep:
      return without(m_undecided - m_chunk, m_undecided);
    case Phase::Prove:
      return without(m_position - 1, m_position);
    case Phase::Survey:
      return without(surveyedFrom(), m_position);
    case Phase::Fold:
      return withoutFolded();
    case Phase::Done:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view SetSearch::step() const {
  constexpr std::string_view names[] = {
      "suspects", "remove_suffix", "remove_prefix", "remove_suffix", "delta", "leave_one_out", "survey", "fold", ""};
  return names[std::size_t(m_phase)];
}

void SetSearch::tell(bool fails) {
  if (m_phase == Phase::Done) return;
  if (m_phase == Phase::Sweep) return tellSweep(fails);
  if (m_phase == Phase::Prove) return tellProof(fails);
  if (m_phase == Phase::Bisect) return tellBisection(fails);
  if (m_phase == Phase::Survey) return tellSurvey(fails);
  if (m_phase == Phase::Fold) return tellFold(fails);
  tellHalf(fails);
}

void SetSearch::tellHalf(bool fails) {
  if (fails) {
    m_set = *next();
    beginHalving();
  } else if (m_phase == Phase::Guess) {
    if (++m_guess == m_guesses.size()) beginHalving();
  } else if (m_phase == Phase::HalveFirst) {
    m_passing = half();
    m_phase = m_set.size() > mostBisected ? Phase::HalveLast : Phase::Bisect;
    if (m_phase == Phase::Bisect && m_set.size() - m_passing == 1) beginBehindLast();
  } else {
    beginSweep(m_set.size() / 4);  // without the last half it passes
  }
}

/// Of large sets a half is something whole; of smaller ones it is a half.
std::size_t SetSearch::half() const {
  constexpr double off = 1.0 / 16;
  return middle(0, m_set.size(), m_set.size() > mostBisected ? off : 0);
}

/// Where elements [begin, end) of the set, two at least, are halved: in the middle of what they cost, or off it by
/// `tolerance` of the whole at most, behind the element with which the most falls.
std::size_t SetSearch::middle(std::size_t begin, std::size_t end, double tolerance) const {
  if (!m_weights) return begin + (end - begin + 1) / 2;
  const auto costOf = [&](std::size_t at) { return m_weights->costs[m_set[at]]; };
  double whole = 0, before = 0, mostFalls = 0, leastOff = std::numeric_limits<double>::infinity();
  for (std::size_t at = begin; at < end; ++at) whole += costOf(at);
  std::size_t best = begin + 1;
  for (std::size_t at = begin; at + 1 < end; ++at) {
    before += costOf(at);
    const double off = std::max(std::abs(before - whole / 2) - tolerance * whole, 0.0);
    const double falls = m_weights->falls[m_set[at]];
    if (off > leastOff || (off == leastOff && falls <= mostFalls)) continue;
    best = at + 1;
    leastOff = off;
    mostFalls = falls;
  }
  return best;
}

void SetSearch::beginHalving() {
  if (m_set.size() <= surveyedByEach * m_parallelTests && m_set.size() > 1)
    return beginSurvey((m_set.size() + m_parallelTests - 1) / m_parallelTests);
  if (m_set.size() <= fewElements) return beginSweep(m_set.size() / 2);
  m_phase = Phase::HalveFirst;
}

void SetSearch::tellBisection(bool fails) {
  if (fails)
    m_set = *next();
  else
    m_passing = middle(m_passing, m_set.size(), 0);
  if (m_set.size() - m_passing == 1) beginBehindLast();
}

/// A sweep that knows of the last element already.
void SetSearch::beginBehindLast() {
  m_phase = Phase::Sweep;
  m_undecided = m_set.size();
  m_suspect = m_gap = m_needed = 0;
  foundNeeded();
  skipDecided();
}

void SetSearch::beginSweep(std::size_t chunk) {
  m_phase = Phase::Sweep;
  m_undecided = m_set.size();
  m_chunk = std::max<std::size_t>(chunk, 1);
  m_suspect = m_gap = m_needed = 0;
  m_nearby = m_hopes = false;
  skipDecided();
}

void SetSearch::tellSweep(bool fails) {
  const bool hoped = std::exchange(m_hopes, false);
  if (fails) {
    m_set = *next();
    m_undecided -= m_chunk;
    m_gap += m_chunk;
    if (m_suspect > 0) m_suspect -= m_chunk;
    constexpr std::size_t nearbyGrowth = 4;  // what is nearby is found as soon, and what is far off sooner
    m_chunk = m_nearby         ? nearbyGrowth * m_chunk
              : m_suspect == 0 ? 2 * m_chunk
                               : std::max<std::size_t>(m_suspect / 2, 1);
    if (m_suspect == 1) foundNeeded();  // the others of the chunk are gone
  } else if (m_chunk == 1) {
    foundNeeded();
  } else {
    m_suspect = m_chunk;
    m_nearby = hoped;
    m_chunk = m_nearby ? m_nearest : m_chunk / 2;
  }
  if (m_suspect > 1) m_chunk = std::min(m_chunk, m_suspect - 1);
  skipDecided();
}

/// The last undecided element must stay. Before it there is nothing more, or so one hopes after the first, the second,
/// the fourth and so on: chunks as long as the last gap come to that slowly where needed elements are close together.
void SetSearch::foundNeeded() {
  ++m_needed;
  --m_undecided;
  m_suspect = 0;
  m_nearby = false;
  m_nearest = m_needed == 1 ? 1 : std::max<std::size_t>(2 * m_gap, 1);
  m_hopes = m_proof != Proof::MostNeeded && std::has_single_bit(m_needed) && m_undecided > m_nearest;
  m_chunk = m_hopes ? m_undecided : m_nearest;
  m_gap = 0;
}

/// Ends the sweep where everything is decided; never proposes to leave out all.
void SetSearch::skipDecided() {
  m_chunk = std::min(m_chunk, m_undecided);
  if (m_undecided == m_set.size() && m_chunk == m_undecided) m_chunk = m_undecided - 1;
  if (m_undecided > 0 && m_chunk > 0) return;
  endSweep();
}

void SetSearch::endSweep() {
  if (m_proof != Proof::Last)
    m_phase = Phase::Done;
  else
    beginProof();
}

void SetSearch::beginSurvey(std::size_t chunk) {
  m_phase = Phase::Survey;
  m_surveyChunk = chunk < leastSurveyChunk ? 1 : chunk;
  m_position = m_set.size();
  m_removable.clear();
}

std::size_t SetSearch::surveyedFrom() const { return m_position - std::min(m_position, m_surveyChunk); }

void SetSearch::tellSurvey(bool fails) {
  for (const std::size_t from = surveyedFrom(); m_position > from; --m_position)
    if (fails) m_removable.push_back(m_set[m_position - 1]);
  if (m_position > 0) return;
  if (m_removable.empty()) return endSurvey();
  m_phase = Phase::Fold;
  m_folded = m_removable.size();
  if (m_folded == m_set.size()) --m_folded;  // never all of them
}

SetSearch::Set SetSearch::withoutFolded() const {
  const std::span<const std::size_t> gone(m_removable.end() - std::ptrdiff_t(m_folded), m_removable.end());
  Set rest;
  for (const std::size_t element : m_set)
    if (std::ranges::find(gone, element) == gone.end()) rest.push_back(element);
  return rest;
}

/// One of several that can replace each other stays: the others are looked at anew, on what is left.
void SetSearch::tellFold(bool fails) {
  if (fails) m_set = withoutFolded();
  if (!fails && m_folded > 1) {
    m_folded = (m_folded + 1) / 2;
    return;
  }
  m_removable.resize(m_removable.size() - m_folded);
  m_folded = m_removable.size();
  if (m_folded == m_set.size()) --m_folded;
  if (m_folded == 0) endSurvey();
}

/// Of chunks: what they left is surveyed in smaller ones, element by element where they left all.
void SetSearch::endSurvey() {
  if (m_surveyChunk == 1 || m_set.size() < 2) return endSweep();
  const std::size_t smaller = (m_set.size() + m_parallelTests - 1) / m_parallelTests;
  beginSurvey(smaller < m_surveyChunk ? smaller : 1);
}

void SetSearch::beginProof() {
  m_changed = false;
  m_position = m_set.size();
  m_phase = m_set.size() > 1 ? Phase::Prove : Phase::Done;
}

void SetSearch::tellProof(bool fails) {
  if (fails) {
    m_set = *next();
    m_changed = true;
  }
  --m_position;
  if (m_set.size() < 2) m_phase = Phase::Done;
  if (m_position > 0 || m_phase == Phase::Done) return;
  if (m_changed)
    beginProof();
  else
    m_phase = Phase::Done;
}

SetSearch::Set SetSearch::without(std::size_t begin, std::size_t end) const {
  Set rest(m_set.begin(), m_set.begin() + std::ptrdiff_t(begin));
  rest.insert(rest.end(), m_set.begin() + std::ptrdiff_t(end), m_set.end());
  return rest;
}

}  // namespace kerf::inline minifier::inline core
