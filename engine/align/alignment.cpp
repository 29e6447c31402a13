#include "engine/align/alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "engine/accuracy/run_inputs.h"
#include "engine/align/alignment_verdict.h"
#include "engine/align/cancellation.h"
#include "engine/align/rounding_causes.h"
#include "engine/align/sensitivity.h"
#include "engine/align/value_index.h"

namespace kerf::inline align {

namespace {

/// The worst of several gaps; what is not known counts only where nothing is.
void worsen(ValueGap& worst, ValueGap gap) {
  if (gap.kind > worst.kind || (gap.kind == worst.kind && gap.relative > worst.relative)) worst = std::move(gap);
}

/// Of a floating tensor's elements; 0 for others, infinite where one is not finite.
double rootOfMeanSquares(const Tensor& tensor) {
  if (!isFloating(tensor.dtype()) || tensor.numel() == 0) return 0;
  const auto wide = inFloat64(tensor);
  const auto flat = wide ? wide->clone() : wide;
  if (!flat) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::int64_t i = 0; i < flat->numel(); ++i) sum += flat->data<double>()[i] * flat->data<double>()[i];
  return std::isfinite(sum) ? std::sqrt(sum / double(flat->numel())) : std::numeric_limits<double>::infinity();
}

using ValueRefs = std::vector<const StepValue*>;

/// Tensors of each side that belong together: by place where both have as many of the same sizes, else each of `b` with
/// the one of `a` that is nearest. How many of `b` have none.
template <class Compare, class Visit>
std::size_t forPartners(const ValueRefs& a, const ValueRefs& b, const Compare& compare, Visit&& visit) {
  const auto fits = [](const StepValue* x, const StepValue* y) { return x->elements() == y->elements(); };
  const bool placed = a.size() == b.size() && std::ranges::equal(a, b, fits);
  std::size_t alone = 0;
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (placed) {
      visit(a[j], *b[j], compare(*a[j], *b[j]));
      continue;
    }
    std::optional<ValueGap> nearest;
    const StepValue* partner = nullptr;
    for (const StepValue* mine : a) {
      if (!fits(mine, b[j])) continue;
      ValueGap gap = compare(*mine, *b[j]);
      const bool better = !nearest || nearest->kind == GapKind::Unknown || gap.kind < nearest->kind ||
                          (gap.kind == nearest->kind && gap.relative < nearest->relative);
      if (better && (!nearest || gap.kind != GapKind::Unknown)) {
        nearest = std::move(gap);
        partner = mine;
      }
    }
    if (nearest)
      visit(partner, *b[j], std::move(*nearest));
    else
      ++alone;
  }
  return alone;
}

class Judge {
 public:
  /// `shortProducts`: products of the two runs may differ as TF32 and float32 do.
  Judge(const RunRecording& a, const RunRecording& b, const RerunStep& rerun, bool shortProducts)
      : m_rerun(rerun),
        m_a(a.steps),
        m_b(b.steps),
        m_valuesA(a.steps),
        m_valuesB(b.steps),
        m_noiseA(noiseTable(a.steps)),
        m_noiseB(noiseTable(b.steps)),
        m_shortProducts(shortProducts) {
    for (const RunStep& step : a.steps)
      for (const StepValue& value : step.outputs)
        if (value.data && step.inputs.empty())
          if (const double size = rootOfMeanSquares(*value.data); std::isfinite(size))
            m_largest = std::max(m_largest, size);
  }

  RunAlignment run(const std::vector<StepPair>& pairs) {
    for (const StepPair& steps : pairs) {
      AlignedPair pair{.steps = steps};
      for (const std::size_t j : steps.b) noteDtypes(m_b[j]);
      compare(pair);
      m_alignment.pairs.push_back(std::move(pair));
    }
    giveVerdict(m_alignment, {m_b, m_valuesA, m_valuesB}, m_unjudged);
    return std::move(m_alignment);
  }

