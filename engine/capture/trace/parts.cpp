// scanTrace: a large log is cut at header lines into parts that are scanned side by side.
#include <algorithm>

#include "engine/capture/trace/scanner.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t partBytes = 4 << 20;
constexpr std::size_t partsAtOnce = 8;

/// Offset of the first header line that starts at or behind `at`; the text's size if there is none. Such a line starts
/// a record whatever stands before it.
std::size_t headerFrom(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    at = end + 1;
    if (at >= text.size() || text[at] == '\t') continue;
    const std::string_view line = text.substr(at, std::min(text.find('\n', at), text.size()) - at);
    if (traceJsonOffset(line) != std::string_view::npos) return at;
  }
  return text.size();
}

std::vector<std::string_view> partsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.size() - at <= partBytes ? text.size() : headerFrom(text, at + partBytes);
    parts.push_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

struct Part {
  Result<std::vector<RawRecord>> records;
  ScanReport report;
};

/// Puts the results of parts one behind the other.
class Joiner {
 public:
  Joiner(int firstLine, const ImportLimits& limits, ScanReport& report)
      : m_line(firstLine), m_limits(limits), m_report(report) {}

  Result<void> add(Part& part, std::size_t bytes) {
    if (!part.records) {
      Error error = std::move(part.records).error();
      error.line += m_line;
      return fail(std::move(error));
    }
    for (RawRecord& record : *part.records) {
      record.begin += m_offset;
      record.json += m_offset;
      record.line += m_line;
      if (record.payloadLine > 0) {
        record.payload += m_offset;
        record.payloadLine += m_line;
      }
      m_records.push_back(record);
    }
    if (std::int64_t(m_records.size()) > recordLimit(m_limits)) return tooManyRecords(m_line);
    addReport(part.report);
    m_offset += std::int64_t(bytes);
    m_line += part.report.lines;
    return {};
  }

  std::vector<RawRecord> take() { return std::move(m_records); }

 private:
  void addReport(const ScanReport& report) {
    if (m_report.noiseLines == 0 && report.noiseLines > 0) m_report.firstNoise = report.firstNoise + m_line;
    if (m_report.orphanLines == 0 && report.orphanLines > 0) m_report.firstOrphan = report.firstOrphan + m_line;
    m_report.noiseLines += report.noiseLines;
    m_report.orphanLines += report.orphanLines;
    m_report.lines += report.lines;
    m_report.endsInHalfLine = report.endsInHalfLine;
  }

  std::vector<RawRecord> m_records;
  std::int64_t m_offset = 0;
  int m_line;
  const ImportLimits& m_limits;
  ScanReport& m_report;
};

}  // namespace

Result<std::vector<RawRecord>> scanTrace(std::string_view text, int firstLine, const ImportLimits& limits,
                                         const ImportProgress& progress, ScanReport& report) {
  const std::vector<std::string_view> parts = partsOf(text);
  Joiner joiner(firstLine, limits, report);
  for (std::size_t begin = 0; begin < parts.size(); begin += partsAtOnce) {
    std::vector<Part> done(std::min(partsAtOnce, parts.size() - begin));
    parallelFor(std::int64_t(done.size()), 1, [&](std::int64_t first, std::int64_t end) {
      for (auto i = std::size_t(first); i < std::size_t(end); ++i)
        done[i].records = scanPart(parts[begin + i], 0, limits, done[i].report);
    });
    for (std::size_t i = 0; i < done.size(); ++i) KERF_CHECK(joiner.add(done[i], parts[begin + i].size()));
    if (progress && !progress(double(begin + done.size()) / double(parts.size())))
      return fail(ErrorCode::Cancelled, "import cancelled");
  }
  return joiner.take();
}

}  // namespace kerf::inline capture::trace
