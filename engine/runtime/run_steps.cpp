// The steps of a program: generated kernels, convolutions by rows, libraries and ops of the table.
#include "engine/runtime/index_bounds.h"
#include "engine/runtime/library_kernels.h"
#include "engine/runtime/program_runner.h"
#include "engine/runtime/slot_tensors.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline runtime {
namespace {

/// Additions that make a piece of a kernel worth a thread.
constexpr std::int64_t workPerPiece = 1 << 16;

std::byte* firstByte(const Tensor& tensor) {
  return tensor.storage()->data() + tensor.offset() * itemSize(tensor.dtype());
}

ValueList operandsOf(const CallValues& call) {
  ValueList operands = call.args;
  for (const auto& [key, value] : call.kwargs) operands.push_back(value);
  return operands;
}

/// Nested graphs of a program for an op that calls them.
class NestedCalls : public SubgraphCaller {
 public:
  NestedCalls(NestedCode& code, const std::stop_token& stop) : m_code(code), m_stop(stop) {}
  Result<Value> callSubgraph(std::string_view path, const ValueList& args) const override {
    return m_code.run(path, args, m_stop);
  }

 private:
  NestedCode& m_code;
  const std::stop_token& m_stop;
};

}  // namespace

Result<void> ProgramRunner::runStep(const Step& step) {
  switch (step.kind) {
    case StepKind::Kernel:
      return runKernel(step);
    case StepKind::Call:
      return runCall(step);
    case StepKind::HigherOrder:
      return runHigherOrder(step);
    case StepKind::Subgraph:
      return runSubgraph(step);
    case StepKind::Interpret:
      return runInterpreted(step);
    default:
      return runLibrary(step);
  }
}

Result<bool> ProgramRunner::convolveRows(std::size_t index) {
  const Step& step = m_program->steps[index];
  const Tensor& out = m_values[std::size_t(step.slot)].tensor();
  if (!liesChannelsLast(out.sizes(), out.strides())) return false;
  KERF_TRY(const CallValues call, callOf(step));
  KERF_TRY(const ConvolutionCall convolution, convolutionCall(call.args));
  return m_convolutions.run(index, convolution, out, nullptr);
}

/// A convolution and the kernel after it, block by block; false, with nothing done, where it cannot be.
Result<bool> ProgramRunner::runJoined(std::size_t index) {
  const Step& step = m_program->steps[index];
  const Step& kernel = m_program->steps[index + 1];
  const Tensor& out = m_values[std::size_t(step.slot)].tensor();
  KERF_TRY(const std::vector<void*> pointers, pointersOf(kernel));
  KERF_TRY(const CallValues call, callOf(step));
  KERF_TRY(const ConvolutionCall convolution, convolutionCall(call.args));
  KERF_CHECK(checkIndices(kernel));
  RowFollower follower{step.followerElements, step.followerTakesAll, {}};
  follower.run = [&](std::int64_t begin, std::int64_t end, float* block) {
    std::vector<void*> here = pointers;
    for (std::size_t p = 0; p < here.size(); ++p)
      if (kernel.pointers[p].slot == step.slot) here[p] = block - begin;  // the kernel counts from the first element
    kernel.code.run(here.data(), begin / step.followerElements, end / step.followerElements, kernel.bounds.data());
  };
  return m_convolutions.run(index, convolution, out, &follower);
}

/// In the words of the op's own kernel.
Result<void> ProgramRunner::checkIndices(const Step& step) const {
  for (const Step::IndexCheck& check : step.indexChecks) {
    const Value indices = valueOf(check.node);
    if (m_device) {
      KERF_TRY(const bool checked, m_device->checksIndex(step, check, indices));
      if (checked) continue;
      KERF_CHECK(m_device->toHost(indices));
    }
    if (!indices.isTensor()) return fail(ErrorCode::Internal, "a tensor of indices holds no tensor");
    KERF_TRY(const auto outside, firstOutside(indices.tensor(), check.mayBeNegative ? -check.size : 0, check.size - 1));
    if (outside)
      return fail(ErrorCode::RuntimeFailed, "{}: index {} is out of bounds for dimension {} with size {}", check.opName,
                  *outside, check.dim, check.size);
  }
  return {};
}

Result<std::vector<void*>> ProgramRunner::pointersOf(const Step& step) const {
  std::vector<void*> pointers;
  pointers.reserve(step.pointers.size());
  for (const Step::Pointer& pointer : step.pointers) {
    const Value& value = m_values[std::size_t(pointer.slot)];
    if (!value.isTensor()) return fail(ErrorCode::Internal, "a kernel's buffer holds no tensor");
    pointers.push_back(firstByte(value.tensor()) + pointer.byteOffset);
  }
  return pointers;
}

Result<void> ProgramRunner::runKernel(const Step& step) {
  KERF_CHECK(checkIndices(step));
  if (m_device) return m_device->launch(*m_program, step, m_values);
  KERF_TRY(std::vector<void*> pointers, pointersOf(step));
  const std::int64_t work = step.workPerOuter;
  if (step.shared.pieces > 0) {
    runShared(step, pointers);
    return {};
  }
  if (step.outerSize < 2 || step.outerSize * work < 2 * workPerPiece) {
    step.code.run(pointers.data(), 0, step.outerSize, step.bounds.data());
    return {};
  }
  parallelFor(
      step.outerSize, std::max(step.fewestPerPiece, workPerPiece / std::max<std::int64_t>(1, work)),
      [&](std::int64_t begin, std::int64_t end) { step.code.run(pointers.data(), begin, end, step.bounds.data()); });
  return {};
}