 private:
  /// Values come from those before them: in a run of several dtypes they are as coarse as the coarsest.
  void noteDtypes(const RunStep& step) {
    for (const auto* values : {&step.inputs, &step.outputs})
      for (const StepValue& value : *values)
        if (!value.dtype.starts_with("f8")) m_coarsest = std::max(m_coarsest, roundingOf(value.dtype));
  }

  /// A step, and how far what it was given is apart.
  struct Given {
    const RunStep& step;
    InputGaps inputs;
    bool differs = false;  ///< in anything
  };
  static Given nothingGiven() {
    static const RunStep none{.kernel = true};
    return {none, {}, false};
  }

  /// What the steps of a pair take from outside of it.
  static ValueRefs takenBy(const std::vector<RunStep>& steps, const std::vector<std::size_t>& which) {
    ValueRefs taken;
    std::vector<const StepValue*> given;
    for (const std::size_t i : which) {
      for (const StepValue& value : steps[i].inputs) {
        const auto equal = [&](const StepValue* made) {
          return value.id >= 0 ? made->id == value.id : !value.hash.empty() && made->hash == value.hash;
        };
        if (which.size() == 1 || std::ranges::none_of(given, equal)) taken.push_back(&value);
      }
      for (const StepValue& value : steps[i].outputs)
        if (given.size() < mostCompared) given.push_back(&value);
    }
    if (taken.size() > mostCompared) taken.resize(mostCompared);
    return taken;
  }

  /// Of a run that ends with a value of the other side, the last step's; else any of its values may be what the other
  /// side gives.
  static ValueRefs givenBy(const std::vector<RunStep>& steps, const std::vector<std::size_t>& which, bool any) {
    ValueRefs given;
    for (const std::size_t i : which)
      for (const StepValue& value : steps[i].outputs)
        if ((any || i == which.back()) && given.size() < mostCompared) given.push_back(&value);
    return given;
  }

  /// Runs and kernels take and give what the other side may have elsewhere.
  bool isRun(const AlignedPair& pair) const {
    const auto kernel = [](const std::vector<RunStep>& steps, std::size_t i) { return steps[i].kernel; };
    return pair.steps.a.size() > 1 || pair.steps.b.size() > 1 || kernel(m_a, pair.steps.a.front()) ||
           kernel(m_b, pair.steps.b.front());
  }

  /// Of a value that was looked for and found: the two are one.
  static ValueGap asFound(ValueGap gap) {
    if (gap.kind == GapKind::Wrong) gap.kind = GapKind::Rounding;
    return gap;
  }

  /// Visits each of `theirs` with its distance from the nearest value of the other recording, else from the nearest of
  /// its size among `mine`.
  template <class Visit>
  void forNearest(const ValueRefs& mine, const ValueRefs& theirs, const Given& given, Visit&& visit) const {
    for (const StepValue* value : theirs) {
      if (!tellsApart(*value) && value->measured()) continue;
      if (const StepValue* partner = m_valuesA.nearest(*value))
        visit(partner, *value, asFound(gapBetween(*partner, *value)));
      else if (const ValueGap* known = knownGap(*value))
        visit(nullptr, *value, *known);
      else
        forPartners(mine, {value}, comparing(given), visit);
    }
  }

