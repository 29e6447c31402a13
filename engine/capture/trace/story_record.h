// One record on its way into a compilation's story, and the bounds of what stories may hold.
#pragma once

#include "engine/capture/trace/compile_log.h"
#include "engine/capture/trace/header.h"

namespace kerf::inline capture::trace {

inline constexpr std::size_t longestLine = 4096;       ///< bytes of a guard, expression, reason
inline constexpr std::size_t longestTrace = 64 << 10;  ///< bytes of a traceback
inline constexpr std::size_t mostItems = 20'000;       ///< of one kind in one compilation

/// Bytes that the stories of one log may still take.
class LogByteBudget {
 public:
  bool take(std::size_t bytes) {
    if (bytes <= m_bytes) {
      m_bytes -= bytes;
      return true;
    }
    ++m_refused;
    return false;
  }
  std::int64_t refused() const { return m_refused; }

 private:
  std::size_t m_bytes = 256 << 20;
  std::int64_t m_refused = 0;
};

/// An expression of sizes as torch.export built it, step by step.
struct LoggedExpression {
  std::string text, method;             ///< "-u0", "neg"; no method of a symbol
  std::vector<std::int64_t> arguments;  ///< numbers of expressions
  LogStack user;
};
using ExpressionTable = std::unordered_map<std::int64_t, LoggedExpression>;

struct StoryRecord {
  const CaptureRecord& record;
  std::size_t index = 0;
  TraceHeader header;
  const std::map<std::int64_t, std::string>& files;  ///< that frames refer to
  const std::string& direction;
  CompileStory& story;
  CompileLog& log;
  LogByteBudget& budget;
  ExpressionTable& expressions;
  std::int64_t& unread;  ///< payloads that could not be read

  int line() const { return record.origin.line; }
  int run() const { return std::max(story.runs, 1); }
  /// The payload without tabs; empty, and counted, if it cannot be read or is above 16 MiB.
  std::string payload() const;
  /// The member of the record's own JSON value as text: strings without quotes, others as written, null as "".
  std::string text(std::string_view member) const;
  LogStack stack(std::string_view member) const;

  template <class Item>
  void add(std::vector<Item>& list, Item item, std::size_t bytes) const {
    if (list.size() < mostItems && budget.take(bytes + sizeof(Item))) list.push_back(std::move(item));
  }
};

/// Text of any JSON value: strings without quotes, others as written, null and nothing as "".
std::string jsonText(std::string_view value, std::size_t longest = longestLine);

}  // namespace kerf::inline capture::trace
