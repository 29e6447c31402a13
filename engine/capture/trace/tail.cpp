#include "engine/capture/trace/tail.h"

#include "engine/capture/common/json.h"
#include "engine/capture/trace/header.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::int64_t recordsPerTask = 256;

/// True if the payload is one JSON value from its first to its last byte: nothing of it can be missing.
bool isWholeJson(std::string_view raw) {
  const std::string text = withoutTabs(raw);
  return (text.starts_with('{') || text.starts_with('[')) && jsonValueLength(text) == text.size();
}

}  // namespace

bool matchesChecksum(std::string_view text, const RawRecord& record) {
  const std::string_view checksum = announcedChecksum(jsonOf(text, record));
  return checksum.empty() || payloadMatches(payloadOf(text, record), checksum);
}

std::vector<char> checkPayloads(std::string_view text, const std::vector<RawRecord>& records, std::size_t& checked) {
  std::vector<char> matches(records.size(), 1);
  checked = 0;
  for (std::int64_t bytes = 0; checked < records.size() && bytes < checkedBytes; ++checked)
    bytes += records[checked].payloadLength;
  parallelFor(std::int64_t(checked), recordsPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = std::size_t(begin); i < std::size_t(end); ++i) matches[i] = matchesChecksum(text, records[i]) ? 1 : 0;
  });
  if (checked < records.size()) matches.back() = matchesChecksum(text, records.back()) ? 1 : 0;
  return matches;
}

Tail judgeTail(std::string_view text, const RawRecord& last, bool matches) {
  const std::string_view json = jsonOf(text, last);
  const auto header = parseTraceHeader(json);
  if (last.payloadLine == 0) {
    if (!header) return last.ended ? Tail::Whole : Tail::Cut;  // malformed, but there is no more of it
    return header->announcesPayload ? Tail::Cut : Tail::Whole;
  }
  if (header && !header->announcesPayload) return Tail::Whole;  // lines that nobody announced may end anywhere
  if (header && !header->checksum.empty() && matches) return Tail::Whole;
  return last.ended || isWholeJson(payloadOf(text, last)) ? Tail::Tentative : Tail::Cut;
}

}  // namespace kerf::inline capture::trace