  /// Two results of a step that was given inputs so far apart. A sum that cancelled is told by what was summed, on
  /// either side.
  auto comparing(const Given& given) const {
    return [this, given](const StepValue& a, const StepValue& b) {
      const double expected = expectedApart(given.step, b, given.inputs);
      ValueGap gap = gapBetween(a, b, {handsOnDistance(given.step) ? expected * handedOn : expected, m_coarsest});
      // Inputs that differ make other bits, and nothing tells how much.
      if (gap.kind == GapKind::Unequal && given.differs) return ValueGap{GapKind::Unknown, gap.basis};
      if (gap.kind != GapKind::Wrong || gap.relative < 0) return gap;
      if (gap.bits && gap.bits->unordered > 0) return gap;  // NaN on one side is no rounding
      if (followsNoise(given.step, a, b, given.inputs)) gap.kind = GapKind::Rounding;
      if (!a.l1 || !b.l1) return gap;
      const double apart = gap.relative * std::max(std::abs(*a.l1), std::abs(*b.l1));
      const double summed = apartOfSummed(given.step, b, given.inputs);
      const auto allows = [&](const NoiseTable& table, const StepValue& value) {
        const auto found = table.find(&value);
        return found != table.end() && apart <= found->second.allowed(summed);
      };
      if (allows(m_noiseA, a) || allows(m_noiseB, b)) gap.kind = GapKind::Rounding;
      return gap;
    };
  }

  void compare(AlignedPair& pair) {
    if (pair.steps.a.empty() || pair.steps.b.empty()) return;
    const ValueRefs takenA = takenBy(m_a, pair.steps.a), takenB = takenBy(m_b, pair.steps.b);
    const bool run = isRun(pair);
    const bool inPlace = std::ranges::any_of(pair.steps.b, [&](std::size_t j) { return m_b[j].inPlace; });
    InputGaps gaps;
    const auto input = [&](const StepValue* mine, const StepValue& value, ValueGap gap) {
      // A log that hashes inputs behind the call tells of what is written in place what became of it.
      if (inPlace && gap.kind != GapKind::Equal && isWritten(pair, value)) return;
      if (m_aside.contains(value.id)) return;
      noteHidden(pair, value);
      if (gap.relative > 0) gaps.push_back({mine == nullptr ? &value : mine, &value, gap.relative});
      worsen(pair.inputs, asGiven(value, std::move(gap)));
    };
    if (run)
      forNearest({}, takenB, nothingGiven(), input);
    else
      forPartners(takenA, takenB, comparing(nothingGiven()), input);
    if (pair.inputs.kind == GapKind::Unknown) pair.inputs = inferredInputs(takenB, gaps);
    compareOutputs(pair, run, std::move(gaps));
  }

  void compareOutputs(AlignedPair& pair, bool run, InputGaps gaps) {
    const RoundingCause cause = causeOf(pair);
    // What is wrong already amplifies nothing: it follows.
    const bool wrong = isWrong(pair.inputs.kind);
    const auto output = [&](const StepValue*, const StepValue& value, ValueGap gap) {
      if (isAside(pair, value, gap)) {
        ++m_unjudged.aside;
        if (value.id >= 0) m_aside.insert(value.id);
        return;
      }
      const bool convolves = cause.products && cause.relative < 1e-3;
      const bool shortened = m_shortProducts || convolves;
      if (shortened && !wrong) soften(gap, value, cause);
      if (isBelowRounding(pair, value, gap)) {
        ++m_unjudged.below;
        gap = {GapKind::Unknown, gap.basis};
      }
      if (!run) settle(pair, gap, shortened && value.dtype == "f32" ? cause.relative : 0);
      remember(pair, value, gap);
      worsen(pair.outputs, std::move(gap));
    };
    const bool between = pair.steps.evidence == PairEvidence::Between;
    const ValueRefs givenA = givenBy(m_a, pair.steps.a, between), givenB = givenBy(m_b, pair.steps.b, false);
    if (wrong) gaps.clear();
    const Given given{run ? nothingGiven().step : m_b[pair.steps.b.back()], gaps,
                      pair.inputs.kind == GapKind::Rounding};
    if (!run) {
      const std::size_t alone = forPartners(givenA, givenB, comparing(given), output);
      m_unjudged.alone += std::max(alone, givenA.size() - std::min(givenA.size(), givenB.size()));
    } else {
      forNearest(givenA, givenB, given, [&](const StepValue* mine, const StepValue& value, ValueGap gap) {
        // Of several results of a kernel, one that the other run has not may be on the way to one that it has.
        if (!between && isWrong(gap.kind) && givenB.size() > 1) {
          if (!leadsNowhereGood(pair.steps.b.back(), value)) return;
          gap = {gap.kind, "absent"};
        }
        output(mine, value, std::move(gap));
      });
      forIndistinct(pair, givenA, givenB, given, output);
    }
    explain(pair, cause);
  }

