#include "storage/stores/capture_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/stat.h>

#include "engine/tensor/file_pieces.h"
#include "storage/stores/blobs.h"

namespace kerf::inline storage::inline stores {

namespace {

namespace fs = std::filesystem;

struct FileRow {
  std::string name, source;
  std::int64_t size = 0, modified = 0;
  std::string blob;  ///< empty: stayed where it was
  std::string hash;  ///< of a file that stayed where it was; empty: an older Kerf took none
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
  return fail(ErrorCode::BadInput, "the store names a file \"{}\", which is not a path inside a capture", name);
}

Result<FileState> stateOf(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return fail(Error{ErrorCode::BadInput, "no regular file", path.string(), 0, {}, {}});
    return FileState{status.st_size, std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
  }
  const bool missing = errno == ENOENT || errno == ENOTDIR;
  Error error{missing ? ErrorCode::NotFound : ErrorCode::Environment, std::strerror(errno), path.string(), 0, {}, {}};
  return fail(std::move(error));
}

Result<void> addFile(Database& database, std::int64_t captureId, std::int64_t position, const NewFile& file,
                     const std::function<bool(std::int64_t)>& goOn) {
  KERF_CHECK(relativeName(file.name));
  KERF_TRY(const auto state, stateOf(file.source));
  auto hash = file.hash;
  if (!hash) {
    KERF_TRY(const auto sum, sumOfFile({file.source}));
    hash = sum.hash;
  }
  if (file.copy) KERF_CHECK(putFile(database, {file.source}, *hash, goOn));
  const std::string source = file.source.string(), name = hash->hex();
  const SqlValue blobValue = file.copy ? SqlValue(std::string_view(name)) : SqlValue();
  return database.execute(
      "INSERT INTO capture_files(capture, position, name, source, size, modified, blob, hash) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      {captureId, position, std::string_view(file.name), std::string_view(source), state.size, state.modified,
       blobValue, std::string_view(name)});
}

Error changed(const FileRow& row, ErrorCode code, std::string what) {
  return Error(code, fmt::format("{}; the store only links to it, so put it back or import it again", what), row.source)
      .advise(Advice::CopyFiles);
}

/// The hash of a file that stayed where it was, provided that it is still the same, byte by byte.
Result<Hash128> checkLinked(const FileRow& row) {
  const auto state = stateOf(row.source);
  if (!state) return fail(changed(row, state.error().code, "the file is gone: " + state.error().message));
  const auto differs = [&] {
    return fail(changed(row, ErrorCode::BadInput, "the file has changed since it was imported"));
  };
  if (state->size != row.size || (row.hash.empty() && state->modified != row.modified)) return differs();
  KERF_TRY(const auto sum, sumOfFile({row.source}));
  if (!row.hash.empty() && sum.hash.hex() != row.hash) return differs();
  return sum.hash;
}

/// Puts a link to a file that stayed where it was, provided that it is still the same.
Result<void> linkFile(const FileRow& row, const fs::path& target) {
  KERF_CHECK(checkLinked(row));
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
  return writeBlob(database, row.blob, target);
}

FileRow fileRow(const SqlRow& row) {
  return {row.text(0), row.text(1), row.integer(2), row.integer(3), row.isNull(4) ? std::string() : row.text(4),
          row.text(5)};
}

constexpr std::string_view fileColumns = "SELECT name, source, size, modified, blob, hash FROM capture_files ";

/// Progress over the bytes of all files.
class FilesProgress {
 public:
  FilesProgress(const std::vector<NewFile>& files, const StoreProgress& progress) : m_progress(progress) {
    std::error_code ignored;
    for (const auto& file : files) m_total += double(std::max<std::uintmax_t>(1, sizeOf(file.source, ignored)));
  }
  bool at(std::int64_t bytes) const { return !m_progress || m_progress((m_before + double(bytes)) / m_total); }
  void finish(const NewFile& file) {
    std::error_code ignored;
    m_before = std::min(m_total, m_before + double(std::max<std::uintmax_t>(1, sizeOf(file.source, ignored))));
  }

 private:
  static std::uintmax_t sizeOf(const fs::path& path, std::error_code& problem) {
    const auto size = fs::file_size(path, problem);
    return problem ? 0 : size;
  }
  const StoreProgress& m_progress;
  double m_total = 1, m_before = 0;
};

}  // namespace

Result<void> addFiles(Database& database, std::int64_t captureId, const std::vector<NewFile>& files,
                      const StoreProgress& progress) {
  std::int64_t position = 0;
  FilesProgress done(files, progress);
  for (const auto& file : files) {
    if (!done.at(0))
      return fail(ErrorCode::Cancelled, "stopped while storing {}; nothing of it was stored", file.source.string());
    KERF_CHECK(addFile(database, captureId, position++, file, [&](std::int64_t bytes) { return done.at(bytes); }));
    done.finish(file);
  }
  return {};
}

Result<void> healFiles(Database& database, const std::vector<NewFile>& files) {
  for (const auto& file : files) {
    if (!file.copy) continue;
    auto hash = file.hash;
    if (!hash) {
      KERF_TRY(const auto sum, sumOfFile({file.source}));
      hash = sum.hash;
    }
    KERF_CHECK(putFile(database, {file.source}, *hash));
  }
  return {};
}

Result<std::vector<LinkedFile>> linkedFiles(Database& database) {
  return queryAll<LinkedFile>(
      database, "SELECT capture, name, source, size FROM capture_files WHERE blob IS NULL ORDER BY capture, position",
      {}, [](const SqlRow& row) { return LinkedFile{row.integer(0), row.text(1), row.text(2), row.integer(3)}; });
}

Result<Hash128> checkLinkedFile(Database& database, const LinkedFile& file) {
  KERF_TRY(const auto row,
           (queryOne<FileRow>(database, fmt::format("{} WHERE capture = ? AND name = ?", fileColumns),
                              {file.capture, std::string_view(file.name)}, fileRow, "the store lost a file's row")));
  return checkLinked(row);
}

Result<fs::path> materializeFiles(Database& database, std::int64_t captureId, const fs::path& directory) {
  KERF_TRY(const auto rows,
           (queryAll<FileRow>(database, fmt::format("{} WHERE capture = ? ORDER BY position", fileColumns), {captureId},
                              fileRow)));
  if (rows.empty()) return fail(ErrorCode::NotFound, "the store keeps no files of capture c{}", captureId);
  for (const auto& row : rows) KERF_CHECK(writeFile(database, row, directory));
  KERF_TRY(const auto first, relativeName(rows.front().name));
  return directory / *first.begin();
}

}  // namespace kerf::inline storage::inline stores
