#include "app/workbench/export/exporting.h"
#include "app/workbench/minify/issue.h"
#include "engine/capture/repro/export_text.h"
#include "engine/support/atomic_file.h"

namespace kerf::workbench {

Result<std::filesystem::path> exportIssue(const GraphSource& source, const ExportTarget& target, const Job&) {
  if (!target.issue)
    return fail(ErrorCode::BadUsage,
                "{} is not a minified failure; an issue is about a reduction (m3) or its repro (p4)", source.text);
  ExportOptions options;
  if (!target.issue->fault.empty()) options.accuracy = "False";  // PyTorch has no such fault
  KERF_TRY(const auto repro, exportText(source.capture, source.index, options));
  KERF_TRY(const auto text, issueAround(*target.issue, repro));
  KERF_CHECK(writeTextFile(text, target.path));
  return target.path;
}

}  // namespace kerf::workbench
