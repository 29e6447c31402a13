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

#include "engine/process/argument_pointers.h"
#include "engine/process/guarded_start.h"
#include "engine/process/guardian.h"
#include "engine/process/owned_file.h"
#include "engine/process/wait.h"

namespace kerf::inline process {

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  OwnedFile reads, writes;
};

Result<Pipe> makePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::Environment, "cannot make a pipe for a program: {}", std::strerror(errno));
  return Pipe{OwnedFile(ends[0]), OwnedFile(ends[1])};
}

enum class ExchangeEnd { Finished, Late, Stopped, TooMuch };

/// Moves bytes until the child has closed its outputs, or has no more time, or must not go on.
class Exchange {
 public:
  Exchange(OwnedFile in, OwnedFile out, OwnedFile errors, const std::string& input, ProgramResult& result)
      : m_in(std::move(in)), m_out(std::move(out)), m_errors(std::move(errors)), m_input(input), m_result(result) {
    ::fcntl(m_in.number(), F_SETFL, O_NONBLOCK);
    if (m_input.empty()) m_in.close();
  }

  ExchangeEnd run(Clock::time_point deadline, std::size_t mostBytes, const std::stop_token& stop) {
    while (m_out.isOpen() || m_errors.isOpen()) {
      if (stop.stop_requested()) return ExchangeEnd::Stopped;
      if (Clock::now() > deadline) return ExchangeEnd::Late;
      if (m_result.output.size() + m_result.errors.size() > mostBytes) return ExchangeEnd::TooMuch;
      std::array<pollfd, 3> files{
          {{m_out.number(), POLLIN, 0}, {m_errors.number(), POLLIN, 0}, {m_in.number(), POLLOUT, 0}}};
      ::poll(files.data(), files.size(), 50);
      if (files[0].revents != 0) readInto(m_out, m_result.output);
      if (files[1].revents != 0) readInto(m_errors, m_result.errors);
      if (files[2].revents != 0) writeSome();
    }
    return ExchangeEnd::Finished;
  }

 private:
  static void readInto(OwnedFile& pipe, std::string& text) {
    std::array<char, 65536> buffer;
    const auto count = ::read(pipe.number(), buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), std::size_t(count));
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) pipe.close();
  }
  void writeSome() {
    const auto count = ::write(m_in.number(), m_input.data() + m_written, m_input.size() - m_written);
    if (count > 0) m_written += std::size_t(count);
    if (m_written == m_input.size() || (count < 0 && errno != EINTR && errno != EAGAIN)) m_in.close();
  }

  OwnedFile m_in, m_out, m_errors;
  const std::string& m_input;
  std::size_t m_written = 0;
  ProgramResult& m_result;
};

}  // namespace

Result<ProgramResult> runProgram(const std::vector<std::string>& command, const std::string& input,
                                 std::chrono::milliseconds timeout, std::stop_token stop, std::size_t mostBytes) {
  std::signal(SIGPIPE, SIG_IGN);  // a child that stops reading is an error code here, not our end
  ProgramResult result;
  KERF_TRY(auto in, makePipe());
  KERF_TRY(auto out, makePipe());
  KERF_TRY(auto errors, makePipe());
  KERF_TRY(const auto pid, startGuarded(command, {in.reads.number(), out.writes.number(), errors.writes.number()}));
  in.reads.close();
  out.writes.close();
  errors.writes.close();
  Exchange exchange(std::move(in.writes), std::move(out.reads), std::move(errors.reads), input, result);
  const auto end = exchange.run(Clock::now() + timeout, mostBytes, stop);
  if (end != ExchangeEnd::Finished) ::kill(-pid, SIGKILL);
  const int status = waitForEnd(pid);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  releaseGroup(pid);
  const auto& name = command.front();
  if (end == ExchangeEnd::Stopped) return fail(ErrorCode::Cancelled, "stopped while {} was running", name);
  if (end == ExchangeEnd::TooMuch)
    return fail(ErrorCode::Environment, "{} printed more than {} bytes and was ended", name, mostBytes);
  if (end == ExchangeEnd::Late)
    return fail(ErrorCode::Environment, "{} took longer than {} ms and was ended", name, timeout.count());
  return result;
}

Result<void> startDetached(const std::vector<std::string>& command) {
  sigset_t usual;
  sigfillset(&usual);
  for (const int fixed : {SIGKILL, SIGSTOP}) sigdelset(&usual, fixed);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, short(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF));
  pid_t pid = 0;
  const int code =
      posix_spawnp(&pid, command.front().c_str(), nullptr, &attributes, pointersTo(command).data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (code == 0) return {};
  return fail(ErrorCode::Environment, "cannot start {}: {}", command.front(), std::strerror(code));
}

std::filesystem::path findProgram(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable != nullptr ? variable : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto path = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (!folder.empty() && ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path, ignored))
      return path;
  }
  return {};
}

std::filesystem::path programFolder() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : self.parent_path();
}

}  // namespace kerf::inline process
