#include "engine/capture/repro/sieve.h"

#include <algorithm>

#include "engine/capture/repro/audit_lexer.h"
#include "engine/capture/repro/auditor.h"
#include "engine/capture/repro/main_lines.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view leftOutMark = "# Kerf left out: ";

/// Whether the line may begin a statement of module level.
bool startsBlock(const std::string& line) {
  return !line.empty() && std::string_view(" \t)]}").find(line[0]) == std::string_view::npos;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool hasCookie(const std::vector<std::string>& lines) {
  return std::ranges::any_of(lines,
                             [](const std::string& line) { return line.starts_with('#') && isCodingCookie(line); });
}

/// Between what a block is judged after and the block: one that begins indented is no part of a class above it.
constexpr std::string_view plainLine = "isolate_fails_code_str = None\n";

/// What a line is judged after, so that it may name the class.
std::string emptyClass(const std::string& name) { return fmt::format("class {}(torch.nn.Module):\n    pass\n", name); }

class Sieve {
 public:
  explicit Sieve(const ReproEnvelope& envelope) { m_out.envelope = envelope; }

  SievedLines run(const std::string& className) {
    ReproEnvelope& envelope = m_out.envelope;
    const bool hadLines = !envelope.headerLines.empty();
    envelope.headerLines = lines(envelope.headerLines, {});
    envelope.betweenLines = lines(envelope.betweenLines, emptyClass(className));
    if (hadLines && std::ranges::find(envelope.headerLines, "import torch") == envelope.headerLines.end())
      envelope.headerLines.insert(envelope.headerLines.begin(),
                                  {"import torch", "from torch import tensor, device", "from math import inf"});
    main(className);
    return std::move(m_out);
  }

 private:
  std::vector<std::string> lines(const std::vector<std::string>& all, const std::string& before) {
    std::vector<std::string> kept;
    const std::string text = joined(all);
    const auto source = scanSource(text, {});  // none where a string never ends: then every line is judged alone
    const auto isInside = [&](std::size_t line) {
      return source && line < source->lines.size() && (source->inString[line] != 0 || source->inBracket[line] != 0);
    };
    for (std::size_t first = 0; first < all.size();) {
      std::size_t end = first + 1;
      while (end < all.size() &&
             (isInside(end) || (!all[first].empty() && !startsBlock(all[end]) && !all[end].empty())))
        ++end;
      block({all.begin() + std::ptrdiff_t(first), all.begin() + std::ptrdiff_t(end)}, before, kept);
      first = end;
    }
    return kept;
  }

  void block(const std::vector<std::string>& block, const std::string& before, std::vector<std::string>& kept) {
    if (hasCookie(block)) return drop(block);
    const bool isAllowed = isAllowedBlock(before + std::string(plainLine) + joined(block));
    if (!isAllowed) drop(block);
    for (const std::string& line : block)
      kept.push_back(isAllowed ? line : std::string(leftOutMark) + pythonString(line));
  }

  void drop(const std::vector<std::string>& block) {
    m_out.leftOut.insert(m_out.leftOut.end(), block.begin(), block.end());
  }

  /// The part after load_args: kept whole or written anew, with the options that are plain values.
  void main(const std::string& className) {
    ReproEnvelope& envelope = m_out.envelope;
    const std::string before = emptyClass(className) + joined(envelope.betweenLines) +
                               "def load_args(reader):\n    pass\n" + std::string(plainLine);
    if (isAllowedBlock(before + joined(envelope.mainLines))) return;
    std::erase_if(envelope.runOptions, [](const auto& option) { return !isAllowedName(option.second); });
    const std::vector<std::string> usual = defaultMainLines(className, envelope.runOptions);
    for (const std::string& line : envelope.mainLines)
      if (!trimmed(line).empty() && std::ranges::find(usual, line) == usual.end()) m_out.leftOut.push_back(line);
    envelope.mainLines.clear();
  }

  SievedLines m_out;
};

}  // namespace

SievedLines sieved(const ReproEnvelope& envelope, const std::string& className) {
  return Sieve(envelope).run(className);
}

}  // namespace kerf::inline capture
