// LogSteps: the calls of a DebugMode log, as JSON or as text, made into the steps of a recording.
#pragma once

#include <string>
#include <vector>

#include "engine/align/printed_values.h"
#include "engine/align/run_recording.h"

namespace kerf::inline align {

/// One entry of the log, as both of its forms tell it.
struct LogCall {
  enum class Kind { Op, Kernel, Marker, Other };
  Kind kind = Kind::Other;
  int depth = 0;
  std::string name;    ///< of the op, the kernel, or what a marker says
  std::string header;  ///< of a marker: "nn.Mod"
  std::string arguments, output;
  HashLeaves inputHashes, outputHashes;                                       ///< of an op
  std::vector<std::pair<std::string, HashLeaves>> kernelBefore, kernelAfter;  ///< of a kernel, by argument
  std::string source;
};

/// Takes calls in the order of the log.
class LogSteps {
 public:
  void add(LogCall call);
  /// The recording. Calls by which DebugMode itself computed hashes of kernels' arguments are left out.
  RunRecording finish();

 private:
  struct Module {
    int depth = 0;
    std::string name;
  };
  void addOp(LogCall& call);
  void addKernel(LogCall& call);
  void enter(const LogCall& call);

  std::vector<RunStep> m_steps;
  std::vector<Module> m_modules;
};

/// The user's line of a Python traceback, its last frame outside of torch: "model.py:16 in forward, code: …".
std::string userLine(std::string_view traceback);

}  // namespace kerf::inline align