  /// Results of runs and kernels that cannot be looked for, since their sum is 0, not finite, or of one element. NaN and
  /// infinity are wrong where the other recording has none in its values of that size; of the others only what nothing
  /// takes is judged, for what is on the way to it need not be anywhere else.
  template <class Visit>
  void forIndistinct(const AlignedPair& pair, const ValueRefs& mine, const ValueRefs& theirs, const Given& given,
                     Visit&& visit) const {
    for (const StepValue* value : theirs) {
      if (tellsApart(*value) || !value->l1 || !value->shaped || value->elements() == 0) continue;
      if (!std::isfinite(*value->l1)) {
        const bool same = m_valuesA.hasAlike(*value);
        if (!same &&
            std::ranges::any_of(mine, [&](const StepValue* own) { return own->elements() == value->elements(); }))
          visit(nullptr, *value, ValueGap{GapKind::Wrong, "sum of magnitudes"});
        continue;
      }
      if (m_valuesB.isTaken(pair.steps.b.back(), *value)) continue;
      if (*value->l1 != 0 || !m_valuesA.hasAlike(*value)) forPartners(mine, {value}, comparing(given), visit);
    }
  }

  /// What the step gives when it is run again on what each side took decides, where that can be done: inputs that
  /// differ then excuse what they make, and nothing else.
  void settle(AlignedPair& pair, ValueGap& gap, double shortProducts) const {
    if (!m_rerun || !gap.bits || gap.bits->unordered > 0 || pair.inputs.relative <= 0) return;
    if (!isBeyondRounding(gap, pair)) return;
    pair.rerun = m_rerun(pair.steps);
    if (!pair.rerun) return;
    pair.rerun->allowed = std::max(pair.rerun->allowed, shortProducts);
    if (pair.rerun->own > pair.rerun->allowed)
      gap.kind = GapKind::Wrong;
    else if (!isWrong(pair.inputs.kind))
      gap.kind = GapKind::Rounding;
  }

  /// Whether both results are smaller than what rounding leaves of the largest value, where nothing tells what they are
  /// computed from.
  bool isBelowRounding(const AlignedPair& pair, const StepValue& value, const ValueGap& gap) const {
    if (gap.kind != GapKind::Wrong || !gap.bits || gap.bits->unordered > 0) return false;
    const RunStep &a = m_a[pair.steps.a.back()], &b = m_b[pair.steps.b.back()];
    if (a.input || b.input || !a.inputs.empty() || !b.inputs.empty()) return false;
    const double least = unitRoundoff(value.data->dtype()) * m_largest;
    return rootOfMeanSquares(*a.outputs.front().data) <= least && rootOfMeanSquares(*value.data) <= least;
  }

  bool isBeyondRounding(const ValueGap& gap, const AlignedPair& pair) const {
    const StepValue &a = m_a[pair.steps.a.back()].outputs.front(), &b = m_b[pair.steps.b.back()].outputs.front();
    return gap.kind == GapKind::Wrong || gapBetween(a, b).kind == GapKind::Wrong;
  }

  /// A further result that may hold what nobody wrote: an attention's for its gradient, and those that nothing takes.
  bool isAside(const AlignedPair& pair, const StepValue& value, const ValueGap& gap) const {
    const RunStep& step = m_b[pair.steps.b.back()];
    if (step.kernel || !isWrong(gap.kind) || step.outputs.size() < 2 || &value == &step.outputs.front()) return false;
    return mayLeaveUnwritten(step) && (isAttention(step.op) || !m_valuesB.isTaken(pair.steps.b.back(), value));
  }

