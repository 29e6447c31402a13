// ProgramRunner: executes a Program on inputs; one thread at a time.
#pragma once

#include <stop_token>

#include "engine/ir/call_values.h"
#include "engine/runtime/program.h"

namespace kerf::inline runtime {

class ProgramRunner {
 public:
  /// `ops` runs what is no generated or library kernel; it must outlive the runner.
  ProgramRunner(std::shared_ptr<const Program> program, const OpCaller& ops);

  /// Another program of the same graph from now on: the arena stays where it is large enough.
  void setProgram(std::shared_ptr<const Program> program) { m_program = std::move(program); }
  const std::shared_ptr<const Program>& program() const { return m_program; }

  /// ShapeMismatch naming the placeholder when an input is not what was compiled for; its strides may differ (it is
  /// copied then, and copied back if the graph writes into it). Cancelled between steps when asked to stop.
  Result<Value> run(const ValueList& inputs, std::stop_token stop = {});

 private:
  Result<void> bindInputs(const ValueList& inputs);
  Result<Value> checkedInput(const Slot& slot, const Value& input) const;
  Result<void> prepareSlots();
  Result<void> runStep(const Step& step);
  Result<void> runKernel(const Step& step);
  Result<void> runCall(const Step& step);
  Result<void> runHigherOrder(const Step& step);
  Result<void> runSubgraph(const Step& step);
  Result<void> runInterpreted(const Step& step);
  Result<void> runLibrary(const Step& step);
  Result<void> finishResult(const Step& step, Value value);
  Value valueOf(NodeId id) const;
  Result<CallValues> callOf(const Step& step) const;
  Result<void> copyBack();

  std::shared_ptr<const Program> m_program;
  const OpCaller& m_ops;
  StoragePtr m_arena;
  ValueList m_values;  ///< by slot
  std::stop_token m_stop;
  struct Restrided {
    Tensor given, used;
  };
  std::vector<Restrided> m_restrided;  ///< inputs that a graph writes into, copied for their strides
};

}  // namespace kerf::inline runtime
