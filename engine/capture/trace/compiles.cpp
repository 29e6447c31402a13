#include "engine/capture/trace/compiles.h"

#include <algorithm>
#include <array>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/symbol_records.h"
#include "engine/support/utf8.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::string_view unknownId = "(unknown)";
constexpr std::size_t maxMetrics = 1000;       ///< of one entry; PyTorch writes about 150 numbers
constexpr std::size_t allMetrics = 1'000'000;  ///< of all entries
constexpr std::size_t maxMembers = 5000;       ///< of one metrics object
constexpr std::size_t maxReasons = 100;
constexpr std::size_t maxPrefix = 100;  ///< bytes of a kind that stand before its metrics

/// Replaces the value of a metric that came before.
void setMetric(CompileEntry& entry, std::string name, double value) {
  for (auto& [known, number] : entry.metrics)
    if (known == name) {
      number = value;
      return;
    }
  if (entry.metrics.size() < maxMetrics) entry.metrics.emplace_back(std::move(name), value);
}

std::string innermostFrame(std::string_view stack, const std::map<std::int64_t, std::string>& files) {
  std::string_view last;
  JsonWalker frames(stack);
  while (frames.nextElement()) last = frames.value();
  return last.empty() ? std::string() : frameText(last, files);
}

std::vector<std::string> stringsOf(std::string_view list) {
  std::vector<std::string> strings;
  JsonWalker elements(list);
  while (strings.size() < maxReasons && elements.nextElement())
    if (auto text = jsonString(elements.value())) strings.push_back(std::move(*text));
  return strings;
}

bool isMetrics(std::string_view kind) { return kind.find("compilation_metrics") != std::string_view::npos; }

/// The members of a metrics object that are no numbers to show, found in one walk.
struct MetricsText {
  std::string_view failType, failReason, restarts, file, line, name, operators;

  void take(std::string_view key, std::string_view value) {
    struct Place {
      std::string_view key;
      std::string_view MetricsText::* field;
    };
    static constexpr std::array places{
        Place{"fail_type", &MetricsText::failType},       Place{"fail_reason", &MetricsText::failReason},
        Place{"restart_reasons", &MetricsText::restarts}, Place{"co_filename", &MetricsText::file},
        Place{"co_firstlineno", &MetricsText::line},      Place{"co_name", &MetricsText::name},
        Place{"graph_op_count", &MetricsText::operators}};
    for (const Place& place : places)
      if (jsonKeyIs(key, place.key)) this->*place.field = value;
  }

  /// "fail_type: fail_reason"; empty if it did not fail.
  std::string failure() const {
    const auto type = jsonString(failType);
    if (!type) return {};
    const auto reason = jsonString(failReason);
    return reason ? *type + ": " + *reason : *type;
  }

  /// The code object that was compiled, where no dynamo_start told it.
  std::string frame() const {
    const auto path = jsonString(file);
    const auto function = jsonString(name);
    return path && function ? fmt::format("{}:{} in {}", *path, jsonInteger(line).value_or(0), *function)
                            : std::string();
  }
};

}  // namespace

std::string frameText(std::string_view frame, const std::map<std::int64_t, std::string>& files) {
  const std::string_view file = jsonMember(frame, "filename");
  const auto number = jsonInteger(file);
  const auto found = number ? files.find(*number) : files.end();
  const std::string path = found != files.end() ? found->second : jsonString(file).value_or("?");
  const auto name = jsonString(jsonMember(frame, "name"));
  if (!name) return {};
  return fmt::format("{}:{} in {}", path, jsonInteger(jsonMember(frame, "line")).value_or(0), *name);
}

std::size_t CompileTable::entryOf(std::size_t log, int rank, const TraceHeader& header, CaptureDetails& details) {
  std::string id = header.id.text();
  if (id.empty() && header.stack.empty()) return none;
  if (id.empty()) id = unknownId;
  const auto [slot, fresh] = m_byKey.try_emplace(fmt::format("{} {} {}", log, rank, id), details.compiles.size());
  if (!fresh) return slot->second;
  CompileEntry entry;
  entry.id = id;
  entry.rank = rank;
  details.compiles.push_back(std::move(entry));
  State& state = m_states.emplace_back();
  state.hasFrame = header.id.compile.has_value();
  state.attempt = header.id.attempt.value_or(0);
  state.frameKey = fmt::format("{} {} {}", log, rank, header.id.text(false));
  return slot->second;
}

