#include "engine/process/log_relay.h"

#include "engine/process/codec.h"

namespace kerf::inline process {

namespace {

struct LogLine {
  int category = 0, level = 0;
  std::string text;

  KERF_FIELDS(category, level, text)
};

}  // namespace

LogRelay::LogRelay(Channel& channel)
    : m_listener([&channel](const LogMessage& message) {
        const LogLine line{int(message.category), int(message.level), message.text};
        (void)channel.send(FrameKind::Log, encode(line));  // a parent that is gone misses nothing
      }) {}

void relayLog(const Frame& frame) {
  const auto line = decode<LogLine>(frame.body, "a message of the log");
  if (!line || line->category < 0 || line->category >= int(logCategoryCount)) return;
  if (line->level < int(LogLevel::Trace) || line->level >= int(LogLevel::Off)) return;
  writeLog(LogCategory(line->category), LogLevel(line->level), line->text);
}

std::vector<int> wantedLogLevels() {
  std::vector<int> levels;
  for (std::size_t i = 0; i < logCategoryCount; ++i) {
    int level = int(LogLevel::Trace);
    while (level < int(LogLevel::Off) && !logs(LogCategory(i), LogLevel(level))) ++level;
    levels.push_back(level);
  }
  return levels;
}

void applyLogLevels(const std::vector<int>& levels) {
  LogLevels wanted;
  for (std::size_t i = 0; i < std::min(levels.size(), logCategoryCount); ++i)
    if (levels[i] >= int(LogLevel::Trace) && levels[i] <= int(LogLevel::Off))
      wanted.set(LogCategory(i), LogLevel(levels[i]));
  setLogLevels(wanted);
}

}  // namespace kerf::inline process
