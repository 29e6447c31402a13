#include "storage/stores/capture_files.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/stat.h>

#include "engine/tensor/atomic_file.h"
#include "engine/tensor/mapped_file.h"
#include "storage/stores/blobs.h"

namespace kerf::inline storage::inline stores {

namespace {

namespace fs = std::filesystem;

struct FileRow {
  std::string name, source;
  std::int64_t size = 0, modified = 0;
  std::string blob;  ///< empty: stayed where it was
};

struct FileState {
  std::int64_t size = 0, modified = 0;  ///< bytes; nanoseconds since the epoch
};

/// A file's name becomes a path, so a damaged or hostile store must not choose where files go.
Result<fs::path> relativeName(const std::string& name) {
  const fs::path path = fs::path(name).lexically_normal();
  const bool inside = !path.empty() && path.is_relative() && *path.begin() != ".." && *path.begin() != "." &&
                      path.has_filename() && name.find('\0') == std::string::npos;
  if (inside && name.size() <= 4096) return path;
  return fail(ErrorCode::BadInput, "the store names a file \"{}\", which is no path inside a capture", name);
}

Result<FileState> stateOf(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return fail(Error{ErrorCode::BadInput, "no regular file", path.string(), 0, {}, {}});
    return FileState{status.st_size, std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
  }
  const bool missing = errno == ENOENT || errno == ENOTDIR;
  Error error{missing ? ErrorCode::NotFound : ErrorCode::Environment, std::strerror(errno), path.string(), 0, {}, {}};
  return fail(std::move(error));
}

Result<void> addFile(Database& database, std::int64_t captureId, std::int64_t position, const NewFile& file) {
  KERF_CHECK(relativeName(file.name));
  KERF_TRY(const auto state, stateOf(file.source));
  std::string blobHash;
  if (file.copy) {
    KERF_TRY(const auto bytes, mapFile(file.source));
    KERF_TRY(blobHash, putBlob(database, bytes->view(), BlobForm::Compressed));
  }
  const std::string source = file.source.string();
  const SqlValue blobValue = file.copy ? SqlValue(std::string_view(blobHash)) : SqlValue();
  return database.execute(
      "INSERT INTO capture_files(capture, position, name, source, size, modified, blob) VALUES (?, ?, ?, ?, ?, ?, ?)",
      {captureId, position, std::string_view(file.name), std::string_view(source), state.size, state.modified,
       blobValue});
}

Error changed(const FileRow& row, ErrorCode code, std::string what) {
  return {code,
          fmt::format("{}; it was too large to be copied into the store, so put it back or import it again", what),
          row.source,
          0,
          {},
          {}};
}

/// Puts a link to a file that stayed where it was, provided that it is still the same.
Result<void> linkFile(const FileRow& row, const fs::path& target) {
  const auto state = stateOf(row.source);
  if (!state) return fail(changed(row, state.error().code, "the file is gone: " + state.error().message));
  if (state->size != row.size || state->modified != row.modified)
    return fail(changed(row, ErrorCode::BadInput, "the file has changed since it was imported"));
  std::error_code problem;
  fs::create_symlink(row.source, target, problem);
  if (!problem) return {};
  return fail(ErrorCode::Environment, "cannot link {}: {}", target.string(), problem.message());
}

Result<void> writeFile(Database& database, const FileRow& row, const fs::path& directory) {
  KERF_TRY(const auto name, relativeName(row.name));
  const auto target = directory / name;
  KERF_CHECK(createFolder(target.parent_path()));
  if (row.blob.empty()) return linkFile(row, target);
  KERF_TRY(const auto bytes, blob(database, row.blob));
  const std::array pieces{std::span<const std::byte>(bytes->view())};
  return writeFileAtomically(target, pieces);
}

FileRow fileRow(const SqlRow& row) {
  return {row.text(0), row.text(1), row.integer(2), row.integer(3), row.isNull(4) ? std::string() : row.text(4)};
}

}  // namespace

Result<void> addFiles(Database& database, std::int64_t captureId, const std::vector<NewFile>& files,
                      const StoreProgress& progress) {
  std::int64_t position = 0;
  for (const auto& file : files) {
    if (progress && !progress(double(position) / double(files.size())))
      return fail(ErrorCode::Cancelled, "stopped while storing {}; nothing of it was stored", file.source.string());
    KERF_CHECK(addFile(database, captureId, position++, file));
  }
  return {};
}

Result<fs::path> materializeFiles(Database& database, std::int64_t captureId, const fs::path& directory) {
  KERF_TRY(const auto rows, (queryAll<FileRow>(database,
                                               "SELECT name, source, size, modified, blob FROM capture_files "
                                               "WHERE capture = ? ORDER BY position",
                                               {captureId}, fileRow)));
  if (rows.empty()) return fail(ErrorCode::NotFound, "the store keeps no files of capture c{}", captureId);
  for (const auto& row : rows) KERF_CHECK(writeFile(database, row, directory));
  KERF_TRY(const auto first, relativeName(rows.front().name));
  return directory / *first.begin();
}

}  // namespace kerf::inline storage::inline stores
