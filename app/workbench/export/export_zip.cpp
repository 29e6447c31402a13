// A repro as one zip. The archive is made beside its place and renamed, so nobody sees half of it.
#include <algorithm>
#include <vector>

#include "app/workbench/export/exporting.h"
#include "app/workbench/minify/issue.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/atomic_file.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/zip_writer.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> filesBelow(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

Result<void> writeZip(const fs::path& folder, const fs::path& target, std::stop_token stop) {
  KERF_TRY(auto file, AtomicFile::create(target));
  ZipWriter writer([&](std::span<const std::byte> bytes) -> Result<void> {
    if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped; {} was not written", target.string());
    return file.write(bytes);
  });
  for (const auto& path : filesBelow(folder)) {
    KERF_TRY(const auto bytes, mapFile(path));
    KERF_CHECK(writer.add(path.lexically_relative(folder).generic_string(), bytes->view()));
  }
  KERF_CHECK(writer.finish());
  return file.commit();
}

}  // namespace

Result<fs::path> exportZip(const GraphSource& source, const ExportTarget& target, const Job& job) {
  KERF_TRY(const auto folder, TemporaryFolder::create());
  ExportOptions options;
  options.stop = job.stop;
  KERF_TRY(const auto repro, exportRepro(source.capture, source.index, folder.path() / target.path.stem(), options));
  if (target.issue) {
    KERF_TRY(const auto bytes, mapFile(repro));
    const auto text = bytes->view();
    KERF_TRY(const auto issue, issueAround(*target.issue, {reinterpret_cast<const char*>(text.data()), text.size()}));
    KERF_CHECK(writeTextFile(issue, repro.parent_path() / "issue.md"));
  }
  KERF_CHECK(writeZip(folder.path(), target.path, job.stop));
  return target.path;
}

}  // namespace kerf::workbench
