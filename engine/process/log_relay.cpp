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

}  // namespace kerf::inline process
