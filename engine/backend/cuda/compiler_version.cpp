#include "engine/backend/cuda/compiler_version.h"

#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/stat.h>

#include "engine/codegen_cuda/nvrtc.h"

namespace kerf::inline backend {
namespace {

/// What changes with a file's content; "" of no file.
std::string stampOf(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {} {}.{}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

/// Whatever says which library is opened.
Hash128 searchKey() {
  std::string text = "nvrtc 1\n" + stampOf("/etc/ld.so.cache");
  for (const char* variable : {"LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(variable);
    text += fmt::format("\n{}={}", variable, value != nullptr ? value : "");
  }
  return hashText(text);
}

}  // namespace

std::optional<std::string> rememberedCompiler(const ObjectCache& cache) {
  auto entry = cache.find(searchKey());
  if (!entry || entry->texts.size() != 3) return {};
  const std::string &version = entry->texts[0], &path = entry->texts[1], &stamp = entry->texts[2];
  if (stamp.empty() || stampOf(path) != stamp) return {};
  return version;
}

Result<std::string> openedCompiler(const ObjectCache& cache) {
  KERF_TRY(std::string version, nvrtcVersion());
  KERF_TRY(const std::string path, nvrtcPath());
  if (std::string stamp = stampOf(path); !stamp.empty())
    cache.store(searchKey(), {"", {version, path, std::move(stamp)}});
  return version;
}

}  // namespace kerf::inline backend
