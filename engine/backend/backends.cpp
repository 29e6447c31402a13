// The table of backends: a new one is a folder here and a line in it.
#include <algorithm>
#include <array>
#include <ranges>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/interp/interpreter_backend.h"
#include "engine/backend/llvm/llvm_backend.h"

namespace kerf::inline backend {

std::string_view KernelInfo::text(std::string_view format) const {
  const auto found = std::ranges::find(texts, format, &KernelText::format);
  return found == texts.end() ? std::string_view() : found->text;
}

std::string GuardViolation::text() const {
  std::string text = fmt::format("the guard {} does not hold for ", guard);
  const char* separator = "";
  for (const auto& [name, value] : symbols) {
    text += fmt::format("{}{} = {}", separator, name, value);
    separator = ", ";
  }
  if (!reason.empty()) text += fmt::format(" ({})", reason);
  return where.empty() ? text : fmt::format("{} at {}", text, where);
}

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
