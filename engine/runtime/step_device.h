// StepDevice: a processor with memory of its own that runs steps of a program.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "engine/runtime/program.h"

namespace kerf::inline runtime {

/// Values lie on the host or there; each of these says what it needs where.
class StepDevice {
 public:
  virtual ~StepDevice() = default;
  /// Before the first step of a run; `slots` are the values of the program's slots. Environment where the machine has
  /// no such device.
  virtual Result<void> begin(const Program& program, const ValueList& slots) = 0;
  /// A generated kernel.
  virtual Result<void> launch(const Program& program, const Step& step, const ValueList& slots) = 0;
  /// A library step, into `out`; false where the device has no kernel for it.
  virtual Result<bool> multiply(const Step& step, const ValueList& args, const Tensor& out) = 0;
  /// The host reads these values next.
  virtual Result<void> toHost(const Value& value) = 0;
  /// The step ran on the host with these operands.
  virtual void ranOnHost(const Step& step, const ValueList& operands) = 0;
  /// The host wrote all of it.
  virtual void hostWrote(const Value& value) = 0;
  /// Everything that the caller sees goes to the host.
  virtual Result<void> end(const Value& result) = 0;
  /// Runs the steps that `work` starts, and waits: time on the device, or on the host where they ran there.
  virtual Result<std::chrono::nanoseconds> timed(const std::function<Result<void>()>& work) = 0;
};

}  // namespace kerf::inline runtime
