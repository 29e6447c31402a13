#include "engine/support/atomic_files.h"

#include <ranges>
#include <span>
#include <utility>

namespace kerf::inline support {

namespace fs = std::filesystem;

Result<AtomicFiles> AtomicFiles::in(const fs::path& folder) {
  fs::path whole = folder.lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // "out/" names the folder "out"
  std::error_code error;
  if (!whole.empty() && fs::exists(whole, error) && !fs::is_directory(whole, error))
    return fail(ErrorCode::BadUsage, "{} is a file: several files go to a folder", folder.string());
  AtomicFiles files(whole);
  std::vector<fs::path> absent;
  for (fs::path above = whole; !above.empty() && !fs::exists(above, error); above = above.parent_path())
    absent.push_back(above);
  for (const fs::path& one : absent | std::views::reverse) {
    if (!fs::create_directory(one, error) && error)
      return fail(
          Error{ErrorCode::Environment, fmt::format("cannot make the folder: {}", error.message()), one.string()});
    files.m_made.push_back(one);
  }
  return files;
}

AtomicFiles::~AtomicFiles() {
  m_files.clear();
  std::error_code ignored;  // a folder in which others have put something stays
  for (const fs::path& folder : m_made | std::views::reverse) fs::remove(folder, ignored);
}

Result<AtomicFile*> AtomicFiles::add(std::string_view name) {
  const fs::path path = m_folder / name;
  KERF_TRY(AtomicFile file, AtomicFile::create(path));
  std::error_code ignored;
  if (!fs::exists(path, ignored)) m_fresh.push_back(path);
  m_files.push_back(std::move(file));
  return &m_files.back();
}

Result<void> AtomicFiles::addText(std::string_view name, std::string_view text) {
  KERF_TRY(AtomicFile* const file, add(name));
  return file->write(std::as_bytes(std::span(text)));
}

Result<void> AtomicFiles::commit() {
  for (AtomicFile& file : m_files) KERF_CHECK(file.flush());
  for (AtomicFile& file : m_files) {
    Result<void> named = file.commit();
    if (named) continue;
    std::error_code ignored;
    for (const fs::path& path : m_fresh) fs::remove(path, ignored);
    return named;
  }
  m_files.clear();
  m_made.clear();
  return {};
}

}  // namespace kerf::inline support
