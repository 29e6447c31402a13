#include "engine/capture/trace/recompile_reasons.h"

#include <algorithm>
#include <array>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"
#include "engine/capture/trace/plan_records.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t mostReasons = 1000;  ///< of one compilation

/// How a reason reads, and what it means: {0} is the first hole. `before` and `after` are holes, -1: none.
struct ReasonForm {
  std::string_view pattern, subject;
  int before, after;
};

constexpr std::array forms{
    ReasonForm{"tensor '{}' size mismatch at index {}. expected {}, actual {}", "{0}.size({1})", 2, 3},
    ReasonForm{"tensor '{}' stride mismatch at index {}. expected {}, actual {}", "{0}.stride({1})", 2, 3},
    ReasonForm{"tensor '{}' rank mismatch. expected {}, actual {}", "{0}.dim()", 1, 2},
    ReasonForm{"tensor '{}' dtype mismatch. expected {}, actual {}", "{0}.dtype", 1, 2},
    ReasonForm{"tensor '{}' device mismatch. expected {}, actual {}", "{0}.device", 1, 2},
    ReasonForm{"tensor '{}' requires_grad mismatch. expected requires_grad={}", "{0}.requires_grad", 1, -1},
    ReasonForm{"tensor '{}' dispatch key set mismatch. expected {}, actual {}", "the dispatch keys of {0}", 1, 2},
    ReasonForm{"expected type of '{}' to be a tensor type, ' but found {}", "the type of {0}", -1, 1},
    ReasonForm{"GLOBAL_STATE changed: {}", "the global state: {0}", -1, -1},
    ReasonForm{"___check_global_state()", "the global state (grad mode, autocast, deterministic, threads)", -1, -1},
    ReasonForm{"___check_torch_function_mode_stack()", "the stack of torch function modes", -1, -1},
    ReasonForm{"___check_obj_id({}, {})", "the identity of {0}", -1, -1},
    ReasonForm{"___check_type_id({}, {})", "the type of {0}", -1, -1},
    ReasonForm{"___dict_contains({}, {})", "whether {1} has {0}", -1, -1},
    ReasonForm{"hasattr({}, {}) == {}", "whether {0} has {1}", -1, -1},
    ReasonForm{"len({}) == {}", "len({0})", 1, -1},
    ReasonForm{"Eq({}, {})", "{0}", 1, -1},
    ReasonForm{"{}.size()[{}] == {}", "{0}.size({1})", 2, -1},
    ReasonForm{"{} == {}", "{0}", 1, -1},
    ReasonForm{"not {}", "whether {0} is empty", -1, -1}};

std::string filled(std::string_view subject, const std::vector<std::string_view>& holes) {
  std::string text;
  for (std::size_t i = 0; i < subject.size(); ++i) {
    const bool hole = subject[i] == '{' && i + 2 < subject.size() && std::size_t(subject[i + 1] - '0') < holes.size();
    if (!hole) {
      text += subject[i];
      continue;
    }
    text += plainSource(trimmedText(holes[std::size_t(subject[i + 1] - '0')]));
    i += 2;
  }
  return text;
}

std::string holeText(const std::vector<std::string_view>& holes, int number) {
  return number < 0 || std::size_t(number) >= holes.size() ? std::string()
                                                           : std::string(trimmedText(holes[std::size_t(number)]));
}

/// "0/0" before a colon: the compilation whose guard it was.
std::string_view takeId(std::string_view& reason) {
  const std::size_t colon = reason.find(": ");
  const std::string_view id = reason.substr(0, std::min(colon, reason.size()));
  const bool good = colon != std::string_view::npos && id.find('/') != std::string_view::npos &&
                    id.find_first_not_of("0123456789/_!") == std::string_view::npos;
  if (!good) return {};
  reason.remove_prefix(colon + 2);
  return id;
}

void addCause(const StoryRecord& record, std::string_view reason) {
  auto& causes = record.story.causes;
  RecompileCause cause = recompileCause(reason);
  const auto same = [&](const RecompileCause& known) { return known.from == cause.from && known.guard == cause.guard; };
  const std::size_t bytes = cause.guard.size() * 3;
  if (cause.guard.empty() || causes.size() >= mostReasons || std::ranges::any_of(causes, same)) return;
  record.add(causes, std::move(cause), bytes);
}

/// The name in "tensor 'x' size mismatch …"; empty for other reasons.
std::string_view tensorOf(std::string_view guard) {
  constexpr std::string_view head = "tensor '";
  const std::size_t end = guard.find("' ");
  return guard.starts_with(head) && end != std::string_view::npos ? guard.substr(head.size(), end - head.size())
                                                                  : std::string_view();
}

