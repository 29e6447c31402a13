// SharedLibrary: a library that a machine may or may not have, opened while the program runs.
#pragma once

#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline support {

/// It stays open until the process ends.
class SharedLibrary {
 public:
  /// The first of these names or paths that opens. Environment listing them when none does.
  static Result<SharedLibrary> open(const std::vector<std::string>& names);

  /// Sets `function` to the symbol; false when the library does not have it.
  template <class Function>
  bool find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(address(symbol));
    return function != nullptr;
  }

 private:
  explicit SharedLibrary(void* handle) : m_handle(handle) {}
  void* address(const char* symbol) const;
  void* m_handle;
};

/// Where CUDA's libraries may lie: the loader's paths, then CUDA_HOME and CUDA_PATH, then /usr/local/cuda. `versions`
/// are tried newest first: "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so".
std::vector<std::string> cudaLibraryNames(const std::string& name, const std::vector<int>& versions);

}  // namespace kerf::inline support
