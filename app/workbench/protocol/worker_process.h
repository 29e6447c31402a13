// WorkerProcess: a `kerf worker` that was started here, and the socket to it.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include <sys/types.h>

#include "engine/process/channel.h"

namespace kerf::workbench {

class WorkerProcess {
 public:
  /// Starts it. Environment when it cannot start.
  static Result<std::unique_ptr<WorkerProcess>> launch(const std::filesystem::path& program, const std::string& store);
  /// Waits for the greeting of one that was launched. Environment when it does not come, or is another version's.
  Result<void> greet();
  /// The error with how the worker ended, where it did.
  Error withEnd(Error error);
  /// Both at once.
  static Result<std::unique_ptr<WorkerProcess>> start(const std::filesystem::path& program, const std::string& store);
  /// Lets it end, and kills it if it does not at once.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Channel& channel() { return m_channel; }
  pid_t pid() const { return m_pid; }
  void signal(int number);
  /// From any thread: both ends hear that the other one is gone.
  void hangUp();
  /// Waits for its end; "SIGSEGV", "exit 3".
  std::string end();

 private:
  WorkerProcess(std::string program, pid_t pid, int socket)
      : m_program(std::move(program)), m_pid(pid), m_channel(socket) {}
  std::string m_program;
  pid_t m_pid;
  bool m_ended = false;
  std::string m_how;
  Channel m_channel;
};

/// The kerf that offers workers: $KERF_CLI, else beside this program, else on PATH.
std::filesystem::path workerProgram();

}  // namespace kerf::workbench
