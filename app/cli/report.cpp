// kerf report CAPTURE: everything that a trace tells, as pages for a browser.
#include "app/cli/commands.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

Json reportJson(const std::string& capture, const LogReport& report) {
  return {{"capture", capture},
          {"report", report.path},
          {"files", report.files},
          {"bytes", report.bytes},
          {"notes", report.notes}};
}

Result<int> runReport(Context& context, const LogReportRequest& request) {
  KERF_TRY(const auto report, context.perform(request));
  if (context.json) {
    printJson(reportJson(request.capture, report));
    return 0;
  }
  fmt::print("{}  {}, {:.1f} MB\n", report.path, counted(report.files, "file"), double(report.bytes) / 1e6);
  for (const auto& note : report.notes) fmt::print("note: {}\n", note);
  return 0;
}

}  // namespace

void addReport(CommandLine& line) {
  auto& command =
      line.add("report", "Write HTML pages about the compilations in a trace",
               "  kerf report trace.log -o report\n"
               "  kerf report logs/ -o report          # a folder of ranks: with the table ranks x compile ids\n"
               "  kerf report c3 -o report --json");
  auto request = std::make_shared<LogReportRequest>();
  command
      .add_option("CAPTURE", request->capture,
                  "A TORCH_TRACE log, a folder with one log per rank, or a capture of the store")
      ->required();
  request->directory = "kerf-report";
  command
      .add_option("-o,--output", request->directory,
                  "Folder of index.html, its pages, timeline.json for Perfetto, and records.jsonl")
      ->type_name("DIR")
      ->capture_default_str();
  line.onRun(command, [request](Context& context) { return runReport(context, *request); });
}

}  // namespace kerf::cli
