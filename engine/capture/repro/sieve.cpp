#include "engine/capture/repro/sieve.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "engine/capture/audit/audit_header.h"
#include "engine/capture/audit/audit_lexer.h"
#include "engine/capture/audit/auditor.h"
#include "engine/capture/repro/main_lines.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view leftOutMark = "# Kerf left out: ";

bool startsWith(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return false;
  const char next = line.size() > word.size() ? line[word.size()] : ' ';
  return std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_';
}

/// Whether it begins a class, a function, or a condition: what the writer makes itself, each once.
bool opensBlock(const std::string& line) {
  return startsWith(line, "class") || startsWith(line, "def") || startsWith(line, "if");
}

/// `s0 = 8`
bool assignsNumber(std::string_view line) {
  const std::size_t equals = std::min(line.find('='), line.size());
  const std::string_view value = trimmed(line.substr(std::min(equals + 1, line.size())));
  return isPythonIdentifier(trimmed(line.substr(0, equals))) && !value.empty() &&
         std::string_view("0123456789-.").find(value[0]) != std::string_view::npos;
}

/// Names of the classes of nested graphs, as the lines that were read call them.
void collectNested(const GraphModule& module, std::set<std::string>& names) {
  for (const auto& [path, submodule] : module.submodules) {
    if (!submodule.graph) continue;
    names.insert(submodule.repr.substr(0, submodule.repr.find('(')));
    collectNested(*submodule.graph, names);
  }
}

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
  Sieve(const ReproEnvelope& envelope, const GraphModule& module) {
    m_out.envelope = envelope;
    collectNested(module, m_nested);
  }

  SievedLines run(const std::string& className) {
    ReproEnvelope& envelope = m_out.envelope;
    const bool hadLines = !envelope.headerLines.empty();
    envelope.headerLines = lines(envelope.headerLines, {});
    m_out.className = usableName(className);
    envelope.betweenLines = lines(envelope.betweenLines, emptyClass(m_out.className));
    if (hadLines && std::ranges::find(envelope.headerLines, "import torch") == envelope.headerLines.end())
      envelope.headerLines.insert(envelope.headerLines.begin(),
                                  {"import torch", "from torch import tensor, device", "from math import inf"});
    main(m_out.className);
    return std::move(m_out);
  }

 private:
  /// The class's name, where the lines above it do not give that another meaning.
  std::string usableName(const std::string& name) const {
    const std::string wanted = isPythonIdentifier(name) ? name : "Repro";
    return isAllowedBlock(joined(m_out.envelope.headerLines) + emptyClass(wanted)) ? wanted : "Repro";
  }

  /// Where a class that is printed anew ends, with the blank line behind it; `first` if it is no such class.
  std::size_t nestedEnd(const std::vector<std::string>& all, std::size_t first) const {
    if (!startsWith(all[first], "class")) return first;
    std::string_view name = trimmed(std::string_view(all[first]).substr(5));
    name = trimmed(name.substr(0, name.find_first_of("(:")));
    if (!m_nested.contains(std::string(name))) return first;
    std::size_t end = first + 1, last = end;
    for (; end < all.size() && (all[end].empty() || all[end][0] == ' '); ++end)
      if (!trimmed(all[end]).empty()) last = end + 1;
    return std::min(last + 1, end);
  }

  std::vector<std::string> lines(const std::vector<std::string>& all, const std::string& before) {
    std::vector<std::string> kept;
    const std::string text = joined(all);
    const auto source = scanSource(text, {});  // none where a string never ends: then every line is judged alone
    const auto isInside = [&](std::size_t line) {
      return source && line < source->lines.size() && (source->inString[line] != 0 || source->inBracket[line] != 0);
    };
    for (std::size_t first = 0; first < all.size();) {
      std::size_t end = isInside(first) ? first : nestedEnd(all, first);
      if (end != first) {
        first = end;
        continue;
      }
      end = first + 1;
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
    const bool isBehind = !before.empty();  // the model, where the writer has given the symbols their values
    const std::string text = joined(block);
    const bool isAllowed = !opensBlock(withoutKnownBlocks(text)) && !(isBehind && assignsNumber(text)) &&
                           isAllowedBlock(before + std::string(plainLine) + text) && !repeats(text);
    if (!isAllowed) drop(block);
    for (const std::string& line : block)
      kept.push_back(isAllowed ? line : std::string(leftOutMark) + pythonString(line));
  }

  /// Whether it gives a name another value than an earlier line did, which the auditor forbids.
  bool repeats(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals >= text.find('#')) return false;
    const std::string name(trimmed(std::string_view(text).substr(0, equals)));
    if (!isPythonIdentifier(name)) return false;
    const std::string_view value = trimmed(std::string_view(text).substr(0, text.find('#')).substr(equals + 1));
    const auto [known, isNew] = m_assigned.emplace(name, value);
    return !isNew && known->second != value;
  }

  void drop(const std::vector<std::string>& block) {
    m_out.leftOut.insert(m_out.leftOut.end(), block.begin(), block.end());
  }

  /// The part after load_args: kept whole or written anew, with the options that are plain values.
  void main(const std::string& className) {
    ReproEnvelope& envelope = m_out.envelope;
    const std::string before = emptyClass(className) + joined(envelope.betweenLines) +
                               "def load_args(reader):\n    pass\n" + std::string(plainLine);
    const bool definesMore = std::ranges::any_of(envelope.mainLines, [](const std::string& line) {
      return startsWith(line, "class") || startsWith(line, "def") || assignsNumber(line);
    });
    if (!definesMore && isAllowedBlock(before + joined(envelope.mainLines))) return;
    std::erase_if(envelope.runOptions, [](const auto& option) { return !isAllowedName(option.second); });
    const std::vector<std::string> usual = envelope.runner == "after_dynamo"
                                               ? defaultDynamoMainLines(envelope.runOptions)
                                               : defaultMainLines(className, envelope.runOptions);
    for (const std::string& line : envelope.mainLines)
      if (!trimmed(line).empty() && std::ranges::find(usual, line) == usual.end()) m_out.leftOut.push_back(line);
    envelope.mainLines.clear();
  }

  SievedLines m_out;
  std::set<std::string> m_nested;                 ///< classes of nested graphs
  std::map<std::string, std::string> m_assigned;  ///< names of module level and what they are
};

}  // namespace

SievedLines sieved(const ReproEnvelope& envelope, const GraphModule& module) {
  return Sieve(envelope, module).run(module.className);
}

}  // namespace kerf::inline capture
