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
  /// Starts it and waits for its greeting. Environment when it cannot start, or speaks another version.
  static Result<std::unique_ptr<WorkerProcess>> start(const std::filesystem::path& program, const std::string& store);
  /// Lets it end, and kills it if it does not at once.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Channel& channel() { return m_channel; }
  pid_t pid() const { return m_pid; }
  void signal(int number);
  /// Waits for its end; "SIGSEGV", "exit 3".
  std::string end();

 private:
  WorkerProcess(pid_t pid, int socket) : m_pid(pid), m_channel(socket) {}
  pid_t m_pid;
  bool m_ended = false;
  std::string m_how;
  Channel m_channel;
};

/// The kerf that offers workers: $KERF_CLI, else beside this program, else on PATH.
std::filesystem::path workerProgram();

}  // namespace kerf::workbench
