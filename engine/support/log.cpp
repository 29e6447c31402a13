#include "engine/support/log.h"

#include <atomic>
#include <mutex>

#include <pthread.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "engine/support/log_sinks.h"

namespace kerf::inline support {
namespace {

using SinkPtr = std::shared_ptr<spdlog::sinks::sink>;

constexpr const char* shortPattern = "%n %l: %v";
constexpr const char* filePattern = "%Y-%m-%d %H:%M:%S.%e %P %n %l: %v";

spdlog::level::level_enum spdlogLevel(LogLevel level) { return spdlog::level::level_enum(int(level)); }

/// One lock around all sinks: they are spdlog's single-threaded ones, and a fork must find none of them in use.
class Log {
 public:
  /// Never destroyed: threads may log until the process ends.
  static Log& instance() {
    static Log* const log = new Log;
    return *log;
  }

  void setLevels(const LogLevels& levels) {
    for (std::size_t i = 0; i < logCategoryCount; ++i) m_levels[i] = levels.of(LogCategory(i));
  }
  bool wants(LogCategory category, LogLevel level) const {
    return m_used && level != LogLevel::Off && level >= m_levels[std::size_t(category)];
  }
  void add(const SinkPtr& sink, const char* pattern) {
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
    const std::lock_guard lock(m_mutex);
    m_sinks.push_back(sink);
    m_used = true;
  }
  void remove(const void* sink) {
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_sinks, [&](const SinkPtr& known) { return known.get() == sink; });
    m_used = !m_sinks.empty() || m_stderr != nullptr;
  }
  void setStderr(LogLevel lowest) {
    const auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(shortPattern));
    sink->set_level(spdlogLevel(lowest));
    const std::lock_guard lock(m_mutex);
    m_stderr = sink;
    m_used = true;
  }
  void write(LogCategory category, LogLevel level, const std::string& text) {
    const std::string_view name = logCategoryName(category);
    const spdlog::details::log_msg message({name.data(), name.size()}, spdlogLevel(level), text);
    const std::lock_guard lock(m_mutex);
    if (m_stderr) writeTo(*m_stderr, message);
    for (const SinkPtr& sink : m_sinks) writeTo(*sink, message);
  }

 private:
  Log() {
    for (auto& level : m_levels) level = LogLevel::Warning;
    pthread_atfork([] { instance().m_mutex.lock(); }, [] { instance().m_mutex.unlock(); },
                   [] {
                     instance().keepStderrOnly();
                     instance().m_mutex.unlock();
                   });
  }
  /// In a forked child: the file and the listeners belong to the parent, so they are left alone, not closed.
  void keepStderrOnly() {
    m_parentSinks = std::move(m_sinks);
    m_sinks.clear();
    m_used = m_stderr != nullptr;
  }
  static void writeTo(spdlog::sinks::sink& sink, const spdlog::details::log_msg& message) {
    if (!sink.should_log(message.level)) return;
    try {
      sink.log(message);
      sink.flush();
    } catch (const std::exception&) {  // a full disk must not end what is being logged
    }
  }

  std::mutex m_mutex;
  std::array<std::atomic<LogLevel>, logCategoryCount> m_levels;
  std::atomic<bool> m_used = false;
  SinkPtr m_stderr;
  std::vector<SinkPtr> m_sinks, m_parentSinks;
};

/// Made before there are threads: a child forked while another thread makes it would wait for that thread for ever.
[[maybe_unused]] const Log& madeAtTheStart = Log::instance();

LogCategory categoryNamed(spdlog::string_view_t name) {
  for (std::size_t i = 0; i < logCategoryCount; ++i)
    if (logCategoryName(LogCategory(i)) == std::string_view(name.data(), name.size())) return LogCategory(i);
  return LogCategory::Import;
}

class ListenerSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit ListenerSink(std::function<void(const LogMessage&)> listener) : m_listener(std::move(listener)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    m_listener({message.time, categoryNamed(message.logger_name), LogLevel(int(message.level)),
                std::string(message.payload.data(), message.payload.size())});
  }
  void flush_() override {}
  std::function<void(const LogMessage&)> m_listener;
};

}  // namespace

void setLogLevels(const LogLevels& levels) { Log::instance().setLevels(levels); }

bool logs(LogCategory category, LogLevel level) { return Log::instance().wants(category, level); }

void writeLog(LogCategory category, LogLevel level, std::string_view text) {
  if (logs(category, level)) Log::instance().write(category, level, escapedText(text));
}

void formatLog(LogCategory category, LogLevel level, fmt::string_view format, fmt::format_args arguments) {
  writeLog(category, level, fmt::vformat(format, arguments));
}

void logToStderr(LogLevel lowest) { Log::instance().setStderr(lowest); }

Result<void> logToFile(const std::filesystem::path& path, std::size_t bytes, std::size_t kept) {
  try {
    std::filesystem::create_directories(path.parent_path());
    Log::instance().add(std::make_shared<spdlog::sinks::rotating_file_sink_st>(path.string(), bytes, kept),
                        filePattern);
    return {};
  } catch (const std::exception& problem) {
    return fail(Error{ErrorCode::Environment, fmt::format("cannot log there: {}", problem.what()), path.string()});
  }
}

LogListener::LogListener(std::function<void(const LogMessage&)> listener) {
  const auto sink = std::make_shared<ListenerSink>(std::move(listener));
  Log::instance().add(sink, "%v");
  m_sink = sink;
}

LogListener::~LogListener() { Log::instance().remove(m_sink.get()); }

}  // namespace kerf::inline support
