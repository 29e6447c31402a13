#include "engine/capture/trace/log_messages.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t longestPrefix = 600;

/// What begins a message, whatever stands before it. `artifact`: the one that prints it.
struct Beginning {
  std::string_view words, artifact;
};
constexpr std::array beginnings{Beginning{"Graph break", "graph_breaks"},
                                Beginning{"Recompiling function ", "recompiles"},
                                Beginning{"torch._dynamo hit config.", "limit"},
                                Beginning{"GUARDS:", "guards"},
                                Beginning{"TREE_GUARD_MANAGER", "guards"},
                                Beginning{"create_symbol ", "dynamic"},
                                Beginning{"create_unbacked_sym", "dynamic"},
                                Beginning{"set_replacement ", "dynamic"},
                                Beginning{"eval ", "dynamic"},
                                Beginning{"runtime_assert ", "dynamic"},
                                Beginning{"create_env", "dynamic"},
                                Beginning{"produce_guards", "dynamic"},
                                Beginning{"Output code", "output_code"},
                                Beginning{"torchdynamo start tracing ", "start"},
                                Beginning{"Step 1: torchdynamo start tracing ", "start"},
                                Beginning{"Step 2: ", "step"},
                                Beginning{"Step 3: ", "step"}};

const Beginning* beginningOf(std::string_view message) {
  const auto found =
      std::ranges::find_if(beginnings, [&](const Beginning& row) { return message.starts_with(row.words); });
  return found == beginnings.end() ? nullptr : &*found;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::int64_t numberAt(std::string_view text) {
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// One line: what its prefix says, and what stands behind it.
struct LogLine {
  std::string_view artifact, place;  ///< "graph_breaks"; "torch/_dynamo/guards.py:4295", of a prefix without artifact
  CompileNumbers id;
  int rank = -1;
  bool prefixed = false;
  std::string_view message;
};

std::string_view behindBlank(std::string_view text) { return text.starts_with(' ') ? text.substr(1) : text; }

/// The last compile id in brackets.
CompileNumbers idIn(std::string_view prefix) {
  for (std::size_t close = prefix.rfind(']'); close != prefix.npos && close > 0; close = prefix.rfind(']', close - 1)) {
    const std::size_t open = prefix.rfind('[', close);
    if (open == prefix.npos) break;
    const CompileNumbers id = compileNumbers(prefix.substr(open, close - open + 1));
    if (!id.text().empty()) return id;
  }
  return {};
}

int rankIn(std::string_view prefix) {
  for (const std::string_view mark : {"[rank", "[default", "rank="})
    if (const std::size_t at = prefix.find(mark); at != prefix.npos)
      if (const std::int64_t rank = numberAt(prefix.substr(at + mark.size())); rank >= 0 && rank < INT32_MAX)
        return int(rank);
  return -1;
}

/// "[__graph_breaks] ", or ".__graph_breaks: [DEBUG] " of older versions.
bool takeArtifact(std::string_view line, LogLine& found) {
  for (const auto& [open, close] : {std::pair{"[__", "]"}, std::pair{".__", ": ["}}) {
    const std::size_t at = line.find(open), name = at + 3;
    const std::size_t end = at == line.npos ? at : line.find(close, name);
    if (end == line.npos || at > longestPrefix || end - name > 60 || end == name) continue;
    const std::string_view word = line.substr(name, end - name);
    if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != word.npos) continue;
    const std::size_t message = line.find(']', end);
    if (message == line.npos) continue;
    found.artifact = word;
    found.id = idIn(line.substr(0, at + 1));
    found.rank = rankIn(line.substr(0, at));
    found.message = behindBlank(line.substr(message + 1));
    return true;
  }
  return false;
}

/// Where a level's brackets or a file's line number end a prefix: "…/guards.py:4295] ", "torch._dynamo.guards: [INFO] ".
std::size_t prefixEnd(std::string_view line) {
  const std::string_view head = line.substr(0, longestPrefix);
  if (const std::size_t at = head.find(".py:"); at != head.npos) {
    std::size_t end = at + 4;
    while (end < head.size() && isDigit(head[end])) ++end;
    if (end > at + 4 && end < head.size() && head[end] == ']') {
      const bool linked = head.substr(end + 1).starts_with('(');  // a link of Markdown, in place of the path
      const std::size_t close = linked ? head.find(')', end) : end;
      if (close == head.npos) return end + 1;
      return linked && head.substr(close + 1).starts_with(']') ? close + 2 : close + 1;
    }
  }
  for (const std::string_view level : {": [DEBUG]", ": [INFO]", ": [WARNING]", ": [ERROR]"})
    if (const std::size_t at = head.find(level); at != head.npos && head.substr(0, at).find("torch.") != head.npos)
      return at + level.size();
  return line.npos;
}

/// What chats, comments and lists put before a line that has lost its own prefix.
std::string_view withoutQuotes(std::string_view line) {
  while (line.starts_with("> ") || line.starts_with("# ")) line.remove_prefix(2);
  if (line == "#" || line == ">") return {};
  return line;
}

LogLine readLine(std::string_view line) {
  LogLine found;
  if (line.ends_with('\r')) line.remove_suffix(1);
  found.prefixed = takeArtifact(line, found);
  if (found.prefixed) return found;
  const std::size_t end = prefixEnd(line);
  if (end == line.npos) {
    found.message = withoutQuotes(line);
    return found;
  }
  found.prefixed = true;
  found.place = line.substr(0, end);
  found.id = idIn(found.place);
  found.rank = rankIn(found.place);
  found.message = behindBlank(line.substr(end));
  if (found.message.starts_with('[')) {
    const std::size_t close = found.message.find(']');
    const CompileNumbers id = compileNumbers(found.message.substr(0, close == line.npos ? 0 : close + 1));
    if (!id.text().empty()) {
      found.id = id;
      found.message = behindBlank(found.message.substr(close + 1));
    }
  }
  return found;
}

bool isBlankText(std::string_view text) { return trimmedText(text).empty(); }

/// Cuts lines into messages.
class MessageReader {
 public:
  std::vector<PrintedMessage> run(std::string_view text) {
    int number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      take(readLine(text.substr(at, end - at)), ++number);
      at = end + 1;
    }
    return std::move(m_messages);
  }

 private:
  void take(const LogLine& line, int number) {
    const std::string_view words = trimmedText(line.message);
    const Beginning* beginning = beginningOf(words);
    if (beginning != nullptr && !belongsToOpen(line, *beginning)) return begin(line, beginning->artifact, number);
    if (m_open && continues(line)) {
      m_messages.back().lines.push_back(line.message);
    } else if (!line.artifact.empty()) {
      begin(line, line.artifact, number);
    } else {
      m_open = false;
    }
  }

  /// Guards print a tree below their head, and code may hold any words.
  bool belongsToOpen(const LogLine& line, const Beginning& row) const {
    if (!m_open || !continues(line)) return false;
    const PrintedMessage& last = m_messages.back();
    if (row.artifact == "guards") return last.artifact == "guards" && row.words.starts_with("TREE");
    return last.artifact == "output_code" && row.artifact != "output_code";
  }

  void begin(const LogLine& line, std::string_view artifact, int number) {
    PrintedMessage message;
    message.artifact = line.artifact.empty() || artifact == "limit" ? artifact : line.artifact;
    message.id = line.id;
    message.rank = line.rank;
    message.line = number;
    message.lines.push_back(line.message);
    m_messages.push_back(std::move(message));
    m_prefixed = line.prefixed;
    m_own = line.artifact;
    m_place = placeOf(line);
    m_open = true;
  }

  /// Prefixed lines go on by their prefix; others until a blank line, but for trees and code.
  bool continues(const LogLine& line) const {
    const PrintedMessage& last = m_messages.back();
    if (line.prefixed)
      return m_prefixed && line.artifact == m_own && line.id.text() == last.id.text() && line.rank == last.rank &&
             (!m_own.empty() || placeOf(line) == m_place);
    if (m_prefixed) return false;
    return !isBlankText(line.message) || last.artifact == "guards" || last.artifact == "output_code";
  }

  /// File and line, without the time before them.
  static std::string_view placeOf(const LogLine& line) { return line.place.substr(line.place.rfind(' ') + 1); }

  std::vector<PrintedMessage> m_messages;
  std::string_view m_place;
  std::string m_own;  ///< the artifact that the open message's lines name
  bool m_open = false, m_prefixed = false;
};

}  // namespace

