#include "engine/capture/trace/graph_breaks.h"

#include <algorithm>
#include <map>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::string_view traceMark = "User code traceback:";

/// The innermost frame of a printed traceback: `  File "x.py", line 3, in f` and the line of code behind it.
struct PrintedFrame {
  std::string where, code;
};

PrintedFrame innermostPrinted(std::string_view trace) {
  PrintedFrame last;
  while (!trace.empty()) {
    const std::string_view line = trimmedText(firstLineOf(trace));
    trace.remove_prefix(std::min(trace.size(), firstLineOf(trace).size() + 1));
    const auto frame = fits("File \"{}\", line {}, in {}", line);
    if (!frame.empty()) {
      last.where = fmt::format("{}:{} in {}", frame[0], frame[1], frame[2]);
      last.code = trimmedText(firstLineOf(trace));
    } else if (line == "Traceback (most recent call last):" && !last.where.empty()) {
      break;  // what follows is the compiler's own
    }
  }
  return last;
}

/// What the reason says in one line. Newer versions put what they were doing before the reason itself:
/// "Encountered graph break when attempting to trace CALL: …:\n\nFailed to trace builtin operator".
std::string headline(std::string_view reason) {
  const std::string_view first = trimmedText(firstLineOf(reason));
  if (first.starts_with("Encountered graph break") || first.empty()) {
    const std::string_view rest = trimmedText(reason.substr(std::min(reason.size(), firstLineOf(reason).size())));
    if (!rest.empty()) return clippedText(trimmedText(firstLineOf(rest)), longestLine);
  }
  return clippedText(first, longestLine);
}

/// "torch_dynamo_resume_in_g_at_35" in "/p/m.py:35": the break was there.
std::optional<GraphBreak> impliedBreak(std::string_view function, std::string_view file) {
  const auto parts = fits("torch_dynamo_resume_in_{}", function);
  const std::size_t at = parts.empty() ? std::string_view::npos : parts[0].rfind("_at_");
  if (at == std::string_view::npos) return std::nullopt;
  GraphBreak broken;
  broken.implied = true;
  broken.reason = "Dynamo went on in a resume function; the log does not tell why";
  broken.where = fmt::format("{}:{} in {}", file, parts[0].substr(at + 4), parts[0].substr(0, at));
  return broken;
}

/// Behind the word that newer versions write before the reason, or the older ones.
std::size_t reasonBegin(std::string_view text) {
  for (const std::string_view mark : {"Graph Break Reason: ", "\nReason: "})
    if (const std::size_t at = text.find(mark); at != text.npos) return at + mark.size();
  return 0;
}

/// "Graph break: call_method item from user code at:\n  File …": versions up to 2.4.
bool takeOldBreak(std::string_view text, GraphBreak& broken) {
  constexpr std::string_view mark = "Graph break: ", place = "from user code at";
  if (!text.starts_with(mark)) return false;
  const std::size_t at = text.find(place);
  broken.reason = headline(text.substr(mark.size(), at == text.npos ? at : at - mark.size()));
  if (at != text.npos) {
    const PrintedFrame frame = innermostPrinted(text.substr(at));
    const std::string_view rest = trimmedText(firstLineOf(text.substr(at + place.size())));
    broken.where = clippedText(frame.where.empty() && rest != ":" ? rest : std::string_view(frame.where), longestLine);
    broken.code = clippedText(frame.code, longestLine);
  }
  broken.explanation = clippedText(trimmedText(text.substr(mark.size())), longestTrace);
  return true;
}

void addFailure(const StoryRecord& record, CompileFailure failure) {
  const std::size_t bytes = failure.type.size() + failure.reason.size() + failure.trace.size();
  record.add(record.story.failures, std::move(failure), bytes);
}

void takeRestarts(const StoryRecord& record) {
  JsonWalker reasons(jsonMember(record.header.value, "restart_reasons"));
  while (reasons.nextElement()) {
    const auto reason = jsonString(reasons.value());
    if (!reason || record.story.restarts.size() >= 100) continue;
    CompileRestart restart{clippedText(trimmedText(*reason), longestTrace)};
    const std::size_t bytes = restart.reason.size();
    record.add(record.story.restarts, std::move(restart), bytes);
  }
}

