#include "engine/capture/trace/torch_trace.h"

#include <algorithm>

#include "engine/capture/common/log_bytes.h"
#include "engine/capture/trace/files.h"
#include "engine/capture/trace/index.h"
#include "engine/capture/trace/tail.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture {
namespace {

using namespace trace;

constexpr double scanShare = 0.3, checkShare = 0.5;  ///< of one log's progress, when each step is done

std::unexpected<Error> failAt(ErrorCode code, const std::filesystem::path& path, int line, std::string message) {
  return fail(Error{code, std::move(message), path.string(), line, {}, {}});
}

/// Progress of log `number` of `count`, scaled to the whole import.
ImportProgress part(const ImportProgress& progress, std::size_t number, std::size_t count) {
  if (!progress) return {};
  return [&progress, number, count](double fraction) { return progress((double(number) + fraction) / double(count)); };
}

class LogImport {
 public:
  LogImport(const std::filesystem::path& path, const ImportLimits& limits, const ImportProgress& progress,
            TraceIndex& index)
      : m_path(path), m_limits(limits), m_progress(progress), m_index(index) {}

  Result<void> run() {
    KERF_TRY(m_bytes, openLog(m_path, m_limits));
    m_log = m_index.addLog(m_path, m_bytes->compressed ? m_bytes : nullptr);
    const ImportProgress scanning = [this](double fraction) { return !m_progress || m_progress(fraction * scanShare); };
    ScanReport report;
    auto records = scanTrace(m_bytes->text, 1, m_limits, scanning, report);
    if (!records) return fail(std::move(records.error().atFile(m_path.string(), records.error().line)));
    KERF_CHECK(step(scanShare));
    std::size_t checked = 0;
    std::vector<char> matches = checkPayloads(m_bytes->text, *records, checked);
    if (checked < records->size())
      m_index.note(m_log,
                   fmt::format("the log is large: checksums were compared up to line {}", (*records)[checked].line));
    KERF_CHECK(step(checkShare));
    const int lastLine = records->empty() ? 0 : records->back().line;
    const std::size_t whole = records->size();
    const bool tentative = trimTail(*records, matches, report);
    if (records->size() < whole || report.endsInHalfLine || m_bytes->cut) m_index.noteCut(m_log, lastLine);
    const ImportProgress indexing = [this](double fraction) {
      return !m_progress || m_progress(checkShare + fraction * (1 - checkShare));
    };
    auto added = m_index.add(m_log, m_bytes->text, 0, *records, matches, tentative, indexing);
    if (!added) return fail(std::move(added.error().atFile(m_path.string())));
    if (m_bytes->mapped) KERF_CHECK(checkWhole(*m_bytes->mapped, m_path));
    m_index.note(m_log, report);
    if (m_bytes->cut) m_index.note(m_log, "the compressed data end early or are damaged; what came before is here");
    return step(1.0);
  }

 private:
  Result<void> step(double fraction) const {
    if (!m_progress || m_progress(fraction)) return {};
    return failAt(ErrorCode::Cancelled, m_path, 0, "import cancelled");
  }

  /// Drops a last record that is cut. Whether the one that is last then is in doubt.
  bool trimTail(std::vector<RawRecord>& records, std::vector<char>& matches, const ScanReport& report) {
    if (report.endsInHalfLine) m_index.note(m_log, "the log ends within a line; what is whole is here");
    if (records.empty()) return false;
    const Tail tail = judgeTail(m_bytes->text, records.back(), matches.back() != 0);
    if (tail == Tail::Cut) {
      m_index.note(m_log, fmt::format("the log ends within the record at line {}, which is left out: PyTorch may still "
                                      "be writing it, and an import that follows the log reads on",
                                      records.back().line));
      records.pop_back();
      matches.pop_back();
    }
    return tail == Tail::Tentative;
  }

  const std::filesystem::path& m_path;
  const ImportLimits& m_limits;
  const ImportProgress& m_progress;
  TraceIndex& m_index;
  std::shared_ptr<const LogBytes> m_bytes;
  std::size_t m_log = 0;
};

}  // namespace

bool looksLikeTorchTrace(std::string_view head) { return isTraceHead(head); }

bool isTorchTraceDirectory(const std::filesystem::path& directory) {
  const auto logs = traceFiles(directory, 1);
  return logs && !logs->empty();
}

Result<Capture> importTorchTrace(const std::filesystem::path& path, const ImportLimits& limits,
                                 const ImportProgress& progress) {
  std::vector<std::filesystem::path> logs{path};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    KERF_TRY(logs, traceFiles(path, maxTraceFiles));
  }
  if (logs.empty()) return failAt(ErrorCode::BadInput, path, 0, "the folder holds no TORCH_TRACE log");
  TraceIndex index(path, limits);
  for (std::size_t i = 0; i < logs.size(); ++i)
    KERF_CHECK(LogImport(logs[i], limits, part(progress, i, logs.size()), index).run());
  index.update(true);
  if (index.recordCount() == 0) {
    const auto& notes = index.capture().notes;
    return failAt(ErrorCode::BadInput, logs.front(), 1,
                  "no whole TORCH_TRACE record is in the log" + (notes.empty() ? std::string() : ": " + notes.front()));
  }
  return std::move(index.capture());
}

}  // namespace kerf::inline capture
