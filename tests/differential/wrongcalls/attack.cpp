#include "tests/differential/wrongcalls/attack.h"

#include <sstream>

#include "engine/process/isolation.h"
#include "tests/differential/wrongcalls/draw_call.h"
#include "tests/differential/wrongcalls/sized_case.h"

namespace kerf::wrongcalls {
namespace {

using fuzzgraph::Dice;

constexpr AttackClass classes[] = {
    {"views", ""},
    {"indices",
     "scatter gather index put take select_scatter slice_scatter diagonal_scatter embedding one_hot nll_loss "
     "searchsorted bucketize unpool histc bincount repeat_interleave slice select narrow fill_diagonal"},
    {"norms",
     "norm renorm batch_norm rms prelu convolution linear mm addmm baddbmm bilinear pool upsample grid pad glu conv "
     "lstm gru"},
    {"masks", "masked where softmax attention dropout nonzero bitwise logical any all cond heaviside isin tril triu"},
    {"fractions",
     "quantile median kthvalue topk sort multinomial bernoulli clamp hardtanh threshold lerp elu full linspace arange "
     "range "
     "eye logspace normal uniform random poisson histogram cumprod renorm cov corrcoef trapezoid diff"},
    {"pointwise",
     "add sub mul div pow atan2 hypot nextafter logaddexp copysign remainder fmod gcd lcm xlogy ldexp bitwise shift "
     "floor "
     "maximum minimum eq gt polar complex copy_ fill true_divide dist cdist cross kron outer allclose equal"},
};

std::vector<const OpInfo*> opsOf(const AttackClass& attacked) {
  std::vector<std::string> parts;
  std::istringstream text{std::string(attacked.ops)};
  for (std::string part; text >> part;) parts.push_back(part);
  std::vector<const OpInfo*> ops;
  for (const OpInfo& op : allOps()) {
    const std::string name = op.schema.qualifiedName();
    if (!name.starts_with("aten.") && !name.starts_with("prims.")) continue;
    if (std::ranges::any_of(parts, [&](const std::string& part) { return name.find(part) != name.npos; }))
      ops.push_back(&op);
  }
  return ops;
}

/// One unit of work: what a child does between two places.
struct Attempt {
  std::int64_t number = 0;
  std::string step, call;

  KERF_FIELDS(number, step, call)
};

struct Attacker {
  const AttackClass& attacked;
  std::uint64_t seed;
  std::int64_t from, to;  ///< numbers of attempts
  std::span<const OpInfo* const> ops;

  Result<WrongCallReport> run(const process::SendEvent& send) const {
    WrongCallReport report;
    for (std::int64_t number = from; number < to; ++number) {
      Attempt place{number, "drawing", ops.empty() ? "views" : opAt(number).schema.qualifiedName()};
      const auto step = [&](std::string_view what) {
        place.step = what;
        send(encode(place));
      };
      step("drawing");
      Dice dice(seed * 1'000'003 + std::uint64_t(number));
      if (ops.empty())
        checkSized(drawViews(dice), place, step, report);
      else if (number % 2 == 0)
        checkWrong(opAt(number), dice, place, step, report);
      else if (const auto sized = drawSizes(opAt(number), dice))
        checkSized(*sized, place, step, report);
    }
    return report;
  }

 private:
  const OpInfo& opAt(std::int64_t number) const { return *ops[std::size_t(number / 2) % ops.size()]; }

  using Step = std::function<void(std::string_view)>;

  void checkWrong(const OpInfo& op, Dice& dice, Attempt& place, const Step& step, WrongCallReport& report) const {
    for (const CallCase& call : wrongCalls(op, dice.next() >> 20, 4)) {
      place.call = textOf(call);
      CheckOptions options;
      options.surroundings = dice.chance(40) ? Surroundings::Within : Surroundings::Alone;
      options.annotation = Annotation(dice.below(3));
      options.compilesAccepted = dice.chance(10);
      add(checkCall(call, options, step), place, report);
    }
  }

  void checkSized(const SizedCase& sized, Attempt& place, const Step& step, WrongCallReport& report) const {
    place.call = sized.text;
    add(checkSizes(sized, step), place, report);
  }

  static void add(const CheckResult& result, const Attempt& place, WrongCallReport& report) {
    ++report.calls;
    report.refused += result.refused;
    report.compiled += result.compiled;
    for (const std::string& problem : result.problems)
      report.problems.push_back(fmt::format("#{} {}\n    {}", place.number, place.call, problem));
  }
};

void add(WrongCallReport& sum, const WrongCallReport& part) {
  sum.calls += part.calls;
  sum.refused += part.refused;
  sum.compiled += part.compiled;
  sum.problems.insert(sum.problems.end(), part.problems.begin(), part.problems.end());
}

/// In children: the next begins behind the attempt that the last one did not survive.
Result<void> runPart(Attacker part, WrongCallReport& report) {
  process::IsolationLimits limits;
  limits.timeout = std::chrono::minutes(3);
  limits.memoryBytes = 2LL << 30;
  while (part.from < part.to) {
    Attempt place;
    const std::function work = [&](const process::SendEvent& send) { return part.run(send); };
    KERF_TRY(const auto ended, process::callIsolated<WrongCallReport>(work, limits, {}, [&](std::string_view bytes) {
               if (auto decoded = decode<Attempt>(bytes, "a place")) place = std::move(*decoded);
             }));
    if (ended.answer) {
      KERF_TRY(const WrongCallReport done, *ended.answer);
      add(report, done);
      return {};
    }
    const bool hangs = ended.outcome.exit == process::IsolatedExit::TimedOut;
    report.problems.push_back(fmt::format("#{} {}\n    {}: {}", place.number, place.call, place.step,
                                          hangs ? "hangs" : "crashes with " + ended.outcome.signalName()));
    ++report.calls;
    part.from = place.number + 1;
  }
  return {};
}

}  // namespace

std::span<const AttackClass> attackClasses() { return classes; }

Result<WrongCallReport> attack(std::string_view name, std::uint64_t seed, std::int64_t count) {
  const auto* found = std::ranges::find(classes, name, &AttackClass::name);
  if (found == std::end(classes)) {
    std::string known;
    for (const AttackClass& one : classes) known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
    return fail(ErrorCode::BadUsage, "there is no class \"{}\"; choose one of {}", name, known);
  }
  constexpr std::int64_t perChild = 50;
  const std::vector<const OpInfo*> ops = opsOf(*found);
  const std::span<const OpInfo* const> called = found->ops.empty() ? std::span<const OpInfo* const>() : std::span(ops);
  WrongCallReport report;
  for (std::int64_t from = 0; report.calls < count; from += perChild)
    KERF_CHECK(runPart({*found, seed, from, from + perChild, called}, report));
  return report;
}

}  // namespace kerf::wrongcalls
