#include "tests/differential/wrongcalls/campaign.h"

#include <fstream>

#include "engine/process/isolation.h"
#include "tests/differential/wrongcalls/call_json.h"
#include "tests/differential/wrongcalls/check_call.h"
#include "tests/differential/wrongcalls/draw_call.h"

namespace kerf::wrongcalls {
namespace {

bool isWanted(const OpInfo& op, const WrongCallOptions& options) {
  const std::string name = op.schema.qualifiedName();
  if (name.starts_with("kerf.")) return false;
  if (options.only.empty()) return true;
  return std::ranges::any_of(options.only, [&](const std::string& part) { return name.find(part) != name.npos; });
}

std::vector<const OpInfo*> calledOps(const WrongCallOptions& options) {
  std::vector<const OpInfo*> ops;
  for (const OpInfo& op : allOps())
    if (isWanted(op, options)) ops.push_back(&op);
  return ops;
}

CheckOptions waysOf(std::uint64_t seed, int number, const WrongCallOptions& options) {
  CheckOptions checks;
  if ((seed + std::uint64_t(number)) % 3 == 0) checks.surroundings = Surroundings::Within;
  checks.annotation = Annotation((seed + std::uint64_t(number)) / 3 % 3);
  checks.compilesAccepted = options.acceptedEvery > 0 && (number * 7 + int(seed)) % options.acceptedEvery == 0;
  return checks;
}

/// Where a child is: the call's number over all overloads, what is done, and the call.
struct Place {
  std::int64_t number = 0;
  std::string step, call;

  KERF_FIELDS(number, step, call)
};

struct Chunk {
  const WrongCallOptions& options;
  std::span<const OpInfo* const> ops;
  std::int64_t skip = 0;  ///< calls of the chunk that earlier children did

  Result<WrongCallReport> run(const process::SendEvent& send) const {
    WrongCallReport report;
    std::int64_t number = 0;
    for (const OpInfo* op : ops) {
      Place place{number, "drawing", op->schema.qualifiedName()};
      send(encode(place));
      const auto calls = wrongCalls(*op, options.seed, options.calls);
      if (!calls.front().wrongs.empty() && number >= skip)
        report.withoutValidCall.push_back(op->schema.qualifiedName());
      for (const CallCase& call : calls)
        if (number++ >= skip) check(call, number - 1, send, report);
    }
    return report;
  }

  void check(const CallCase& call, std::int64_t number, const process::SendEvent& send, WrongCallReport& report) const {
    Place place{number, "", textOf(call)};
    const CheckOptions ways = waysOf(options.seed, int(number), options);
    const auto result = checkCall(call, ways, [&](std::string_view step) {
      place.step = step;
      send(encode(place));
    });
    ++report.calls;
    report.refused += result.refused;
    report.compiled += result.compiled;
    for (const std::string& problem : result.problems)
      report.problems.push_back(fmt::format("{}{}\n    {}", place.call,
                                            ways.surroundings == Surroundings::Within ? " (within)" : "", problem));
  }
};

void add(WrongCallReport& sum, const WrongCallReport& part) {
  sum.calls += part.calls;
  sum.refused += part.refused;
  sum.compiled += part.compiled;
  sum.problems.insert(sum.problems.end(), part.problems.begin(), part.problems.end());
  sum.withoutValidCall.insert(sum.withoutValidCall.end(), part.withoutValidCall.begin(), part.withoutValidCall.end());
}

/// Children one after the other until every call of the chunk was made: the next begins behind the call that the last
/// one did not survive.
Result<void> runChunk(Chunk chunk, WrongCallReport& report) {
  const WrongCallOptions& options = chunk.options;
  process::IsolationLimits limits;
  limits.timeout = std::chrono::milliseconds(std::int64_t(options.secondsPerChunk * 1000));
  limits.memoryBytes = options.memoryBytes;
  for (;;) {
    Place place;
    const std::function work = [&](const process::SendEvent& send) { return chunk.run(send); };
    KERF_TRY(const auto ended, process::callIsolated<WrongCallReport>(work, limits, {}, [&](std::string_view bytes) {
               if (auto decoded = decode<Place>(bytes, "a place")) place = std::move(*decoded);
             }));
    if (ended.answer) {
      KERF_TRY(const WrongCallReport part, *ended.answer);
      add(report, part);
      return {};
    }
    const bool hangs = ended.outcome.exit == process::IsolatedExit::TimedOut;
    report.problems.push_back(fmt::format("{}\n    {}: {}", place.call, place.step,
                                          hangs ? "hangs" : "crashes with " + ended.outcome.signalName()));
    ++report.calls;
    chunk.skip = place.number + 1;
  }
}

}  // namespace

Result<WrongCallReport> runWrongCalls(const WrongCallOptions& options) {
  constexpr std::size_t opsPerChunk = 40;
  const auto ops = calledOps(options);
  WrongCallReport report;
  for (std::size_t first = 0; first < ops.size(); first += opsPerChunk) {
    const std::span part = std::span(ops).subspan(first, std::min(opsPerChunk, ops.size() - first));
    KERF_CHECK(runChunk({options, part}, report));
  }
  return report;
}

Result<void> writeWrongCalls(const WrongCallOptions& options, const std::string& path) {
  std::ofstream out(path);
  for (const OpInfo* op : calledOps(options))
    for (const CallCase& call : wrongCalls(*op, options.seed, options.calls)) out << jsonOf(call, {}) << '\n';
  if (!out.flush()) return fail(ErrorCode::Environment, "cannot write {}", path);
  return {};
}

}  // namespace kerf::wrongcalls
