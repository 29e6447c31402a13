#include "app/cli/interrupts.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "engine/process/temporary_folder.h"

namespace kerf::cli {

namespace {

constexpr int exitInterrupted = 3;

struct State {
  std::stop_source source;
  std::atomic<bool> cooperative = false;
  std::array<int, 2> pipe{-1, -1};
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
  removeTemporaryFolders();
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
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

std::stop_token interruptToken() {
  state().cooperative = true;
  return state().source.get_token();
}

}  // namespace kerf::cli
