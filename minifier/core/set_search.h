// SetSearch: which sets to test, and in what order, to come to one of which no element can be left out.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace kerf::inline minifier::inline core {

/// What each element weighs, by its number: halving goes by it.
struct SetWeights {
  std::vector<double> costs;  ///< what a test with it costs; both halves of a set cost about the same
  std::vector<double> falls;  ///< what is of no use without it: a half ends best where the most does
};

/// A search in the spirit of ddmin (Zeller and Hildebrandt) over sets of numbers in an order in which neighbours belong
/// together. It holds the smallest set known to fail, proposes one that is part of it, and is told whether that fails.
/// A value: a copy that is told "passes" shows what will be tested next, for speculative tests.
///
///     guess    sets that a caller suspects, each alone
///     halve    the first, then the last half, while that is most of the work and the set is large; by weight, and
///              where something whole ends
///     bisect   where the first half of a smaller set passes: the shortest beginning that fails, whose last element must
///              stay. One test for each halving where looking at both halves takes two, but of larger sets
///     sweep    from the end to the start: all that is left once the first element that must stay is found, the second,
///              the fourth …; else chunks as long as the last gap between two of them, longer after each success, half
///              as long after each failure
///     prove    each element left out, until a whole round changes nothing
///
/// A caller that can test many sets at once, and waits long for each verdict, has small sets surveyed instead of
/// halved and swept: no test depends on the verdict of another one.
///
///     survey   as many chunks as there are tests at once, then each element, left out by itself; removes nothing yet
///     fold     all that could be left out, left out together; where that passes, half of them, and so on
///
/// What must stay is often close together, so after the first one the chunks begin small again. Where failing is
/// monotone (a set fails if a part of it does), k needed elements of n take about 2k·log2(n/k) + 2k tests at most;
/// in every case the result is 1-minimal, as ddmin's is, and O(n²) tests are enough.
class SetSearch {
 public:
  using Set = std::vector<std::size_t>;
  enum class Proof {
    Last,   ///< all phases
    Later,  ///< all but the proof: somebody asks for it when what else there is to change has changed
    Only,   ///< `failing` came out of a search already
    /// The same, and was changed since: only a sweep, call by call at first, and no proof
    MostNeeded,
  };
  /// `failing` is known to fail. `guesses` are tested first, in order, up to the first that fails.
  /// With `parallelTests`, the number of tests at a time, sets of some elements for each of them are surveyed.
  /// Without `weights` each element weighs the same.
  SetSearch(Set failing, std::vector<Set> guesses, Proof proof = Proof::Last, std::size_t parallelTests = 0,
            std::shared_ptr<const SetWeights> weights = nullptr);
  /// The set to test; none: current() is 1-minimal, if that was to be proven. Never empty, never all of current().
  std::optional<Set> next() const;
  /// What became of next().
  void tell(bool fails);
  const Set& current() const { return m_set; }
  /// "suspects", "remove_suffix", "remove_prefix", "delta", "leave_one_out", "survey", "fold": what next() does.
  std::string_view step() const;
  /// Failing takes nothing away, and what is tested next does not depend on the verdict.
  bool isSurvey() const { return m_phase == Phase::Survey; }
  /// How far a sweep is; zeros in other phases.
  struct Sweep {
    std::size_t needed = 0;     ///< elements that must stay, so far
    std::size_t undecided = 0;  ///< elements still to be tested
    std::size_t gap = 0;        ///< elements left out since the last that must stay
  };
  Sweep sweep() const { return m_phase == Phase::Sweep ? Sweep{m_needed, m_undecided, m_gap} : Sweep{}; }

 private:
  enum class Phase { Guess, HalveFirst, HalveLast, Bisect, Sweep, Prove, Survey, Fold, Done };
  /// Up to this many elements halving both sides is no gain.
  static constexpr std::size_t fewElements = 8;
  /// Of more elements a test takes so much longer than of half of them that fewer tests are no gain.
  static constexpr std::size_t mostBisected = 200;
  /// Larger sets are halved first.
  static constexpr std::size_t surveyedByEach = 6;
  /// Smaller chunks are as soon surveyed element by element.
  static constexpr std::size_t leastSurveyChunk = 3;

  std::size_t middle(std::size_t begin, std::size_t end, double tolerance) const;
  std::size_t half() const;
  void beginHalving();
  void tellHalf(bool fails);
  void tellBisection(bool fails);
  void beginBehindLast();
  void beginSweep(std::size_t chunk);
  void beginProof();
  void beginSurvey(std::size_t chunk);
  std::size_t surveyedFrom() const;
  void tellSurvey(bool fails);
  void endSurvey();
  void tellFold(bool fails);
  void endSweep();
  void tellSweep(bool fails);
  void tellProof(bool fails);
  void foundNeeded();
  void skipDecided();
  Set without(std::size_t begin, std::size_t end) const;
  Set withoutFolded() const;

  Proof m_proof;
  std::shared_ptr<const SetWeights> m_weights;
  Phase m_phase = Phase::Guess;
  Set m_set;
  std::vector<Set> m_guesses;
  std::size_t m_guess = 0;
  std::size_t m_passing = 0;  ///< Bisect: so many first elements pass without the others
  // Sweep: elements [0, m_undecided) of m_set are undecided, those behind must stay.
  std::size_t m_undecided = 0;
  std::size_t m_chunk = 0;
  std::size_t m_suspect = 0;  ///< the last so many undecided ones hold one that must stay; 0: nothing known
  std::size_t m_nearest = 1;  ///< of the next chunk, where nothing but the last gap is known
  bool m_hopes = false;       ///< the chunk is all that is undecided
  bool m_nearby = false;      ///< which holds one that must stay: look near the last one first
  std::size_t m_gap = 0;      ///< elements left out since the last that must stay
  std::size_t m_needed = 0;   ///< how many must stay
  // Prove
  std::size_t m_position = 0;  ///< elements before this one are yet to be left out
  bool m_changed = false;
  // Survey (with m_position) and fold
  std::size_t m_parallelTests = 0;
  std::size_t m_surveyChunk = 1;  ///< elements left out together
  Set m_removable;                ///< elements of m_set that nobody needs by themselves, falling
  std::size_t m_folded = 0;       ///< so many of them, the last ones of m_removable, are tested
};

}  // namespace kerf::inline minifier::inline core
