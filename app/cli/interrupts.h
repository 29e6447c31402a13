// Interrupts: Ctrl-C and SIGTERM become a stop token; a second one ends the process at once. Private folders are
// removed either way.
#pragma once

#include <filesystem>
#include <stop_token>

#include "engine/support/result.h"

namespace kerf::cli {

/// Installs the handlers; called once by main(). Without it the token never stops.
void installInterruptHandlers();
/// Token that stops at the first signal. Until someone has asked for it, a signal ends the process at once (exit 3).
std::stop_token interruptToken();

/// A private folder below the system's temporary folder; removed with the object, or when a signal ends the process.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return m_path; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : m_path(std::move(path)) {}
  void remove();
  std::filesystem::path m_path;
};

}  // namespace kerf::cli
