#include "engine/capture/trace/log_stack.h"

#include <fmt/format.h>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture {
namespace {

using trace::clippedText;

constexpr std::size_t mostFrames = 1000;      ///< of one stack
constexpr std::size_t allFrames = 1'000'000;  ///< of one log
constexpr std::size_t longestText = 1000;     ///< bytes of a name or line

std::string clipped(const std::optional<std::string>& text) { return text ? clippedText(*text, longestText) : ""; }

LogFrame frameOf(std::string_view json, const std::map<std::int64_t, std::string>& files) {
  LogFrame frame;
  JsonWalker members(json);
  while (members.nextMember()) {
    const std::string_view key = members.key(), value = members.value();
    if (jsonKeyIs(key, "line")) frame.line = jsonInteger(value).value_or(0);
    if (jsonKeyIs(key, "name")) frame.function = clipped(jsonString(value));
    if (jsonKeyIs(key, "loc")) frame.code = clipped(jsonString(value));
    if (jsonKeyIs(key, "uninterned_filename") && frame.file.empty()) frame.file = clipped(jsonString(value));
    if (!jsonKeyIs(key, "filename")) continue;
    const auto number = jsonInteger(value);
    const auto known = number ? files.find(*number) : files.end();
    frame.file = known != files.end() ? known->second
                 : number             ? fmt::format("(file {})", *number)
                                      : clipped(jsonString(value));
  }
  return frame;
}

}  // namespace

std::uint32_t FrameTable::numberOf(LogFrame frame) {
  const std::string key = fmt::format("{}\n{}\n{}\n{}", frame.file, frame.line, frame.function, frame.code);
  const auto [slot, fresh] = m_known.try_emplace(key, std::uint32_t(m_frames.size()));
  if (fresh) m_frames.push_back(std::move(frame));
  return slot->second;
}

LogStack FrameTable::read(std::string_view json, const std::map<std::int64_t, std::string>& files) {
  LogStack stack;
  JsonWalker frames(json);
  while (m_frames.size() < allFrames && frames.nextElement()) {
    if (!frames.value().starts_with('{')) continue;
    stack.push_back(numberOf(frameOf(frames.value(), files)));
    if (stack.size() > mostFrames) stack.erase(stack.begin() + mostFrames / 2);
  }
  return stack;
}

std::string FrameTable::text(std::uint32_t number) const {
  const LogFrame& frame = m_frames[number];
  return fmt::format("{}:{} in {}", frame.file.empty() ? "?" : frame.file, frame.line, frame.function);
}

std::string FrameTable::traceback(const LogStack& stack) const {
  std::string text;
  for (const std::uint32_t number : stack) {
    const LogFrame& frame = m_frames[number];
    text += fmt::format("  File \"{}\", line {}, in {}\n", frame.file, frame.line, frame.function);
    if (!frame.code.empty()) text += fmt::format("    {}\n", frame.code);
  }
  return text;
}

}  // namespace kerf::inline capture
