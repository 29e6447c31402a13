// What goes between a worker process and whoever started it, beside the requests and answers themselves.
//
//   starter → worker    Request (WorkerCall), Cancel (nothing), Control (ControlMessage)
//   worker → starter    Hello (WorkerHello) once; for each request Event (JobEvent)…, then Answer or Failure (Error);
//                       Log whenever something is logged
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "engine/support/fields.h"

namespace kerf::workbench {

struct WorkerHello {
  std::string kerf;  ///< version of the worker's program

  KERF_FIELDS(kerf)
};

struct WorkerCall {
  std::string request;              ///< its name
  std::string body;                 ///< its encoded fields
  std::vector<int> logLevels = {};  ///< what the starter logs, by category; empty: as the worker began

  KERF_FIELDS(request, body, logLevels)
};

/// A cancelled request may go on for so long before its worker is interrupted, and again before it is killed; an
/// abandoned worker ends itself after as long.
inline constexpr std::chrono::milliseconds cancelPatience{2000};

/// Requests are small; a longer one is refused unread.
inline constexpr std::size_t largestCall = 16 << 20;

}  // namespace kerf::workbench
