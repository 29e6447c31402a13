// StepDevice: a processor with memory of its own that runs steps of a program.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "engine/ir/call_values.h"
#include "engine/runtime/program.h"

namespace kerf::inline runtime {

/// Values lie on the host or there; each of these says what it needs where.
class StepDevice {
 public:
  virtual ~StepDevice() = default;
  /// Before the first step of a run; `slots` are the values of the program's slots. Environment where the machine has
  /// no such device.
  virtual Result<void> begin(const Program& program, const ValueList& slots) = 0;
  /// Before any run: TooLarge where the device cannot hold what the program makes.
  virtual Result<void> plan(const Program&) { return {}; }
  /// A generated kernel.
  virtual Result<void> launch(const Program& program, const Step& step, const ValueList& slots) = 0;
  /// A library step, into `out`; false where the device has no kernel for it.
  virtual Result<bool> multiply(const Program& program, const Step& step, const ValueList& args, const Tensor& out) = 0;
  /// Any other op: its result; none where the device has no kernel for it.
  virtual Result<std::optional<Value>> call(const Program& program, const Step& step, const CallValues& call) = 0;
  /// Whether the device sees to it that a kernel reads by no index outside: end() fails where there was one.
  virtual Result<bool> checksIndex(const Step& step, const Step::IndexCheck& check, const Value& indices) = 0;
  /// Between steps: a device may keep back what it is given before afterStep() of a later one.
  virtual Result<void> beforeStep(std::size_t) { return {}; }
  virtual Result<void> afterStep(std::size_t) { return {}; }
  /// Another program from now on.
  virtual void programChanged() {}
  /// The host reads these values next.
  virtual Result<void> toHost(const Value& value) = 0;
  /// The step ran on the host with these operands.
  virtual void ranOnHost(const Step& step, const ValueList& operands) = 0;
  /// And gave this.
  virtual Result<void> hostMade(const Step& step, const Value& value) = 0;
  /// The host wrote all of it.
  virtual void hostWrote(const Value& value) = 0;
  /// Everything that the caller sees goes to the host.
  virtual Result<void> end(const Value& result) = 0;
  /// Whether the last step ran on the host although it needed something of the device, or could have.
  virtual bool lastWasOnHost() const = 0;
  /// The mean of `times` runs with everything on the device already, nothing of it on the host. NotFound where steps of
  /// the last run need the host.
  virtual Result<std::chrono::nanoseconds> timeRuns(int times) = 0;
  /// Runs the steps that `work` starts, and waits: time on the device, or on the host where they ran there.
  virtual Result<std::chrono::nanoseconds> timed(const std::function<Result<void>()>& work) = 0;
};

}  // namespace kerf::inline runtime
