#include "app/workbench/logs/log_pages.h"

#include <algorithm>
#include <ostream>

#include <nlohmann/json.hpp>

#include "engine/capture/common/json.h"

namespace kerf::workbench {

namespace {

constexpr std::int64_t longestEvent = 16 << 20;

const std::map<std::int64_t, std::string>& filesOf(const LogView& view, const CaptureRecord& record) {
  static const std::map<std::int64_t, std::string> none;
  const auto found = view.details.internedFiles.find(record.origin.file);
  return found == view.details.internedFiles.end() ? none : found->second;
}

/// The event with the rank as its process.
std::string ofRank(std::string_view event, int rank) {
  std::string text = fmt::format("{{\"pid\": {}", rank);
  JsonWalker members(event);
  while (members.nextMember())
    if (!jsonKeyIs(members.key(), "pid")) text += fmt::format(", {}: {}", members.key(), members.value());
  return text + "}";
}

class TimelineWriter {
 public:
  TimelineWriter(const LogView& view, std::ostream& out) : m_ranked(!view.ranks.ranks.empty()), m_out(out) {
    m_out << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
    for (const int rank : view.ranks.ranks)
      write(fmt::format(
          "{{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": {0}, \"args\": {{\"name\": \"Rank {0}\"}}}}", rank));
  }
  void take(std::string_view payload, int rank) {
    const std::size_t first = payload.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || !nlohmann::json::accept(payload)) return;
    if (payload[first] != '[') return add(payload, rank);
    JsonWalker events(payload);
    while (events.nextElement()) add(events.value(), rank);
  }
  void write(std::string_view event) {
    m_out << (m_first ? "\n" : ",\n");
    m_first = false;
    for (const char c : event)
      if (c != '\n' && c != '\r') m_out << c;
  }
  void end() { m_out << "\n]}\n"; }

 private:
  void add(std::string_view event, int rank) {
    if (const std::size_t first = event.find_first_not_of(" \t\r\n");
        first == std::string_view::npos || event[first] != '{')
      return;
    if (m_ranked && rank >= 0)
      write(ofRank(event, rank));
    else
      write(event);
  }

  bool m_ranked, m_first = true;
  std::ostream& m_out;
};

}  // namespace

std::string withFileNames(std::string_view json, const std::map<std::int64_t, std::string>& files) {
  constexpr std::string_view key = "\"filename\"";
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] != '"') {
      out += json[at++];
      continue;
    }
    const std::size_t length = jsonValueLength(json.substr(at));
    if (length == 0 || length == jsonTooDeep) return std::string(json);
    const std::string_view text = json.substr(at, length);
    out += text;
    at += length;
    if (text != key) continue;
    while (at < json.size() && (json[at] == ' ' || json[at] == ':')) out += json[at++];
    std::size_t end = at;
    while (end < json.size() && json[end] >= '0' && json[end] <= '9') ++end;
    const auto number = jsonInteger(json.substr(at, end - at));
    const auto known = number ? files.find(*number) : files.end();
    if (known == files.end()) continue;
    out += quotedJson(known->second);
    at = end;
  }
  return out;
}

void writeRecordLines(const LogPages& pages, std::ostream& out) {
  const auto& records = pages.view().details.records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const CaptureRecord& record = records[i];
    const std::string page = pages.recordPage(i);
    const std::string header = withFileNames(record.metadata, filesOf(pages.view(), record));
    out << fmt::format(
        "{{\"record\": \"r{}\", \"log\": {}, \"line\": {}, \"compile_id\": {}, \"direction\": {}, \"payload\": {}, "
        "\"header\": {}}}\n",
        i + 1, quotedJson(record.origin.file.filename().string()), record.origin.line,
        quotedJson(record.origin.compileId), quotedJson(pages.view().log.directions[i]),
        page.empty() ? "null" : quotedJson(page), nlohmann::json::accept(header) ? header : quotedJson(header));
  }
}

void writeEstimates(const LogView& view, std::ostream& out) {
  TimelineWriter writer(view, out);
  int thread = 0;
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i)
    for (const RuntimeEstimate& estimate : view.log.compiles[i].estimates) {
      const int process = std::max(view.details.compiles[i].rank, 0);
      writer.write(fmt::format(R"({{"name": "thread_name", "ph": "M", "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
                               process, ++thread, quotedJson(view.details.compiles[i].id)));
      double begin = 0;
      for (const auto& [name, time] : estimate.ops) {
        writer.write(fmt::format(
            R"({{"name": {}, "ph": "X", "cat": "estimate", "ts": {:.3f}, "dur": {:.3f}, "pid": {}, "tid": {}}})",
            quotedJson(name), begin / 1e3, time / 1e3, process, thread));
        begin += time;
      }
    }
  writer.end();
}

void writeTimeline(const LogView& view, std::ostream& out) {
  TimelineWriter writer(view, out);
  for (const CaptureRecord& record : view.details.records)
    if (record.kind == "chromium_event")
      if (const auto payload = record.text(longestEvent)) writer.take(*payload, record.origin.rank);
  writer.end();
}

}  // namespace kerf::workbench
