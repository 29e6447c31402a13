// LlvmCompiledGraph: what compileFx returns; keeps everything that happened beside what runs.
#pragma once

#include "engine/pipeline/compile_fx.h"
#include "engine/runtime/program_runner.h"

namespace kerf::inline pipeline {

/// All that the stages of compileFx leave behind.
struct CompilationRecord {
  std::shared_ptr<const GraphModule> finalModule;
  std::vector<KernelInfo> kernels;
  std::vector<PassRecord> passes;
  std::vector<StageTime> stages;
  std::int64_t plannedBytes = 0;
  std::int64_t unplannedBytes = 0;
};

class LlvmCompiledGraph : public CompiledGraph {
 public:
  LlvmCompiledGraph(CompilationRecord record, std::shared_ptr<const Program> program, const OpCaller& ops)
      : m_record(std::move(record)), m_runner(std::move(program), ops) {}

  Result<Value> run(const ValueList& inputs, std::stop_token stop) override {
    return m_runner.run(inputs, std::move(stop));
  }
  const GraphModule& finalModule() const override { return *m_record.finalModule; }
  const std::vector<KernelInfo>& kernels() const override { return m_record.kernels; }
  const std::vector<PassRecord>& passRecords() const override { return m_record.passes; }
  const std::vector<StageTime>& stageTimes() const override { return m_record.stages; }
  std::int64_t plannedBytes() const override { return m_record.plannedBytes; }
  std::int64_t unplannedBytes() const override { return m_record.unplannedBytes; }

 private:
  CompilationRecord m_record;
  ProgramRunner m_runner;
};

}  // namespace kerf::inline pipeline
