#include "engine/capture/text/partial_notes.h"

#include <algorithm>
#include <span>

namespace kerf::inline capture {
namespace {

constexpr std::size_t mostNames = 8;
constexpr std::size_t mostStatements = 3;

std::string listed(const std::vector<std::string>& names) {
  const std::span shown(names.data(), std::min(names.size(), mostNames));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > shown.size()) text += fmt::format(" and {} more", names.size() - shown.size());
  return text;
}

/// The line at which the text ends is told once.
bool isCutLine(const PartialReading& partial, const PartialReading::Skipped& skipped) {
  return partial.endLine > 0 && skipped.line == partial.endLine;
}

std::string whyCut(const PartialReading& partial) {
  const auto found = std::ranges::find_if(
      partial.skipped, [&](const PartialReading::Skipped& skipped) { return isCutLine(partial, skipped); });
  return found == partial.skipped.end() ? std::string() : "; that line is left out: " + found->message;
}

}  // namespace

std::vector<std::string> partialNotes(const std::string& graph, const PartialReading& partial) {
  std::vector<std::string> notes;
  if (partial.endLine > 0)
    notes.push_back(fmt::format("{}: cut at line {}, before it returns anything: what nothing uses is returned: {}{}",
                                graph, partial.endLine, listed(partial.outputs), whyCut(partial)));
  if (!partial.inputs.empty())
    notes.push_back(fmt::format("{}: the text does not define {}: {}", graph, listed(partial.inputs),
                                partial.inputs.size() == 1 ? "it is an input" : "they are inputs"));
  for (std::size_t i = 0; i < std::min(partial.skipped.size(), mostStatements); ++i)
    if (!isCutLine(partial, partial.skipped[i]))
      notes.push_back(
          fmt::format("{}: line {} is left out: {}", graph, partial.skipped[i].line, partial.skipped[i].message));
  for (std::size_t i = 0; i < std::min(partial.shortened.size(), mostStatements); ++i)
    notes.push_back(fmt::format("{}: line {} is shortened with '...': what stood behind it is missing", graph,
                                partial.shortened[i]));
  if (partial.shortened.size() > mostStatements)
    notes.push_back(fmt::format("{}: {} more lines are shortened", graph, partial.shortened.size() - mostStatements));
  for (const int line : partial.behindReturn)
    notes.push_back(fmt::format("{}: what stands behind its return, from line {} on, is left out", graph, line));
  if (partial.skipped.size() > mostStatements)
    notes.push_back(fmt::format("{}: {} more lines are left out", graph, partial.skipped.size() - mostStatements));
  return notes;
}

}  // namespace kerf::inline capture