  void explain(AlignedPair& pair, const RoundingCause& cause) {
    // More than rounding has no such excuse, unless numbers were drawn.
    if (differs(pair.outputs.kind) && (pair.outputs.kind != GapKind::Wrong || cause.random)) pair.cause = cause.text;
    if (!isWrong(pair.outputs.kind)) return;
    // What a wrong run computes on its way is wrong for those that take it, too.
    for (const std::size_t j : pair.steps.b)
      for (const StepValue& value : m_b[j].outputs)
        if (!value.hash.empty() && m_valuesA.nearest(value) == nullptr) m_byHash.emplace(value.hash, pair.outputs);
  }

  /// A difference that grew by rounding where the value was given is none of what takes it.
  ValueGap asGiven(const StepValue& value, ValueGap gap) const {
    const ValueGap* known = gap.kind == GapKind::Wrong ? knownGap(value) : nullptr;
    const bool grown = known != nullptr && known->kind == GapKind::Rounding && gap.relative >= 0 &&
                       gap.relative <= 2 * known->relative;
    if (grown) gap.kind = GapKind::Rounding;
    return gap;
  }

  /// What was found of the value where it was given.
  const ValueGap* knownGap(const StepValue& value) const {
    const auto found = m_byHash.find(value.hash);
    return value.hash.empty() || found == m_byHash.end() ? nullptr : &found->second;
  }

  /// Whether steps take the value, and none of them gives anything that the other recording has.
  bool leadsNowhereGood(std::size_t step, const StepValue& value) const {
    if (m_b[step].op.find("backward") != std::string::npos) return false;  // what a gradient needs, and nothing else
    bool taken = false;
    for (const std::size_t user : m_valuesB.taking(step)) {
      const auto& inputs = m_b[user].inputs;
      const bool takes = std::ranges::any_of(inputs, [&](const StepValue& input) {
        return (!value.hash.empty() && input.hash == value.hash) || (value.id >= 0 && input.id == value.id);
      });
      if (!takes) continue;
      taken = true;
      for (const StepValue& given : m_b[user].outputs)
        if (m_valuesA.nearest(given) != nullptr) return false;
    }
    return taken;
  }

  RoundingCause causeOf(const AlignedPair& pair) const {
    RoundingCause cause = roundingCause(m_b[pair.steps.b.back()]);
    if (cause.text.empty() || m_b[pair.steps.b.back()].kernel)
      for (const std::size_t i : pair.steps.a)
        if (const RoundingCause other = roundingCause(m_a[i]); other.relative > cause.relative || cause.text.empty())
          cause = other;
    return cause;
  }

  /// Short products are coarser than their results' dtype.
  static void soften(ValueGap& gap, const StepValue& value, const RoundingCause& cause) {
    if (gap.kind == GapKind::Wrong && value.dtype == "f32" && gap.relative >= 0 && gap.relative <= cause.relative)
      gap.kind = GapKind::Rounding;
  }

  bool isWritten(const AlignedPair& pair, const StepValue& value) const {
    return std::ranges::any_of(pair.steps.b, [&](std::size_t j) {
      return m_b[j].inPlace && !m_b[j].inputs.empty() && &m_b[j].inputs.front() == &value;
    });
  }

  /// Results by their number and by their shape, for recordings that tell nothing of what calls take.
  void remember(const AlignedPair& pair, const StepValue& value, const ValueGap& gap) {
    if (value.id >= 0) m_byId[value.id] = gap;
    if (!value.hash.empty() && differs(gap.kind)) m_byHash[value.hash] = gap;
    m_byShape[value.text()] = gap;
    if (gap.kind != GapKind::Rounding || gap.basis == "bits") return;
    const RunStep& step = m_b[pair.steps.b.back()];
    const bool handsOn = passesThrough(step) || (!step.kernel && roundingCause(step).products);
    std::size_t from = handsOn ? pair.reachesBack : SIZE_MAX;
    if (hidesItsValues(step)) from = std::min(from, m_alignment.pairs.size());
    if (from == SIZE_MAX) return;
    if (!value.hash.empty())
      m_hidden[value.hash] = from;
    else if (value.id >= 0)
      m_hidden[fmt::format("#{}", value.id)] = from;
  }

