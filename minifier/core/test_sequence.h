// TestSequence: what a search tests next, as a value that can be followed ahead of the verdicts.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "minifier/core/reduction.h"
#include "minifier/core/safe_building.h"
#include "minifier/core/set_search.h"
#include "minifier/core/shorter_paths.h"
#include "minifier/core/subset_builder.h"

namespace kerf::inline minifier::inline core {

/// A state of a search. It has one test next, whether the candidate that it builds fails, and either verdict leads to
/// another state; so the search can follow both before the verdict is known (speculative tests).
class TestSequence {
 public:
  virtual ~TestSequence() = default;
  /// Nothing is left to test.
  virtual bool isOver() const = 0;
  /// What is tested; none where it cannot be built, which counts as passing.
  virtual std::optional<Candidate> build() = 0;
  virtual std::unique_ptr<TestSequence> after(bool fails) = 0;
  /// Name of the reduction, or of the step of a search over sets.
  virtual std::string step() const = 0;
  /// Tests of the same category fail about as often as each other.
  virtual std::string category() const { return step(); }
  /// What is tested next does not depend on the verdict, and a failure changes nothing yet.
  virtual bool isSurvey() const { return false; }
  /// How far a sweep over sets is, where this is one.
  virtual SetSearch::Sweep sweep() const { return {}; }
};

/// The search over sets of calls; where it has ended, shorter paths between what it left, one after the other; then what
/// these made needless, and again.
class SubsetTests : public TestSequence {
 public:
  /// Not owned.
  struct Base {
    SubsetBuilder& builder;
    const ShorterPaths& shorterPaths;
    SafeBuilding& safe;
  };
  SubsetTests(SetSearch search, const Base& base);
  bool isOver() const override { return !m_next; }
  std::optional<Candidate> build() override;
  std::unique_ptr<TestSequence> after(bool fails) override;
  std::string step() const override;
  std::string category() const override;
  bool isSurvey() const override { return !m_paths && m_search.isSurvey(); }
  SetSearch::Sweep sweep() const override { return m_paths ? SetSearch::Sweep{} : m_search.sweep(); }
  const UnitSet& current() const { return m_search.current(); }

 private:
  void findNext();
  void findPaths();
  SetSearch m_search;
  Base m_base;
  std::shared_ptr<const std::vector<UnitSet>> m_paths;  ///< shorter ones; null while the search goes on
  std::size_t m_path = 0;
  bool m_isShorter = false;   ///< one of them was taken, and the search has not gone on since
  std::size_t m_settled = 0;  ///< of a set of so many no path is shorter
  std::optional<UnitSet> m_next;
};

/// The edits of reductions, one reduction after the other. After an edit that was accepted come two at once, then four
/// and so on, since what is possible once often is possible throughout; where several at once pass, half as many.
class EditTests : public TestSequence {
 public:
  /// `isSettled` as in ReductionInput. The reductions and `safe` outlive this.
  EditTests(std::span<const Reduction> reductions, std::shared_ptr<const Candidate> base, bool isSettled,
            SafeBuilding& safe, std::stop_token stop);
  bool isOver() const override { return m_reduction == m_reductions.size(); }
  std::optional<Candidate> build() override;
  std::unique_ptr<TestSequence> after(bool fails) override;
  std::string step() const override { return isOver() ? std::string() : m_reductions[m_reduction].name; }
  std::string category() const override;

 private:
  struct Link {
    std::shared_ptr<const Candidate> candidate;
    ResumePoint at;
  };
  /// A candidate and its edits, which refer to it.
  struct Base {
    std::shared_ptr<const Candidate> candidate;
    ReductionInput input;
    std::vector<Edit> edits;
  };
  using BasePtr = std::shared_ptr<const Base>;
  BasePtr baseOf(std::shared_ptr<const Candidate> candidate, ResumePoint resume, bool isSettled) const;
  void begin(std::shared_ptr<const Candidate> candidate, ResumePoint resume, bool isSettled);
  void goOn();
  /// The first edit from `first` on that makes `base` smaller.
  std::optional<Link> firstBuilt(const Base& base, std::size_t first, std::size_t last) const;
  void lengthen();

  std::span<const Reduction> m_reductions;
  std::size_t m_reduction = 0;
  SafeBuilding* m_safe;
  std::stop_token m_stop;
  bool m_isSettled;
  BasePtr m_base;
  std::size_t m_edit = 0;
  std::size_t m_pack = 1;                      ///< edits at once
  std::shared_ptr<std::vector<Link>> m_chain;  ///< what 1, 2 … edits at once make, as far as is known
};

}  // namespace kerf::inline minifier::inline core
