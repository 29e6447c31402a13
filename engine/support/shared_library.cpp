#include "engine/support/shared_library.h"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace kerf::inline support {

Result<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle);
  return fail(ErrorCode::Environment, "{} is not on this machine", names.empty() ? "a library" : names.front());
}

void* SharedLibrary::address(const char* symbol) const { return ::dlsym(m_handle, symbol); }

std::vector<std::string> cudaLibraryNames(const std::string& name, const std::vector<int>& versions) {
  std::vector<std::string> files;
  for (const int version : versions) files.push_back(fmt::format("{}.so.{}", name, version));
  files.push_back(name + ".so");
  std::vector<std::string> result = files;
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable)) roots.emplace_back(root);
  roots.emplace_back("/usr/local/cuda");
  for (const std::string& root : roots)
    for (const std::string& file : files) result.push_back(fmt::format("{}/lib64/{}", root, file));
  return result;
}

}  // namespace kerf::inline support
