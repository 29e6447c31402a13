// runProgram(): a Python program from its text to its end, in a child process that can touch nothing but its memory.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/process/isolation.h"
#include "engine/support/embedded_file.h"

namespace kerf::inline python {

/// An extension module of Kerf's own.
struct BuiltinModule {
  std::string name;           ///< "torch._C"
  void* (*make)() = nullptr;  ///< a new module as PyObject*; null with an exception set
};

/// What programs find besides the standard library.
struct ProgramEnvironment {
  std::vector<BuiltinModule> modules;
  std::string package;  ///< "torch": the package that `files` make
  std::span<const EmbeddedFile> files;
  /// Run in the child before the filter is set: imports and whatever needs files. May be null.
  std::function<Result<void>()> prepare;
  /// Run in the child when the program is over, however it ended. May be null.
  std::function<void()> finish;
};

struct ProgramLimits {
  std::chrono::milliseconds timeout{60'000};
  std::int64_t memoryBytes = 8LL << 30;
  std::int64_t outputBytes = 16LL << 20;
};

struct ProgramRequest {
  std::string text;
  std::string name;  ///< shown in tracebacks: "bug.py"
  std::string
      prologue;  ///< Python run before the program, in a namespace of its own: "import torch; torch.manual_seed(0)"
  /// "module:function" that makes a code object of (text, name) in place of compile(); empty: compile().
  std::string compiler;
  std::string
      driver;  ///< Python run after the program, in its namespace; what it binds to `answer` travels. May be empty
  bool driverAlways = false;  ///< the driver runs after a program that failed, too
  ProgramLimits limits;
};

struct ProgramAnswer {
  std::string output;     ///< what it printed
  std::string errors;     ///< what it wrote to standard error: warnings, the traceback that ended it
  int exitStatus = 0;     ///< as Python's own: 1 after an exception, sys.exit's number
  std::string exception;  ///< "ValueError: no", of the exception that ended it; empty where none did
  int line = 0;           ///< of the program, where it was raised
  bool isOutputCut = false;
  std::string answer;  ///< what the driver bound, as the bytes of the environment's `encode`

  KERF_FIELDS(output, errors, exitStatus, exception, line, isOutputCut, answer)
};

/// Turns what the driver bound to `answer` into bytes, in the child.
using EncodeAnswer = std::function<Result<std::string>(void* object)>;

/// The program's own failure is an answer. RuntimeFailed when it crashed, was out of time or of memory (with what it had
/// printed in the trail); Environment where this kerf or this machine cannot confine it.
Result<ProgramAnswer> runProgram(const ProgramRequest& request, const ProgramEnvironment& environment,
                                 const EncodeAnswer& encode = {}, std::stop_token stop = {});

}  // namespace kerf::inline python
