#include "engine/capture/trace/guard_lists.h"

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"
#include "engine/support/utf8.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t deepest = 200;

/// The last comment of a guard's line names the place: "# return x + 1  # train.py:41 in forward".
std::string placeOf(std::string_view comments) {
  const std::size_t last = comments.rfind("# ");
  if (last == std::string_view::npos) return {};
  std::string_view place = trimmedText(comments.substr(last + 2));
  for (const std::string_view remark : {" (HINT: ", " (user code shown is "})
    place = place.substr(0, place.find(remark));
  const std::string_view code = last == 0 ? std::string_view() : trimmedText(comments.substr(2, last - 2));
  return clippedText(code.empty() ? std::string(place) : fmt::format("{}: {}", place, code), longestLine);
}

struct GuardLine {
  std::size_t depth = 0;
  std::string_view kind, rest;
};

/// "| | +- KIND: rest"; nothing for lines of another form.
std::optional<GuardLine> guardLine(std::string_view line) {
  const std::size_t mark = line.find("+- ");
  if (mark == std::string_view::npos || line.substr(0, mark).find_first_not_of("| ") != std::string_view::npos)
    return std::nullopt;
  const std::string_view text = line.substr(mark + 3);
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon == 0 || text.substr(0, colon).find(' ') != std::string_view::npos)
    return std::nullopt;
  return GuardLine{mark / 2, text.substr(0, colon), text.substr(colon + 2)};
}

std::string sourceOf(std::string_view manager) {
  constexpr std::string_view mark = "source=";
  const std::size_t found = manager.find(mark);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = manager.substr(found + mark.size());
  return clippedText(rest.substr(0, rest.find(", accessed_by=")), longestLine);
}

}  // namespace

void takeGuardLines(const StoryRecord& record) {
  const std::string payload = record.payload();
  std::vector<std::string> sources;  // by depth
  for (std::string_view rest = payload; !rest.empty();) {
    const std::string_view line = firstLineOf(rest);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto found = guardLine(line);
    if (!found || found->depth > deepest) continue;
    sources.resize(std::min(sources.size(), found->depth));
    if (found->kind.ends_with("Manager") || found->kind.ends_with("Accessor")) {
      sources.resize(found->depth + 1);
      sources[found->depth] = sourceOf(found->rest);
      continue;
    }
    const std::size_t comment = found->rest.find("  # ");
    LoggedGuard guard;
    guard.kind = validUtf8(found->kind.substr(0, 100));
    guard.code = clippedText(validUtf8(trimmedText(found->rest.substr(0, comment))), longestLine);
    if (!sources.empty()) guard.source = sources.back();
    if (comment != std::string_view::npos) guard.where = placeOf(validUtf8(found->rest.substr(comment + 2)));
    const std::size_t bytes = guard.code.size() + guard.source.size() + guard.where.size();
    record.add(record.story.guards, std::move(guard), bytes);
  }
}

void takeGuardObjects(const StoryRecord& record) {
  const std::string payload = record.payload();
  JsonWalker guards(payload);
  while (guards.nextElement()) {
    LoggedGuard guard;
    guard.kind = "GUARD";
    guard.code = jsonText(jsonMember(guards.value(), "code"));
    if (guard.code.empty()) continue;
    for (const std::string_view member : {"stack", "user_stack"})
      if (const LogStack stack = record.log.frames.read(jsonMember(guards.value(), member), record.files);
          !stack.empty())
        guard.where = record.log.innermost(stack);
    const std::size_t bytes = guard.code.size() + guard.where.size();
    record.add(record.story.guards, std::move(guard), bytes);
  }
}

}  // namespace kerf::inline capture::trace
