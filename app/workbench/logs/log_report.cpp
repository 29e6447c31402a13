// perform(LogReportRequest): writes the pages, the payloads, the timeline and the records of a trace into a folder.
#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "app/workbench/logs/log_audit.h"
#include "app/workbench/logs/log_pages.h"
#include "app/workbench/logs/log_tables.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view marker = "records.jsonl";  ///< a folder with it is an earlier report

/// Files of one report. Errors are Environment, naming the file.
class ReportFolder {
 public:
  explicit ReportFolder(fs::path folder) : m_folder(std::move(folder)) {}

  /// Makes the folder; what an earlier report had in it goes.
  Result<void> prepare() {
    std::error_code problem;
    fs::create_directories(m_folder, problem);
    if (problem) return cannotWrite(m_folder, problem.message());
    if (!fs::is_empty(m_folder, problem) && !fs::exists(m_folder / marker, problem))
      return fail(Error{ErrorCode::BadUsage, "the folder holds something else; name an empty one", m_folder.string()});
    for (const char* part : {"compiles", "records"}) {
      fs::remove_all(m_folder / part, problem);
      fs::create_directories(m_folder / part, problem);
      if (problem) return cannotWrite(m_folder / part, problem.message());
    }
    for (std::size_t i = 0; fs::remove(m_folder / recordListName(i), problem); i += recordsOnPage) {
    }
    return {};
  }

  Result<void> write(const std::string& name, std::string_view text) {
    return stream(name, [&](std::ostream& out) { out.write(text.data(), std::streamsize(text.size())); });
  }

  template <class Write>
  Result<void> stream(const std::string& name, Write fill) {
    std::ofstream out(m_folder / name, std::ios::binary | std::ios::trunc);
    if (out) fill(out);
    out.flush();
    if (!out) return cannotWrite(m_folder / name, "the disk is full, or the folder is not to be written");
    ++m_files;
    m_bytes += std::int64_t(out.tellp());
    return {};
  }

  LogReport report() const { return {(m_folder / "index.html").string(), m_files, m_bytes, {}}; }

 private:
  static std::unexpected<Error> cannotWrite(const fs::path& path, const std::string& why) {
    return fail(Error{ErrorCode::Environment, fmt::format("cannot write: {}", why), path.string()});
  }

  fs::path m_folder;
  std::int64_t m_files = 0, m_bytes = 0;
};

class ReportWriter {
 public:
  ReportWriter(const LogView& view, fs::path folder, const Job& job)
      : m_view(view), m_pages(view), m_folder(std::move(folder)), m_job(job) {}

  Result<LogReport> run() {
    KERF_CHECK(m_folder.prepare());
    KERF_CHECK(m_folder.stream(std::string(marker), [&](std::ostream& out) { writeRecordLines(m_pages, out); }));
    KERF_CHECK(writePayloads());
    KERF_CHECK(writeCompiles());
    const std::size_t records = m_view.details.records.size();
    for (std::size_t first = 0; first < std::max<std::size_t>(records, 1); first += recordsOnPage)
      KERF_CHECK(m_folder.write(recordListName(first),
                                recordListPage(m_pages, first, std::min(records, first + recordsOnPage))));
    KERF_CHECK(m_folder.stream("timeline.json", [&](std::ostream& out) { writeTimeline(m_view, out); }));
    KERF_CHECK(m_folder.stream("estimates.json", [&](std::ostream& out) { writeEstimates(m_view, out); }));
    KERF_TRY(const std::string audit, audited());
    KERF_CHECK(m_folder.write("index.html", indexPage(m_pages, m_tables, m_doc, audit)));
    LogReport report = m_folder.report();
    report.notes = m_doc.notes;
    return report;
  }

 private:
  Result<void> step(const std::string& what, std::size_t done, std::size_t all) const {
    if (done % 64 != 0 || m_job.progress(what, double(done) / double(all))) return {};
    return fail(ErrorCode::Cancelled, "the report was cancelled");
  }

  /// One payload at a time. What cannot be read is said on its page.
  Result<void> writePayloads() {
    const auto& records = m_view.details.records;
    for (std::size_t i = 0; i < records.size(); ++i) {
      KERF_CHECK(step("writing records", i, records.size()));
      const std::string page = m_pages.recordPage(i);
      if (page.empty()) continue;
      const auto text = records[i].text();
      if (!text) m_doc.notes.push_back(fmt::format("r{}: {}", i + 1, text.error().message));
      const std::string shown = text ? *text : "(" + text.error().message + ")";
      KERF_CHECK(m_folder.write(page, m_pages.isCode(i) ? codePage(m_pages, i, shown) : shown));
    }
    return {};
  }

  Result<void> writeCompiles() {
    const std::size_t compiles = m_view.log.compiles.size();
    for (std::size_t i = 0; i < compiles; ++i) {
      KERF_CHECK(step("writing compile ids", i, compiles));
      KERF_CHECK(m_folder.write(m_pages.compilePage(i),
                                compilePage(m_pages, m_tables, i, compileRemarks(m_view.log.compiles[i]))));
    }
    return {};
  }

  /// Large graphs are not run for a report, and the programs of many ranks are not all read.
  Result<std::string> audited() const {
    auto programs = auditedPrograms(m_doc.path, m_view.source.capture, {2e7, std::size_t(16) << 20}, m_job);
    if (programs) return auditHtml(*programs);
    if (programs.error().code == ErrorCode::Cancelled) return fail(std::move(programs).error());
    return std::string();
  }

  const LogView& m_view;
  LogPages m_pages;
  LogTables m_tables = logTables(m_view);
  CompileLogDoc m_doc = compileLogDoc(m_view);
  ReportFolder m_folder;
  const Job& m_job;
};

}  // namespace

Result<LogReport> perform(Workbench& bench, const LogReportRequest& request, const Job& job) {
  KERF_TRY(const auto source, openCapture(bench, request.capture, job));
  if (!isTrace(source->capture))
    return fail(ErrorCode::BadUsage, "{} is not a trace: a report needs a TORCH_TRACE log, or a folder of them",
                request.capture);
  KERF_TRY(const CompileLog log, compileLogOf(*source, job));
  const CaptureDetails& details = *source->capture.details;
  const LogView view{*source, details, log, rankTable(log, details)};
  return ReportWriter(view, request.directory, job).run();
}

}  // namespace kerf::workbench
