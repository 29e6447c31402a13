// DebugMode.debug_string(): a line a call, two blanks a level; kernels have their hashes on lines of their own.
#include "engine/align/log_steps.h"
#include "engine/align/read_recording.h"

namespace kerf::inline align {

namespace {

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '.';
}

struct LogLine {
  int depth = 0;
  std::string_view text;  ///< without blanks around it
};

LogLine lineOf(std::string_view line) {
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(start);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  return {int(start / 2), line};
}

/// The op's name of `aten::mm(t: f32[2, 2], …`, with the bracket behind it; empty for other lines.
std::string_view calledName(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && isNameCharacter(text[end])) ++end;
  const std::string_view name = text.substr(0, end);
  const bool qualified = name.find("::") != std::string_view::npos || name.find('.') != std::string_view::npos;
  return qualified && end < text.size() && text[end] == '(' ? name : std::string_view();
}

/// `[header] what` of a marker.
bool readMarker(std::string_view text, LogCall& call) {
  if (!text.starts_with('[')) return false;
  const std::size_t close = text.find("] ");
  if (close == std::string_view::npos) return false;
  call.header = text.substr(1, close - 1);
  call.name = text.substr(close + 2);
  call.kind = LogCall::Kind::Marker;
  return true;
}

class TextReader {
 public:
  Result<RunRecording> read(std::string_view text) {
    std::size_t calls = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      line(lineOf(text.substr(0, end)));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
      if (++calls > mostSteps) return fail(ErrorCode::TooLarge, "the log has more than {} lines", mostSteps);
    }
    flush();
    RunRecording recording = m_steps.finish();
    if (m_cut > 0) recording.notes.push_back(fmt::format("{} lines are cut within a call and left out", m_cut));
    return recording;
  }

 private:
  void line(const LogLine& line) {
    if (line.text.empty()) return;
    if (line.text.starts_with("# pre-kernel hashes: ") && m_kernel) {
      m_pending.kernelBefore = literalLeaves(line.text);
    } else if (line.text.starts_with("# post-kernel hashes: ") && m_kernel) {
      m_pending.kernelAfter = literalLeaves(line.text);
    } else if (line.text.starts_with("# File: ")) {
      m_source = line.text.substr(8);
    } else if (line.text.starts_with("[triton] ")) {
      kernel(line);
    } else {
      other(line);
    }
  }

  void kernel(const LogLine& line) {
    flush();
    const std::string_view text = line.text.substr(9);
    const std::size_t open = text.find('(');
    m_pending = {.kind = LogCall::Kind::Kernel, .depth = line.depth, .name = std::string(text.substr(0, open))};
    if (open != std::string_view::npos) {
      const std::size_t close = closingBracket(text, open);
      if (close == std::string_view::npos) ++m_cut;
      m_pending.arguments =
          text.substr(open + 1, (close == std::string_view::npos ? text.size() : close - 1) - open - 1);
    }
    m_pending.source = m_source;
    m_kernel = true;
  }

  void other(const LogLine& line) {
    flush();
    LogCall call{.depth = line.depth, .source = m_source};
    if (const std::string_view name = calledName(line.text); !name.empty()) {
      if (!readCall(line.text, name, call)) {
        ++m_cut;
        return;
      }
    } else if (!readMarker(line.text, call)) {
      return;
    }
    m_steps.add(std::move(call));
  }

  static bool readCall(std::string_view text, std::string_view name, LogCall& call) {
    const std::size_t close = closingBracket(text, name.size());
    if (close == std::string_view::npos) return false;
    call.kind = LogCall::Kind::Op;
    call.name = name;
    call.arguments = text.substr(name.size() + 1, close - name.size() - 2);
    text.remove_prefix(close);
    const std::size_t log = text.find("  # {");
    call.output = text.substr(0, log);
    if (log == std::string_view::npos) return true;
    for (auto& [key, leaves] : literalLeaves(text.substr(log))) {
      if (key == "hash") call.outputHashes = std::move(leaves);
      if (key == "input_hash") call.inputHashes = std::move(leaves);
    }
    return true;
  }

  void flush() {
    if (std::exchange(m_kernel, false)) m_steps.add(std::move(m_pending));
    m_pending = {};
  }

  LogSteps m_steps;
  LogCall m_pending;  ///< a kernel, while the lines with its hashes are awaited
  bool m_kernel = false;
  std::string m_source;
  std::size_t m_cut = 0;
};

}  // namespace

bool isDebugModeText(std::string_view head) {
  int calls = 0;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    const std::string_view text = lineOf(head.substr(0, end)).text;
    const std::string_view name = calledName(text);
    const bool printed = text.find("t: ") != std::string_view::npos || text.find("t$") != std::string_view::npos;
    if (name.find("::") != std::string_view::npos && printed) ++calls;
    if (text.starts_with("[triton] ")) ++calls;
    if (text.starts_with("class ") || text.starts_with("def ") || text.starts_with("graph(")) return false;
    head = end == std::string_view::npos ? std::string_view() : head.substr(end + 1);
  }
  return calls > 0;
}

Result<RunRecording> readDebugModeText(std::string_view text) {
  if (text.size() > mostLogBytes) return fail(ErrorCode::TooLarge, "the log has {} bytes", text.size());
  return TextReader().read(text);
}

}  // namespace kerf::inline align
