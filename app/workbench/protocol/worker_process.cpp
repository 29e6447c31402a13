#include "app/workbench/protocol/worker_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/workbench/protocol/worker_messages.h"
#include "engine/process/argument_pointers.h"
#include "engine/process/codec.h"
#include "engine/process/program.h"
#include "engine/process/wait.h"

namespace kerf::workbench {

namespace {

constexpr int workerFile = 3;  ///< number of the socket in the worker
constexpr std::chrono::seconds greetingTime{30};
/// An idle worker takes a few milliseconds to end; one that is at work is not waited for.
constexpr std::chrono::milliseconds farewellTime{150};

/// No terminal: input and output are nothing, signals are at their defaults, and Ctrl-C reaches only the starter.
Result<pid_t> spawn(const std::filesystem::path& program, const std::vector<std::string>& arguments, int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO})
    posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, socket, workerFile);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int code = posix_spawn(&pid, program.c_str(), &actions, &attributes, pointersTo(arguments).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code == 0) return pid;
  return fail(ErrorCode::Environment, "cannot start {}: {}", program.string(), std::strerror(code));
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::launch(const std::filesystem::path& program,
                                                             const std::string& store) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(ErrorCode::Environment, "cannot make a socket for a worker: {}", std::strerror(errno));
  std::vector<std::string> arguments{program.string(), "worker", "--fd", std::to_string(workerFile)};
  if (!store.empty()) arguments.insert(arguments.end(), {"--store", store});
  const auto pid = spawn(program, arguments, ends[1]);
  ::close(ends[1]);
  if (pid) return std::unique_ptr<WorkerProcess>(new WorkerProcess(program.string(), *pid, ends[0]));
  ::close(ends[0]);
  return fail(pid.error());
}

Result<void> WorkerProcess::greet() {
  auto frame = m_channel.receive(greetingTime);
  if (frame && *frame && (*frame)->kind == FrameKind::Hello) return {};
  const auto why = frame ? "it said nothing" : frame.error().message;
  return fail(ErrorCode::Environment, "{} does not work as a worker: {}", m_program, why);
}

Error WorkerProcess::withEnd(Error error) {
  if (endsWithin(m_pid, farewellTime)) error.message += fmt::format(" ({})", end());
  return error;
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::filesystem::path& program,
                                                            const std::string& store) {
  KERF_TRY(auto worker, launch(program, store));
  if (auto greeted = worker->greet(); !greeted) return fail(worker->withEnd(greeted.error()));
  return worker;
}

/// A worker that ends by itself reaps the processes that it started: one that is killed leaves them to init.
WorkerProcess::~WorkerProcess() {
  m_channel.close();
  if (!m_ended && !endsWithin(m_pid, farewellTime)) signal(SIGKILL);
  (void)end();
}

void WorkerProcess::signal(int number) {
  if (!m_ended) ::kill(m_pid, number);
}

/// The file stays the channel's own: it may be in use on another thread.
void WorkerProcess::hangUp() { ::shutdown(m_channel.file(), SHUT_RDWR); }

std::string WorkerProcess::end() {
  if (m_ended) return m_how;
  const int status = waitForEnd(m_pid);
  m_ended = true;
  m_how = WIFEXITED(status) ? fmt::format("exit {}", WEXITSTATUS(status)) : nameOfSignal(WTERMSIG(status));
  return m_how;
}

std::filesystem::path workerProgram() {
  if (const char* named = std::getenv("KERF_CLI"); named != nullptr && *named != '\0') return named;
  const auto beside = programFolder() / "kerf";
  if (::access(beside.c_str(), X_OK) == 0) return beside;
  const auto found = findProgram("kerf");
  return found.empty() ? beside : found;
}

}  // namespace kerf::workbench