void ProgramRunner::runShared(const Step& step, std::vector<void*>& pointers) {
  const Step::Shared& shared = step.shared;
  m_parts.resize(std::max(m_parts.size(), std::size_t(shared.pieces * shared.values)));
  pointers.push_back(m_parts.data());
  const std::int64_t work = std::max<std::int64_t>(1, step.outerSize * step.workPerOuter / shared.pieces);
  parallelFor(shared.pieces, std::max<std::int64_t>(1, workPerPiece / work), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece)
      step.code.run(pointers.data(), piece * shared.chunk, std::min((piece + 1) * shared.chunk, shared.size),
                    step.bounds.data());
  });
  step.code.run(pointers.data(), -1, shared.pieces, step.bounds.data());
}

Result<void> ProgramRunner::operandsToHost(const ValueList& operands) {
  if (!m_device) return {};
  for (const Value& operand : operands) KERF_CHECK(m_device->toHost(operand));
  return {};
}

void ProgramRunner::ranOnHost(const Step& step, const ValueList& operands) {
  if (m_device) m_device->ranOnHost(step, operands);
}

Value ProgramRunner::valueOf(NodeId id) const {
  const SlotView& view = m_program->views[id.index];
  if (view.slot < 0) return {};
  const Value& value = m_values[std::size_t(view.slot)];
  if (view.whole || !value.isTensor()) return value;
  const Tensor& tensor = value.tensor();
  return tensor.viewAs(view.sizes, view.strides, tensor.offset() + view.offset);
}

Result<CallValues> ProgramRunner::callOf(const Step& step) const {
  const Node& node = m_program->module->graph.node(step.node);
  Value current;
  const auto lookup = [&](NodeId id) -> const Value& { return current = valueOf(id); };
  return callValues(node, lookup);
}

Result<void> ProgramRunner::runCall(const Step& step) {
  KERF_TRY(const CallValues call, callOf(step));
  if (m_device) {
    KERF_TRY(auto made, m_device->call(*m_program, step, call));
    if (made) return finishResult(step, *std::move(made));
  }
  const ValueList operands = operandsOf(call);
  KERF_CHECK(operandsToHost(operands));
  KERF_TRY(Value result, m_ops.call(m_program->module->graph.node(step.node).target(), call.args, call.kwargs));
  ranOnHost(step, operands);
  return finishResult(step, std::move(result));
}

Result<void> ProgramRunner::runHigherOrder(const Step& step) {
  KERF_TRY(const CallValues call, callOf(step));
  const ValueList operands = operandsOf(call);
  KERF_CHECK(operandsToHost(operands));
  KERF_TRY(Value result, m_ops.callHigherOrder(m_program->module->graph.node(step.node).target(), call.args,
                                               call.kwargs, NestedCalls(*m_program->nested, m_stop)));
  ranOnHost(step, operands);
  return finishResult(step, std::move(result));
}

Result<void> ProgramRunner::runSubgraph(const Step& step) {
  KERF_TRY(CallValues call, callOf(step));
  for (auto& [key, value] : call.kwargs) call.args.push_back(std::move(value));
  KERF_CHECK(operandsToHost(call.args));
  KERF_TRY(Value result, m_program->nested->run(m_program->module->graph.node(step.node).target(), call.args, m_stop));
  ranOnHost(step, call.args);
  return finishResult(step, std::move(result));
}

Result<void> ProgramRunner::runInterpreted(const Step& step) {
  ValueList inputs;
  for (const NodeId input : m_program->module->graph.node(step.node).inputs()) inputs.push_back(valueOf(input));
  KERF_CHECK(operandsToHost(inputs));
  Interpreter interpreter(*step.single, m_ops);
  KERF_TRY(Value result, interpreter.run(inputs));
  ranOnHost(step, inputs);
  return finishResult(step, std::move(result));
}

Result<void> ProgramRunner::runLibrary(const Step& step) {
  KERF_TRY(const CallValues call, callOf(step));
  for (const auto& [key, value] : call.kwargs)
    if (key != "alpha" && key != "beta") return fail(ErrorCode::Internal, "unexpected keyword {}", key);
  Tensor out = m_values[std::size_t(step.slot)].tensor();
  if (m_device) {
    KERF_TRY(const bool done, m_device->multiply(*m_program, step, call.args, out));
    if (done) return {};
    KERF_CHECK(operandsToHost(call.args));
    m_device->hostWrote(out);
    ranOnHost(step, call.args);
  }
  return runLibraryKernel(step, call.args, out);
}

/// Stores what an extern step gave, with the strides that later kernels were compiled for.
Result<void> ProgramRunner::finishResult(const Step& step, Value value) {
  const Slot& slot = m_program->slots[std::size_t(step.slot)];
  if (slot.isTensor) {
    if (!value.isTensor() || value.tensor().dtype() != slot.dtype || value.tensor().sizes() != slot.sizes)
      return fail(ErrorCode::RuntimeFailed, "the extern kernel's result is not the {}{} that was compiled for",
                  dtypeInfo(slot.dtype).shortCode, sizesText(slot.sizes));
    if (!sameStrides(value.tensor(), slot.strides)) {
      if (m_device) KERF_CHECK(m_device->toHost(value));
      KERF_TRY(Tensor copy, restrided(value.tensor(), slot.strides));
      value = std::move(copy);
    }
  }
  if (m_device) KERF_CHECK(m_device->hostMade(step, value));
  m_values[std::size_t(step.slot)] = std::move(value);
  return {};
}

}  // namespace kerf::inline runtime
