#include "engine/capture/trace/graph_print.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/capture/trace/log_text.h"
#include "engine/support/hash.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::int64_t longestGraph = 16 << 20;
constexpr std::size_t addressDigits = 7;  ///< numbers this long are addresses and ids, not sizes

/// By what ranks are compared, best first.
constexpr std::array<std::string_view, 3> compared{"dynamo_output_graph", "aot_joint_graph", "aot_inference_graph"};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string printOf(const CaptureRecord& record) {
  const auto text = record.text(longestGraph);
  if (!text) return {};
  std::string plain;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view line = firstLineOf(rest);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!trimmedText(line).starts_with('#')) plain += withoutRankNumbers(line) + "\n";
  }
  return hashText(plain).hex().substr(0, 12);
}

std::string guardsPrint(const CompileStory& story) {
  std::set<std::string> codes;
  for (const LoggedGuard& guard : story.guards) codes.insert(withoutRankNumbers(guard.code));
  std::string all;
  for (const std::string& code : codes) all += code + "\n";
  return all.empty() ? std::string() : hashText(all).hex().substr(0, 12);
}

const CaptureRecord* comparedRecord(const CompileStory& story, const CaptureDetails& details) {
  for (const std::string_view kind : compared)
    for (const LoggedCode& code : story.codes)
      if (details.records[code.record].kind == kind) return &details.records[code.record];
  return nullptr;
}

}  // namespace

std::string withoutRankNumbers(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    if (!isDigit(text[at])) {
      plain += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && isDigit(text[end])) ++end;
    const bool device = plain.ends_with("cuda:") || plain.ends_with("type='cuda', index=");
    if (device || end - at >= addressDigits)
      plain += '#';
    else
      plain += text.substr(at, end - at);
    at = end;
  }
  return plain;
}

void printGraphs(CompileLog& log, const CaptureDetails& details) {
  std::set<int> ranks;
  for (const CompileEntry& entry : details.compiles) ranks.insert(entry.rank);
  if (ranks.size() < 2) return;
  for (CompileStory& story : log.compiles) {
    if (const CaptureRecord* record = comparedRecord(story, details)) story.graphPrint = printOf(*record);
    story.guardPrint = guardsPrint(story);
  }
}

}  // namespace kerf::inline capture::trace