/// Code and source of a guard as the user says them.
struct PlainGuard {
  std::string code, source;
  bool isTensor = false;
};

std::vector<PlainGuard> plainGuards(const CompileStory& story) {
  std::vector<PlainGuard> plain;
  for (const LoggedGuard& guard : story.guards)
    plain.push_back(
        {plainSource(guard.code), plainSource(guard.source), guard.code.find("check_tensor(") != std::string::npos});
  return plain;
}

bool isOf(const PlainGuard& guard, const std::string& reason, const std::string& tensor) {
  if (tensor.empty()) return guard.code.find(reason) != std::string::npos;
  return guard.isTensor && (guard.source == tensor || guard.code.starts_with(fmt::format("check_tensor({},", tensor)));
}

/// "[0/0]" of "[0/0_1]": attempts at one frame share what they compiled.
std::string_view withoutAttempt(std::string_view id) {
  const std::size_t mark = id.find('_');
  return mark == std::string_view::npos ? id.substr(0, id.size() - std::size_t(id.ends_with(']'))) : id.substr(0, mark);
}

}  // namespace

RecompileCause recompileCause(std::string_view reason) {
  reason = trimmedText(reason);
  if (reason.starts_with("- ")) reason.remove_prefix(2);
  RecompileCause cause;
  if (const std::string_view id = takeId(reason); !id.empty()) cause.from = fmt::format("[{}]", id);
  const std::string_view line = trimmedText(firstLineOf(reason));
  const std::string_view guard = trimmedText(line.substr(0, line.find("  # ")));
  cause.guard = clippedText(guard, longestLine);
  cause.where = innermostFrame(reason.substr(firstLineOf(reason).size()));
  for (const ReasonForm& form : forms) {
    const auto holes = fits(form.pattern, guard);
    if (holes.empty()) continue;
    cause.subject = clippedText(filled(form.subject, holes), longestLine);
    cause.before = clippedText(holeText(holes, form.before), longestLine);
    cause.after = clippedText(holeText(holes, form.after), longestLine);
    return cause;
  }
  cause.subject = plainSource(cause.guard);
  return cause;
}

void takeRecompileReasons(const StoryRecord& record) {
  const std::string payload = record.payload();
  JsonWalker reasons(payload);
  while (reasons.nextElement())
    if (const auto reason = jsonString(reasons.value())) addCause(record, *reason);
}

void takeRecompileReason(const StoryRecord& record) {
  const auto reason = jsonString(jsonMember(record.header.value, "recompile_reason"));
  if (reason && record.story.causes.empty()) addCause(record, *reason);
}

void markFailedGuards(CompileLog& log, const CaptureDetails& details) {
  constexpr std::int64_t mostBytes = 1 << 30;  // that are searched; a real log needs some megabytes
  std::map<std::pair<int, std::string_view>, std::vector<std::size_t>> byFrame;
  for (std::size_t i = 0; i < log.compiles.size(); ++i)
    byFrame[{details.compiles[i].rank, withoutAttempt(details.compiles[i].id)}].push_back(i);
  std::map<std::size_t, std::vector<PlainGuard>> plain;
  std::int64_t searched = 0;
  for (std::size_t i = 0; i < log.compiles.size(); ++i)
    for (RecompileCause& cause : log.compiles[i].causes) {
      const auto found = byFrame.find({details.compiles[i].rank, withoutAttempt(cause.from)});
      if (cause.from.empty() || found == byFrame.end()) continue;
      const std::string reason = plainSource(cause.guard), tensor = plainSource(tensorOf(cause.guard));
      for (const std::size_t from : found->second) {
        auto& guards = log.compiles[from].guards;
        const auto slot = plain.try_emplace(from);
        if (slot.second) slot.first->second = plainGuards(log.compiles[from]);
        for (std::size_t g = 0; g < guards.size() && searched < mostBytes; ++g) {
          const PlainGuard& guard = slot.first->second[g];
          searched += std::int64_t(guard.code.size() + reason.size());
          auto& failedFor = guards[g].failedFor;
          const std::string& id = details.compiles[i].id;
          if (!isOf(guard, reason, tensor)) continue;
          if (cause.where.empty()) cause.where = guards[g].where;
          if (failedFor.size() < mostReasons && (failedFor.empty() || failedFor.back() != id)) failedFor.push_back(id);
        }
      }
    }
}

}  // namespace kerf::inline capture::trace
