#include "app/cli/python_package.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/cli/hints.h"
#include "app/cli/python_files.h"
#include "engine/process/program.h"
#include "engine/support/atomic_file.h"
#include "engine/support/hash_stream.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

fs::path cacheFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return fs::path(cache) / "kerf";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? fs::path(home) / ".cache/kerf"
                                         : fs::temp_directory_path() / fmt::format("kerf-{}", getuid());
}

template <class Use>
void forEachFile(Use use) {
  for (const auto& files : {pythonFiles(), pythonWorkerFiles()})
    for (const auto& file : files) use(file);
}

std::string hashOfFiles() {
  std::string all;
  forEachFile([&](const PythonFile& file) {
    for (const auto part : {file.path, std::string_view("\0", 1), file.text}) all += part;
  });
  return sha1Hex(std::as_bytes(std::span(all.data(), all.size())));
}

/// What Python runs is code: a folder of somebody else's is not used.
Result<void> makeOwnFolder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder.parent_path(), problem);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(ErrorCode::Environment, "cannot make {}: {}", folder.string(), std::strerror(errno));
  struct stat about{};
  if (lstat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != getuid() ||
      (about.st_mode & 022) != 0)
    return fail(ErrorCode::Environment, "{} is not a folder of this user alone", folder.string());
  return {};
}

}  // namespace

Result<fs::path> writePythonPackage() {
  const auto folder = cacheFolder() / fmt::format("python-{}", hashOfFiles().substr(0, 16));
  KERF_CHECK(makeOwnFolder(folder));
  Result<void> written;
  forEachFile([&](const PythonFile& file) {
    if (!written) return;
    std::error_code problem;
    fs::create_directories((folder / file.path).parent_path(), problem);  // the write says what is wrong
    written = writeTextFile(file.text, folder / file.path);
  });
  if (!written) return std::unexpected(written.error());
  return folder;
}

Result<int> becomePython(const std::string& python, const std::vector<std::string>& arguments) {
  const auto program = python.contains('/') ? fs::path(python) : findProgram(python);
  if (program.empty() || access(program.c_str(), X_OK) != 0)
    return fail(ErrorCode::Environment, Hint{Advice::NamePython}, "there is no Python {}", python);
  KERF_TRY(const auto package, writePythonPackage());
  std::vector<std::string> line{program.string(), (package / "kerf/__main__.py").string()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (auto& argument : line) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  return fail(ErrorCode::Environment, "cannot start {}: {}", program.string(), std::strerror(errno));
}

}  // namespace kerf::cli
