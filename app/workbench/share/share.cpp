#include "app/workbench/share/share.h"

#include "app/workbench/share/page_text.h"
#include "engine/support/atomic_file.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/zip_writer.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

Result<std::string> zipped(const StagedFiles& staged) {
  std::string archive;
  ZipWriter writer([&](std::span<const std::byte> bytes) -> Result<void> {
    archive.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  });
  for (const auto& name : staged.names) {
    KERF_TRY(const auto bytes, mapFile(staged.folder.path() / name));
    KERF_CHECK(writer.addPacked(name, bytes->view()));
  }
  KERF_CHECK(writer.finish());
  return archive;
}

/// "trace.log" of a path, "c3" of an id: folders say where somebody works.
std::string titleOf(const std::string& what) {
  const auto name = fs::path(what).lexically_normal().filename().string();
  return "Kerf: " + (name.empty() ? fs::path(what).lexically_normal().parent_path().filename().string() : name);
}

}  // namespace

Result<Shared> share(Workbench& bench, const ShareRequest& request, const Job& job) {
  KERF_TRY(auto staged, stageFiles(bench, request, job));
  KERF_TRY(const auto archive, zipped(staged));
  KERF_TRY(auto page, pageText(staged, titleOf(request.what), archive, job));
  KERF_CHECK(writeTextFile(page.html, request.place));
  Shared shared{request.place,  std::ssize(page.html), std::ssize(staged.names), page.captures, page.graphs,
                staged.removed, staged.notes};
  shared.notes.insert(shared.notes.end(), page.notes.begin(), page.notes.end());
  return shared;
}

}  // namespace kerf::workbench
