// The request for kernels' bits: which kernels of a compilation can have eager mode's, and why others need not.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/pass_choice.h"
#include "engine/accuracy/kernel_bits.h"
#include "engine/process/codec.h"

namespace kerf::workbench {

/// Of a capture: the kernels that Inductor wrote, in the order of the calls. With `own`: those that Kerf compiles the
/// graph to, in a process of its own, beside the interpreter.
struct BitsRequest {
  using Answer = std::vector<KernelBits>;
  static constexpr std::string_view name = "bits";
  GraphAddress graph;   ///< with `own`, a graph; else a capture, of which "#graph" is passed over
  std::string compile;  ///< "[0/0]" or "0/0": only this compilation; empty: all
  bool own = false;
  std::string backend = "llvm";
  PassChoice passes;
  std::chrono::milliseconds timeout{60'000};

  KERF_FIELDS(graph, compile, own, backend, passes, timeout)
};

}  // namespace kerf::workbench
