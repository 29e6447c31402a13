#include "engine/process/clean_environment.h"

#include <algorithm>
#include <array>

#include <unistd.h>

namespace kerf::inline process {

namespace {

/// A star at the end stands for any rest.
constexpr std::array<std::string_view, 31> allowlist{"PATH",
                                                     "HOME",
                                                     "USER",
                                                     "LOGNAME",
                                                     "SHELL",
                                                     "LANG",
                                                     "LANGUAGE",
                                                     "LC_*",
                                                     "TZ",
                                                     "TERM",
                                                     "TMPDIR",
                                                     "LD_LIBRARY_PATH",
                                                     "PYTHONPATH",
                                                     "PYTHONHOME",
                                                     "VIRTUAL_ENV",
                                                     "CONDA_PREFIX",
                                                     "CONDA_DEFAULT_ENV",
                                                     "CUDA_HOME",
                                                     "CUDA_PATH",
                                                     "CUDA_VISIBLE_DEVICES",
                                                     "HIP_VISIBLE_DEVICES",
                                                     "ROCM_PATH",
                                                     "OMP_NUM_THREADS",
                                                     "MKL_NUM_THREADS",
                                                     "CC",
                                                     "CXX",
                                                     "XDG_CACHE_HOME",
                                                     "TORCH_*",
                                                     "TORCHINDUCTOR_*",
                                                     "TORCHDYNAMO_*",
                                                     "TRITON_*"};

bool matches(std::string_view name, std::string_view pattern) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

}  // namespace

bool isHarmlessVariable(std::string_view name) {
  return std::ranges::any_of(allowlist, [&](std::string_view pattern) { return matches(name, pattern); });
}

std::vector<std::string> wholeEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

std::vector<std::string> cleanEnvironment(const std::vector<std::string>& kept) {
  auto variables = wholeEnvironment();
  std::erase_if(variables, [&](std::string_view text) {
    const auto name = text.substr(0, text.find('='));
    return !isHarmlessVariable(name) && std::ranges::find(kept, name) == kept.end();
  });
  return variables;
}

}  // namespace kerf::inline process
