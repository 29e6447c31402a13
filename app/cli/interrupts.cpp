#include "app/cli/interrupts.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace kerf::cli {

namespace {

constexpr int exitInterrupted = 3;

struct State {
  std::stop_source source;
  std::atomic<bool> cooperative = false;
  std::array<int, 2> pipe{-1, -1};
  std::mutex mutex;
  std::set<std::filesystem::path> folders;
};

/// Never destroyed: the watcher thread outlives main().
State& state() {
  static State* const instance = new State;
  return *instance;
}

/// Only async-signal-safe calls here: the signal's number goes to the watcher through a pipe.
void onSignal(int number) {
  const int saved = errno;
  const auto byte = char(number);
  (void)!write(state().pipe[1], &byte, 1);
  errno = saved;
}

[[noreturn]] void endNow() {
  {
    const std::scoped_lock lock(state().mutex);
    std::error_code ignored;
    for (const auto& folder : state().folders) std::filesystem::remove_all(folder, ignored);
  }
  constexpr std::string_view message = "\nkerf: stopped\n";
  (void)!write(STDERR_FILENO, message.data(), message.size());
  _exit(exitInterrupted);
}

void watch() {
  char byte = 0;
  bool asked = false;
  while (true) {
    const auto count = read(state().pipe[0], &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    if (asked || !state().cooperative) endNow();
    asked = true;
    state().source.request_stop();
  }
}

}  // namespace

void installInterruptHandlers() {
  if (state().pipe[0] >= 0 || pipe2(state().pipe.data(), O_CLOEXEC) != 0) return;
  std::thread(watch).detach();
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

std::stop_token interruptToken() {
  state().cooperative = true;
  return state().source.get_token();
}

Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code error;
  const auto base = std::filesystem::temp_directory_path(error);
  std::string pattern = (error ? std::filesystem::path("/tmp") : base) / "kerf-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    return fail(ErrorCode::Environment, "cannot create a temporary folder {}: {}", pattern, std::strerror(errno));
  const std::scoped_lock lock(state().mutex);
  state().folders.insert(pattern);
  return TemporaryFolder(std::filesystem::path(pattern));
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  remove();
  m_path = std::exchange(other.m_path, {});
  return *this;
}

TemporaryFolder::~TemporaryFolder() { remove(); }

void TemporaryFolder::remove() {
  if (m_path.empty()) return;
  const std::scoped_lock lock(state().mutex);
  std::error_code ignored;
  std::filesystem::remove_all(m_path, ignored);
  state().folders.erase(m_path);
}

}  // namespace kerf::cli
