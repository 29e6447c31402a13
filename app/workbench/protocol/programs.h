// Programs: Python scripts that run on Kerf's engine, in the sandbox.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/workbench/protocol/job.h"

namespace kerf::workbench {

/// How a program ended, and what it printed.
struct ProgramDoc {
  std::string path;
  std::string output, errors;  ///< standard output; standard error with the traceback that ended it
  int exitStatus = 0;
  std::string exception;  ///< "ValueError: no"; empty where none ended it
  std::int64_t line = 0;  ///< of the program, where the exception was raised
  bool isOutputCut = false;
  std::string
      captured;  ///< JSON: frames, graphs, breaks, recompiles of what torch.compile made; empty where it was not asked
  std::chrono::nanoseconds time{};

  KERF_FIELDS(path, output, errors, exitStatus, exception, line, isOutputCut, captured, time)
};

struct CaptureProgramRequest {
  using Answer = ProgramDoc;
  static constexpr std::string_view name = "capture_program";
  std::string path;
  std::chrono::milliseconds timeout{60'000};
  std::int64_t memoryBytes = 8LL << 30;
  /// In place of what the program gives torch.compile; empty: as the program says.
  std::string backend;
  std::string dynamic;  ///< "true", "false", or "auto": sizes become symbols when they differ
  bool fullgraph = false;

  KERF_FIELDS(path, timeout, memoryBytes, backend, dynamic, fullgraph)
};

}  // namespace kerf::workbench
