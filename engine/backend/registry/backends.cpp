#include "engine/backend/registry/backends.h"

#include <array>
#include <ranges>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/interp/interpreter_backend.h"
#include "engine/backend/llvm/llvm_backend.h"

namespace kerf::inline backend {

std::span<const Backend* const> backends() {
  static const std::array all = {&llvmBackend(), &interpreterBackend()};
  return all;
}

Result<const Backend*> findBackend(std::string_view name) {
  for (const Backend* backend : backends())
    if (backend->name() == name) return backend;
  if (name == cudaBackend().name()) return &cudaBackend();
  return fail(ErrorCode::BadUsage, "unknown backend \"{}\"; there is {}, {}", name,
              fmt::join(backends() | std::views::transform(&Backend::name), ", "), cudaBackend().name());
}

}  // namespace kerf::inline backend