void CompileTable::takeMetrics(State& state, CompileEntry& entry, const TraceHeader& header) {
  const bool own = header.kind == "compilation_metrics";
  const std::string prefix = own ? std::string() : validUtf8(header.kind.substr(0, maxPrefix)) + ".";
  MetricsText text;
  m_metricCount -= entry.metrics.size();
  JsonWalker members(header.value);
  for (std::size_t seen = 0; seen < maxMembers && members.nextMember(); ++seen) {
    text.take(members.key(), members.value());
    const auto number = jsonNumber(members.value());
    if (number && m_metricCount + entry.metrics.size() < allMetrics)
      setMetric(entry, prefix + jsonString(members.key()).value_or(""), *number);
  }
  m_metricCount += entry.metrics.size();
  const std::string failure = text.failure();
  if (!failure.empty()) {
    state.failed = true;
    entry.failure = failure;
  }
  if (!own) return;
  state.hasMetrics = true;
  state.operators = jsonNumber(text.operators).value_or(0);
  entry.restartReasons = stringsOf(text.restarts);
  if (entry.frame.empty()) entry.frame = text.frame();
}

void CompileTable::take(std::size_t index, const TraceHeader& header, const CaptureRecord& record,
                        const std::map<std::int64_t, std::string>& files, CaptureDetails& details) {
  CompileEntry& entry = details.compiles[index];
  State& state = m_states[index];
  if (record.graph >= 0) state.wroteGraph = true;
  if (isMetrics(header.kind)) return takeMetrics(state, entry, header);
  if (header.kind == "dynamo_start") {
    entry.frame = innermostFrame(jsonMember(header.value, "stack"), files);
    state.symbols = std::make_shared<SymbolHints>();  // a new trace under this id names its symbols anew
  }
  takeSymbolRecord({header, files, record.origin.line}, entry, *state.symbols);
  if (header.kind != "artifact") return;
  if (record.name.ends_with("cache_hit")) state.cacheHit = true;
  if (record.name == "dynamo_error") {
    state.failed = true;
    if (entry.failure.empty()) entry.failure = "dynamo_error";
  }
}

void CompileTable::takeGuardText(std::size_t index, const TraceHeader& header, std::string_view rawPayload, int line,
                                 CaptureDetails& details) const {
  if (header.kind == "dynamo_guards") takeGuardList(rawPayload, line, details.compiles[index]);
  if (header.kind == "dynamo_cpp_guards_str") takeGuardTree(rawPayload, line, details.compiles[index]);
}

/// Metrics may be written under another attempt than the one that succeeded: `attempts` are those of one frame.
CompileEntry::Status CompileTable::statusOf(const State& state, const Attempts& attempts,
                                            const CompileEntry& entry) const {
  using Status = CompileEntry::Status;
  if (state.attempt < attempts.last) return Status::Restarted;
  if (state.failed || attempts.failed) return Status::Failed;
  if (!attempts.hasMetrics && state.hasFrame) return Status::Incomplete;
  const bool worked = state.wroteGraph || attempts.operators > 0;
  if (!worked && (state.hasFrame || entry.id == unknownId)) return Status::Empty;
  return state.cacheHit ? Status::CacheHit : Status::Ok;
}

void CompileTable::setStatus(CaptureDetails& details) const {
  std::unordered_map<std::string_view, Attempts> frames;
  for (const State& state : m_states) {
    Attempts& attempts = frames[state.frameKey];
    attempts.last = std::max(attempts.last, state.attempt);
    if (!state.hasMetrics) continue;
    attempts.hasMetrics = true;
    attempts.failed = attempts.failed || state.failed;
    attempts.operators = std::max(attempts.operators, state.operators);
  }
  for (std::size_t i = 0; i < m_states.size(); ++i)
    details.compiles[i].status = statusOf(m_states[i], frames[m_states[i].frameKey], details.compiles[i]);
}

}  // namespace kerf::inline capture::trace
