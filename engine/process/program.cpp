#include "engine/process/program.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/process/guardian.h"

namespace kerf::inline process {

namespace {

using Clock = std::chrono::steady_clock;

/// Both ends of a pipe; closed with the object.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() { (void)!pipe2(ends.data(), O_CLOEXEC); }
  ~Pipe() {
    closeEnd(0);
    closeEnd(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void closeEnd(std::size_t end) {
    if (ends[end] >= 0) close(std::exchange(ends[end], -1));
  }
};

std::vector<char*> pointersTo(const std::vector<std::string>& command) {
  std::vector<char*> pointers;
  for (const auto& argument : command) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::unexpected<Error> cannotStart(const std::string& program, int code) {
  return fail(ErrorCode::Environment, "cannot start {}: {}", program, std::strerror(code));
}

Result<pid_t> spawn(const std::vector<std::string>& command, Pipe& in, Pipe& out, Pipe& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.ends[1], STDERR_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int code =
      posix_spawnp(&pid, command.front().c_str(), &actions, &attributes, pointersTo(command).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) return cannotStart(command.front(), code);
  guardGroup(pid);
  return pid;
}

/// Moves bytes until the child has closed its outputs. False when the deadline or a stop came first.
class Exchange {
 public:
  Exchange(Pipe& in, Pipe& out, Pipe& errors, const std::string& input, ProgramResult& result)
      : m_in(in), m_out(out), m_errors(errors), m_input(input), m_result(result) {
    fcntl(m_in.ends[1], F_SETFL, O_NONBLOCK);
    if (m_input.empty()) m_in.closeEnd(1);
  }

  bool run(Clock::time_point deadline, const std::stop_token& stop) {
    while (m_out.ends[0] >= 0 || m_errors.ends[0] >= 0) {
      if (Clock::now() > deadline || stop.stop_requested()) return false;
      std::array<pollfd, 3> files{
          {{m_out.ends[0], POLLIN, 0}, {m_errors.ends[0], POLLIN, 0}, {m_in.ends[1], POLLOUT, 0}}};
      poll(files.data(), files.size(), 50);
      if (files[0].revents != 0) readInto(m_out, m_result.output);
      if (files[1].revents != 0) readInto(m_errors, m_result.errors);
      if (files[2].revents != 0) writeSome();
    }
    return true;
  }

 private:
  static void readInto(Pipe& pipe, std::string& text) {
    std::array<char, 65536> buffer;
    const auto count = read(pipe.ends[0], buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), std::size_t(count));
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) pipe.closeEnd(0);
  }
  void writeSome() {
    const auto count = write(m_in.ends[1], m_input.data() + m_written, m_input.size() - m_written);
    if (count > 0) m_written += std::size_t(count);
    if (m_written == m_input.size() || (count < 0 && errno != EINTR && errno != EAGAIN)) m_in.closeEnd(1);
  }

  Pipe &m_in, &m_out, &m_errors;
  const std::string& m_input;
  std::size_t m_written = 0;
  ProgramResult& m_result;
};

int waitStatus(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<ProgramResult> runProgram(const std::vector<std::string>& command, const std::string& input,
                                 std::chrono::milliseconds timeout, std::stop_token stop) {
  std::signal(SIGPIPE, SIG_IGN);  // a child that stops reading is an error code here, not our end
  ProgramResult result;
  Pipe in, out, errors;
  KERF_TRY(const auto pid, spawn(command, in, out, errors));
  in.closeEnd(0);
  out.closeEnd(1);
  errors.closeEnd(1);
  const bool finished = Exchange(in, out, errors, input, result).run(Clock::now() + timeout, stop);
  if (!finished) kill(-pid, SIGKILL);
  result.status = waitStatus(pid);
  releaseGroup(pid);
  if (finished) return result;
  if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped while {} was running", command.front());
  return fail(ErrorCode::Environment, "{} took longer than {} ms and was ended", command.front(), timeout.count());
}

Result<void> startDetached(const std::vector<std::string>& command) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int code =
      posix_spawnp(&pid, command.front().c_str(), nullptr, &attributes, pointersTo(command).data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) return cannotStart(command.front(), code);
  return {};
}

std::filesystem::path findProgram(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable != nullptr ? variable : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto path = std::filesystem::path(folder) / name;
    if (!folder.empty() && access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

std::filesystem::path programFolder() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : self.parent_path();
}

}  // namespace kerf::inline process
