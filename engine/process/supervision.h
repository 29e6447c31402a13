// What a supervisor does: starts its command, watches it, and ends what is there when that is over.
#pragma once

#include "engine/process/supervisor.h"

namespace kerf::inline process {

/// The files of a supervisor, by number, once it has closed all others.
enum SupervisorFile : int { outputFile = 1, errorsFile = 2, controlFile = 3 };

/// Most processes that are counted where the number is only told.
inline constexpr std::size_t mostCounted = 1000;

/// Only what is read as a file reaches this process, and SIGKILL: it ends when its work is done.
void holdSignals();

/// A fork bomb must not keep its supervisor from running; only root may ask for so much. The command itself
/// runs as nice as this process was.
void goFirst();

/// Lets go of what the command writes into: its ends must be the only ones.
void dropOutputs();

/// Runs the command until it has ended, is over a limit, or an order comes through the control socket. This process is
/// the first of a PID namespace, which takes along what is left, or a subreaper, which has ended it on return.
SupervisorReport watchOver(const SupervisedCommand& command);

/// Ends all that descends from this process, a subreaper. Gives up after some seconds, when something cannot be killed.
void endDescendants();

}  // namespace kerf::inline process
