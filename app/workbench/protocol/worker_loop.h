// answerCalls(): the worker's side of the conversation with whoever started it, whatever the calls are.
#pragma once

#include <functional>
#include <string>

#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/worker_messages.h"
#include "engine/support/result.h"

namespace kerf::workbench {

/// The encoded answer to a call. The job's events go to the starter; it stops when the starter cancels.
using CallAnswerer = std::function<Result<std::string>(const WorkerCall& call, const Job& job)>;

/// One call after the other until the other end closes; then 0. Takes the file descriptor over. `version` greets the
/// starter. When the starter is gone while a call does not come to an end, the process ends itself.
int answerCalls(int file, const std::string& version, const CallAnswerer& answer);

}  // namespace kerf::workbench
