#include "engine/capture/trace/story_record.h"

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"
#include "engine/support/utf8.h"

namespace kerf::inline capture::trace {

std::string StoryRecord::payload() const {
  constexpr std::int64_t limit = 16 << 20;
  auto text = record.text(limit);
  if (text) return std::move(*text);
  ++unread;
  return {};
}

std::string StoryRecord::text(std::string_view member) const { return jsonText(jsonMember(header.value, member)); }

LogStack StoryRecord::stack(std::string_view member) const {
  return log.frames.read(jsonMember(header.value, member), files);
}

std::string jsonText(std::string_view value, std::size_t longest) {
  if (value.empty() || value == "null") return {};
  const auto text = jsonString(value);
  return clippedText(text ? *text : validUtf8(value.substr(0, longest + 1)), longest);
}

}  // namespace kerf::inline capture::trace
