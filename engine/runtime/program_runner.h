// ProgramRunner: executes a Program on inputs; one thread at a time.
#pragma once

#include <stop_token>

#include "engine/ir/call_values.h"
#include "engine/runtime/convolution_steps.h"
#include "engine/runtime/program.h"
#include "engine/runtime/step_device.h"

namespace kerf::inline runtime {

class ProgramRunner {
 public:
  /// `ops` runs what is no generated or library kernel; it must outlive the runner. `device` runs those; null: they
  /// run here.
  ProgramRunner(std::shared_ptr<const Program> program, const OpCaller& ops,
                std::shared_ptr<StepDevice> device = nullptr);

  /// Another program of the same graph from now on: the arena stays where it is large enough.
  void setProgram(std::shared_ptr<const Program> program);
  const std::shared_ptr<const Program>& program() const { return m_program; }

  /// ShapeMismatch naming the placeholder when an input is not what was compiled for; its strides may differ (it is
  /// copied then, and copied back if the graph writes into it). Cancelled between steps when asked to stop.
  Result<Value> run(const ValueList& inputs, std::stop_token stop = {});
  /// Every run from now on appends what its steps took; null: none does.
  void timeSteps(std::vector<StepTime>* times) { m_times = times; }
  /// StepDevice::timeRuns; NotFound where the program runs here.
  Result<std::chrono::nanoseconds> timeRuns(int times);

 private:
  Result<void> bindInputs(const ValueList& inputs);
  Result<Value> checkedInput(const Slot& slot, const Value& input) const;
  Result<void> prepareSlots();
  Result<std::size_t> runAt(std::size_t index);
  Result<void> runStep(const Step& step);
  Result<std::size_t> runTimed(std::size_t index);
  Result<bool> convolveRows(std::size_t index);
  Result<bool> runJoined(std::size_t index);
  Result<std::vector<void*>> pointersOf(const Step& step) const;
  void finish(const Step& step);
  Result<void> checkIndices(const Step& step) const;
  void drop(const Step::Piece& piece) const;
  Result<void> runKernel(const Step& step);
  void runShared(const Step& step, std::vector<void*>& pointers);
  Result<void> runCall(const Step& step);
  Result<void> runHigherOrder(const Step& step);
  Result<void> runSubgraph(const Step& step);
  Result<void> runInterpreted(const Step& step);
  Result<void> runLibrary(const Step& step);
  Result<void> finishResult(const Step& step, Value value);
  Value valueOf(NodeId id) const;
  Result<CallValues> callOf(const Step& step) const;
  Result<void> copyBack();
  Result<void> operandsToHost(const ValueList& operands);
  void ranOnHost(const Step& step, const ValueList& operands);

  std::shared_ptr<const Program> m_program;
  const OpCaller& m_ops;
  const std::shared_ptr<StepDevice> m_device;
  StoragePtr m_arena;
  ValueList m_values;                  ///< by slot
  std::vector<std::uint64_t> m_parts;  ///< of shared reductions
  ConvolutionSteps m_convolutions;
  std::stop_token m_stop;
  std::vector<StepTime>* m_times = nullptr;
  struct Restrided {
    Tensor given, used;
  };
  std::vector<Restrided> m_restrided;  ///< inputs that a graph writes into, copied for their strides
};

}  // namespace kerf::inline runtime
