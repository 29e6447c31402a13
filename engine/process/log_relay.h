// LogRelay: what a child process logs appears in its parent's log, wherever that goes.
#pragma once

#include "engine/process/channel.h"
#include "engine/support/log_sinks.h"

namespace kerf::inline process {

/// In the child: sends every message of this process while it lives. The channel must outlive it.
class LogRelay {
 public:
  explicit LogRelay(Channel& channel);

 private:
  LogListener m_listener;
};

/// In the parent: logs the message of a FrameKind::Log. What is no message is left out: it comes from a process whose
/// memory may have gone wrong.
void relayLog(const Frame& frame);

/// The lowest level that goes anywhere, by category: what a parent tells its workers.
std::vector<int> wantedLogLevels();
/// What a worker was told; levels and categories that do not exist are left out.
void applyLogLevels(const std::vector<int>& levels);

}  // namespace kerf::inline process