  void noteHidden(AlignedPair& pair, const StepValue& value) const {
    const auto found = m_hidden.find(value.hash.empty() ? fmt::format("#{}", value.id) : value.hash);
    if (found != m_hidden.end()) pair.reachesBack = std::min(pair.reachesBack, found->second);
  }

  ValueGap inferredInputs(const ValueRefs& taken, InputGaps& gaps) const {
    ValueGap worst;
    const auto infer = [&](const StepValue* value, const ValueGap& gap) {
      if (gap.relative > 0) gaps.push_back({value, value, gap.relative});
      worsen(worst, gap);
    };
    for (const StepValue* value : taken) {
      if (value->id >= 0) {
        if (const auto found = m_byId.find(value->id); found != m_byId.end()) infer(value, found->second);
      } else if (const auto found = m_byShape.find(value->text()); found != m_byShape.end()) {
        infer(value, found->second);
      }
    }
    return worst;
  }

  static constexpr std::size_t mostCompared = 256;  ///< tensors of one pair
  static constexpr double handedOn = 2.0 / 30;      ///< a value that is handed on is as far apart as it was
  const RerunStep& m_rerun;
  const std::vector<RunStep>&m_a, &m_b;
  ValueIndex m_valuesA, m_valuesB;
  NoiseTable m_noiseA, m_noiseB;
  bool m_shortProducts;
  double m_largest = 0;   ///< root of mean squares, of the first recording's values
  double m_coarsest = 0;  ///< rounding of the dtypes so far
  UnjudgedResults m_unjudged;
  std::unordered_set<std::int64_t> m_aside;  ///< numbers of results that are left out
  RunAlignment m_alignment;
  std::unordered_map<std::int64_t, ValueGap> m_byId;
  std::unordered_map<std::string, ValueGap> m_byHash;  ///< of results that differ
  std::unordered_map<std::string, ValueGap> m_byShape;
  std::unordered_map<std::string, std::size_t>
      m_hidden;  ///< results whose sums say little, and the pairs they come from
};

/// Whether products with inputs that agree are apart as those of TF32 are, and none is nearer: then that is how one of the
/// runs multiplies, and no fault.
bool usesShortProducts(const RunAlignment& alignment, const RunRecording& b) {
  bool apart = false;
  for (const AlignedPair& pair : alignment.pairs) {
    if (pair.steps.a.size() != 1 || pair.steps.b.size() != 1 || isWrong(pair.inputs.kind)) continue;
    if (roundingCause(b.steps[pair.steps.b.front()]).relative < 1e-3 || pair.outputs.kind == GapKind::Unknown) continue;
    if (pair.outputs.relative <= roundingOf("f32")) return false;
    apart = true;
  }
  return apart;
}

}  // namespace

std::string_view pairRoleName(PairRole role) {
  constexpr std::string_view names[] = {"unknown", "same", "rounding", "first", "follows", "new"};
  return names[std::size_t(role)];
}

std::string_view alignVerdictName(AlignVerdict verdict) {
  constexpr std::string_view names[] = {"unknown", "same", "rounding", "different"};
  return names[std::size_t(verdict)];
}

RunAlignment alignRecordings(const RunRecording& a, const RunRecording& b, const RerunStep& rerun) {
  const std::vector<StepPair> pairs = pairedSteps(a, b);
  RunAlignment strict = Judge(a, b, rerun, false).run(pairs);
  return usesShortProducts(strict, b) ? Judge(a, b, rerun, true).run(pairs) : strict;
}

}  // namespace kerf::inline align