/// fail_type may come beside a dynamo_error that said the same with its traceback.
void takeFailType(const StoryRecord& record) {
  CompileFailure failure;
  failure.type = record.text("fail_type");
  if (failure.type.empty()) return;
  failure.reason = record.text("fail_reason");
  failure.line = record.line();
  if (const std::string file = record.text("fail_user_frame_filename"); !file.empty())
    failure.where = fmt::format("{}:{}", file, record.text("fail_user_frame_lineno"));
  if (!record.story.failures.empty()) {
    CompileFailure& known = record.story.failures.back();
    if (known.trace.find(failure.reason.substr(0, 200)) != std::string::npos) {
      known.type = failure.type;
      known.reason = failure.reason;
      if (!failure.where.empty()) known.where = failure.where;
      return;
    }
  }
  JsonWalker frames(jsonMember(record.header.value, "exception_stack_trace"));
  while (failure.trace.size() < longestTrace && frames.nextElement())
    failure.trace += jsonString(frames.value()).value_or("") + "\n";
  addFailure(record, std::move(failure));
}

}  // namespace

GraphBreak graphBreak(std::string_view text) {
  GraphBreak broken;
  if (takeOldBreak(text, broken)) return broken;
  const std::string_view first = trimmedText(firstLineOf(text));
  constexpr std::string_view placeMark = "in user code at ";
  if (const std::size_t at = first.find(placeMark); first.starts_with("Graph break") && at != first.npos)
    broken.where = clippedText(first.substr(at + placeMark.size()), longestLine);
  const std::size_t trace = text.find(traceMark), begin = reasonBegin(text);
  broken.reason =
      headline(text.substr(begin, trace == std::string_view::npos || trace < begin ? trace : trace - begin));
  if (trace != std::string_view::npos) {
    const PrintedFrame frame = innermostPrinted(text.substr(trace + traceMark.size()));
    if (!frame.where.empty()) broken.where = clippedText(frame.where, longestLine);
    broken.code = clippedText(frame.code, longestLine);
  }
  broken.explanation = clippedText(trimmedText(text.substr(begin)), longestTrace);
  return broken;
}

void takeBreakReason(const StoryRecord& record) {
  GraphBreak broken = graphBreak(record.payload());
  broken.line = record.line();
  const std::size_t bytes = broken.reason.size() + broken.explanation.size();
  record.add(record.story.breaks, std::move(broken), bytes);
}

void takeError(const StoryRecord& record) {
  const std::string payload = record.payload();
  CompileFailure failure;
  const std::string_view last = lastLineOf(std::string_view(payload).substr(0, payload.find("\nfrom user code:")));
  failure.reason = clippedText(last, longestLine);
  const std::size_t colon = last.find(": ");
  const std::string_view type = last.substr(0, colon);
  const bool typed = colon != std::string_view::npos && type.find(' ') == std::string_view::npos;
  if (typed) {
    failure.type = type;
    failure.reason = clippedText(last.substr(colon + 2), longestLine);
  }
  if (const std::size_t user = payload.find("from user code:"); user != std::string::npos)
    failure.where = innermostPrinted(std::string_view(payload).substr(user)).where;
  failure.trace = clippedText(payload, longestTrace);
  failure.line = record.line();
  addFailure(record, std::move(failure));
}

void takeOutcome(const StoryRecord& record) {
  takeRestarts(record);
  takeFailType(record);
  if (auto broken = impliedBreak(record.text("co_name"), record.text("co_filename"))) {
    broken->line = record.line();
    record.add(record.story.breaks, std::move(*broken), longestLine);
  }
}

namespace {

/// A break that is told again comes without its stack: the function and the line are those of the first time.
void fillRepeated(CompileLog& log) {
  std::map<std::string, const GraphBreak*, std::less<>> known;  // by "x.py:12"
  for (CompileStory& story : log.compiles)
    for (GraphBreak& broken : story.breaks) {
      const std::string place = broken.where.substr(0, broken.where.find(" in "));
      if (place.size() < broken.where.size()) known.try_emplace(place, &broken);
    }
  for (CompileStory& story : log.compiles)
    for (GraphBreak& broken : story.breaks)
      if (const auto first = known.find(broken.where); first != known.end() && broken.code.empty()) {
        broken.code = first->second->code;
        broken.where = first->second->where;
      }
}

}  // namespace

void settleBreaks(CompileLog& log) {
  fillRepeated(log);
  std::vector<std::string_view> reasons;
  bool told = false;
  for (const CompileStory& story : log.compiles)
    for (const GraphBreak& broken : story.breaks) {
      told = told || !broken.implied;
      if (!broken.implied) reasons.push_back(broken.reason);
    }
  std::ranges::sort(reasons);
  for (CompileStory& story : log.compiles) {
    for (CompileRestart& restart : story.restarts) {
      const std::string line = headline(restart.reason);
      restart.isBreak = std::ranges::binary_search(reasons, std::string_view(line));
    }
    if (told) std::erase_if(story.breaks, [](const GraphBreak& broken) { return broken.implied; });
  }
}

}  // namespace kerf::inline capture::trace