CompileNumbers compileNumbers(std::string_view text) {
  if (text.starts_with('[')) text.remove_prefix(1);
  if (text.ends_with(']')) text.remove_suffix(1);
  CompileNumbers id;
  const bool autograd = text.starts_with('!');
  if (autograd) text.remove_prefix(1);
  std::vector<std::int64_t> numbers;
  std::vector<char> signs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    if (end == 0 || end > 9 || numbers.size() == 4) return {};
    numbers.push_back(numberAt(text.substr(0, end)));
    text.remove_prefix(end);
    if (text.empty()) break;
    if ((text.front() != '/' && text.front() != '_') || text.size() == 1) return {};
    signs.push_back(text.front());
    text.remove_prefix(1);
  }
  if (numbers.empty() || (!autograd && (signs.empty() || signs.front() != '/'))) return {};
  std::size_t next = 0;
  if (autograd) id.autograd = numbers[next++];
  if (!signs.empty() && signs.back() == '_') {
    id.attempt = numbers.back();
    numbers.pop_back();
  }
  if (next < numbers.size()) id.frame = numbers[next++];
  if (next < numbers.size()) id.compile = numbers[next];
  return id;
}

std::vector<PrintedMessage> logMessages(std::string_view text) { return MessageReader().run(text); }

}  // namespace kerf::inline capture::trace
