// TestSequence: sets, shorter paths, and edits in packs.
#include "minifier/core/test_sequence.h"

#include <algorithm>

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

SubsetTests::SubsetTests(SetSearch search, const Base& base) : m_search(std::move(search)), m_base(base) { findNext(); }

void SubsetTests::findNext() {
  for (;;) {
    if (!m_paths) {
      m_next = m_search.next();
      if (m_next || current().size() == m_settled) return;
      findPaths();
    }
    m_next = m_path < m_paths->size() ? std::optional((*m_paths)[m_path]) : std::nullopt;
    if (m_next) return;
    m_settled = current().size();
    if (!std::exchange(m_isShorter, false)) return;
    m_paths.reset();  // calls that the longer paths needed
  }
}

void SubsetTests::findPaths() {
  m_paths = std::make_shared<const std::vector<UnitSet>>(m_base.shorterPaths.around(current()));
  m_path = 0;
}

std::unique_ptr<TestSequence> SubsetTests::after(bool fails) {
  auto next = std::make_unique<SubsetTests>(*this);
  if (!m_paths) {
    next->m_search.tell(fails);
  } else if (fails) {
    next->m_search = SetSearch(*m_next, {}, SetSearch::Proof::MostNeeded);
    next->m_isShorter = true;
    next->findPaths();
  } else {
    ++next->m_path;
  }
  next->findNext();
  return next;
}

std::optional<Candidate> SubsetTests::build() {
  return m_base.safe.build(step(), [&] { return m_base.builder.build(*m_next); });
}

std::string SubsetTests::step() const { return std::string(m_paths ? "shorter_path" : m_search.step()); }

/// Leaving out a single call fails more rarely than leaving out many next to those that could go.
std::string SubsetTests::category() const {
  const bool isOne = m_next && m_next->size() + 1 == m_search.current().size();
  return step() + (isOne ? "/1" : "");
}

EditTests::EditTests(std::span<const Reduction> reductions, std::shared_ptr<const Candidate> base, bool isSettled,
                     SafeBuilding& safe, std::stop_token stop)
    : m_reductions(reductions), m_safe(&safe), m_stop(std::move(stop)), m_isSettled(isSettled) {
  begin(std::move(base), {}, isSettled);
  goOn();
}

EditTests::BasePtr EditTests::baseOf(std::shared_ptr<const Candidate> candidate, ResumePoint resume,
                                     bool isSettled) const {
  auto base = std::make_shared<Base>(Base{candidate, ReductionInput{*candidate, m_stop, isSettled}, {}});
  base->edits = m_safe->edits(m_reductions[m_reduction], base->input, resume);
  return base;
}

void EditTests::begin(std::shared_ptr<const Candidate> candidate, ResumePoint resume, bool isSettled) {
  m_edit = 0;
  m_chain = std::make_shared<std::vector<Link>>();
  m_base = isOver() ? nullptr : baseOf(std::move(candidate), resume, isSettled);
}

/// To the next reduction that has edits, if this one has no more.
void EditTests::goOn() {
  while (!isOver() && m_edit >= m_base->edits.size()) {
    const auto candidate = m_base->candidate;
    ++m_reduction;
    m_pack = 1;
    begin(candidate, {}, m_isSettled);
  }
}

std::optional<EditTests::Link> EditTests::firstBuilt(const Base& base, std::size_t first, std::size_t last) const {
  const CandidateSize size = measure(*base.candidate);
  for (std::size_t i = first; i < std::min(last, base.edits.size()); ++i) {
    auto built = m_safe->build(step(), [&]() -> std::optional<Candidate> {
      auto smaller = base.edits[i].build();
      const bool isGood = smaller && measure(*smaller) < size && smaller->module.graph.lint();
      return isGood ? std::move(smaller) : std::nullopt;
    });
    if (built) return Link{std::make_shared<const Candidate>(std::move(*built)), base.edits[i].at};
  }
  return std::nullopt;
}

/// One more edit on top of those that the chain holds: what would be asked next if they were all accepted.
void EditTests::lengthen() {
  const Link last = m_chain->back();
  const BasePtr base = baseOf(last.candidate, last.at, false);
  if (auto link = firstBuilt(*base, 0, base->edits.size())) m_chain->push_back(std::move(*link));
}

std::optional<Candidate> EditTests::build() {
  if (m_chain->empty()) {
    auto first = firstBuilt(*m_base, m_edit, m_edit + 1);
    if (!first) return std::nullopt;
    m_chain->push_back(std::move(*first));
  }
  for (std::size_t length = m_chain->size(); length < m_pack; length = m_chain->size()) {
    lengthen();
    if (m_chain->size() == length) break;
  }
  m_pack = std::min(m_pack, m_chain->size());
  return *(*m_chain)[m_pack - 1].candidate;
}

std::unique_ptr<TestSequence> EditTests::after(bool fails) {
  auto next = std::make_unique<EditTests>(*this);
  if (fails) {
    const Link& taken = (*m_chain)[m_pack - 1];
    next->m_pack = 2 * m_pack;
    next->begin(taken.candidate, taken.at, false);
  } else if (m_pack > 1 && !m_chain->empty()) {
    next->m_pack = m_pack / 2;
  } else {
    ++next->m_edit;
    next->m_pack = 1;
    next->m_chain = std::make_shared<std::vector<Link>>();
  }
  next->goOn();
  return next;
}

std::string EditTests::category() const { return step() + (m_pack > 1 ? "/many" : ""); }

}  // namespace kerf::inline minifier::inline core
