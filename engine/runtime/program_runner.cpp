#include "engine/runtime/program_runner.h"

#include <sys/mman.h>

#include "engine/runtime/index_bounds.h"
#include "engine/runtime/library_kernels.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/empty.h"
#include "engine/tensor/storage_peak.h"

namespace kerf::inline runtime {
namespace {

/// Additions that make a piece of a kernel worth a thread.
constexpr std::int64_t workPerPiece = 1 << 16;

std::string sizesText(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

/// Strides that address the same elements; those of size-1 dimensions do not matter.
bool sameStrides(const Tensor& tensor, const Sizes& strides) {
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (tensor.sizes()[d] > 1 && tensor.strides()[d] != strides[d]) return false;
  return true;
}

Result<Tensor> restrided(const Tensor& tensor, const Sizes& strides) {
  KERF_TRY(Tensor copy, Tensor::zerosStrided(tensor.dtype(), tensor.sizes(), strides));
  KERF_CHECK(copyElements(tensor, copy));
  copy.setDevice(tensor.device());
  return copy;
}

Tensor onDevice(Tensor tensor, const Device& device) {
  tensor.setDevice(device);
  return tensor;
}

std::byte* firstByte(const Tensor& tensor) {
  return tensor.storage()->data() + tensor.offset() * itemSize(tensor.dtype());
}

ValueList operandsOf(const CallValues& call) {
  ValueList operands = call.args;
  for (const auto& [key, value] : call.kwargs) operands.push_back(value);
  return operands;
}

/// Bytes from the first element of a slot to the end of its last.
std::int64_t extentOf(const Slot& slot) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < slot.sizes.size(); ++d) {
    if (slot.sizes[d] == 0) return 0;
    last += (slot.sizes[d] - 1) * slot.strides[d];
  }
  return (last + 1) * itemSize(slot.dtype);
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

ProgramRunner::ProgramRunner(std::shared_ptr<const Program> program, const OpCaller& ops,
                             std::shared_ptr<StepDevice> device)
    : m_program(std::move(program)), m_ops(ops), m_device(std::move(device)) {}

Result<Value> ProgramRunner::run(const ValueList& inputs, std::stop_token stop) {
  m_values.assign(m_program->slots.size(), {});
  m_restrided.clear();
  m_stop = stop;
  KERF_CHECK(bindInputs(inputs));
  KERF_CHECK(prepareSlots());
  if (m_device) KERF_CHECK(m_device->begin(*m_program, m_values));
  if (m_device && m_times) m_device->programChanged();  // steps that are timed come one by one
  for (std::size_t s = 0; s < m_program->steps.size();) {
    const Step& step = m_program->steps[s];
    if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped before {}", step.nodeName);
    auto done = m_times ? runTimed(s) : runAt(s);
    if (!done) {
      Error error = std::move(done).error();
      if (error.node.empty()) error.atNode(step.nodeName);
      m_values.clear();
      return fail(std::move(error));
    }
    for (const std::size_t end = s + *done; s < end; ++s) finish(m_program->steps[s]);
  }
  const Node& output = m_program->module->graph.node(m_program->module->graph.outputNode());
  const auto lookup = [this](NodeId id) -> const Value& {
    static thread_local Value value;
    value = valueOf(id);
    return value;
  };
  auto result = argumentToValue(output.args().empty() ? Argument() : output.args().front(), lookup);
  m_values.clear();
  if (m_device && result) KERF_CHECK(m_device->end(*result));
  KERF_CHECK(copyBack());
  return result;
}

void ProgramRunner::setProgram(std::shared_ptr<const Program> program) {
  if (m_device) m_device->programChanged();
  m_program = std::move(program);
  m_convolutions.clear();
}

Result<std::chrono::nanoseconds> ProgramRunner::timeRuns(int times) {
  if (!m_device) return fail(ErrorCode::NotFound, "the graph runs on no device");
  return m_device->timeRuns(times);
}

/// What the graph wrote into copies of inputs goes where the caller sees it.
Result<void> ProgramRunner::copyBack() {
  for (Restrided& input : m_restrided) KERF_CHECK(copyElements(input.used, input.given));
  m_restrided.clear();
  return {};
}

Result<void> ProgramRunner::bindInputs(const ValueList& inputs) {
  std::size_t wanted = 0;
  for (std::size_t s = 0; s < m_program->slots.size(); ++s) {
    const Slot& slot = m_program->slots[s];
    if (slot.input < 0) continue;
    wanted = std::max(wanted, std::size_t(slot.input) + 1);
    if (std::size_t(slot.input) >= inputs.size()) continue;
    const Value& input = inputs[std::size_t(slot.input)];
    KERF_TRY(m_values[s], checkedInput(slot, input));
    const bool copied = slot.isTensor && m_values[s].tensor().storage() != input.tensor().storage();
    if (copied && slot.mutated) m_restrided.push_back({input.tensor(), m_values[s].tensor()});
  }
  if (wanted != inputs.size())
    return fail(ErrorCode::ShapeMismatch, "the compiled graph takes {} inputs but {} were given", wanted,
                inputs.size());
  return {};
}

Result<Value> ProgramRunner::checkedInput(const Slot& slot, const Value& input) const {
  if (!slot.isTensor) return input;
  const auto mismatch = [&](const std::string& got) {
    Error error{ErrorCode::ShapeMismatch,
                fmt::format("input {} was compiled for {}{}, got {}", slot.name, dtypeInfo(slot.dtype).shortCode,
                            sizesText(slot.sizes), got),
                {},
                0,
                slot.name,
                {}};
    return fail(std::move(error));
  };
  if (!input.isTensor()) return mismatch("no tensor");
  const Tensor& tensor = input.tensor();
  if (tensor.dtype() != slot.dtype || tensor.sizes() != slot.sizes)
    return mismatch(fmt::format("{}{}", dtypeInfo(tensor.dtype()).shortCode, sizesText(tensor.sizes())));
  if (!tensor.inBounds()) return mismatch("a tensor that reaches outside of its storage");
  if (sameStrides(tensor, slot.strides)) return input;
  KERF_TRY(Tensor copy, restrided(tensor, slot.strides));
  return Value(std::move(copy));
}

Result<void> ProgramRunner::prepareSlots() {
  if (m_program->arenaBytes > (m_arena ? m_arena->bytes() : 0)) {
    KERF_TRY(m_arena, Storage::allocate(m_program->arenaBytes));
  }
  for (std::size_t s = 0; s < m_program->slots.size(); ++s) {
    const Slot& slot = m_program->slots[s];
    Value& value = m_values[s];
    if (slot.kind == SlotKind::Constant) value = slot.constant;
    if (slot.kind == SlotKind::Arena && slot.used) {
      // No more than its own: some ops copy all of a storage.
      const std::int64_t bytes = std::min(m_arena->bytes() - slot.arenaOffset, extentOf(slot));
      auto place = Storage::borrow(m_arena->data() + slot.arenaOffset, bytes, m_arena);
      value = onDevice(Tensor(std::move(place), slot.dtype, slot.sizes, slot.strides), slot.device);
    }
    if (slot.kind == SlotKind::Fresh) {
      KERF_TRY(Tensor fresh, emptyTensor(slot.dtype, slot.sizes, slot.strides));  // some step writes all of it
      value = onDevice(std::move(fresh), slot.device);
    }
  }
  return {};
}

/// What nobody needs after the step goes.
void ProgramRunner::finish(const Step& step) {
  for (const int slot : step.releases) m_values[std::size_t(slot)] = {};
  for (const Step::Piece& piece : step.arenaDrops) drop(piece);
}

void ProgramRunner::drop(const Step::Piece& piece) const {
  (void)::madvise(m_arena->data() + piece.begin, std::size_t(piece.end - piece.begin), MADV_DONTNEED);
}

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

/// How many steps were done: a convolution's follower with it.
Result<std::size_t> ProgramRunner::runAt(std::size_t index) {
  const Step& step = m_program->steps[index];
  if (m_device) {
    KERF_CHECK(m_device->beforeStep(index));
    KERF_CHECK(runStep(step));
    KERF_CHECK(m_device->afterStep(index));
    return 1;
  }
  if (step.kind == StepKind::Convolution) {
    if (step.followerElements > 0) {
      KERF_TRY(const bool both, runJoined(index));
      if (both) return 2;
    }
    KERF_TRY(const bool done, convolveRows(index));
    if (done) return 1;
  }
  KERF_CHECK(runStep(step));
  return 1;
}

Result<std::size_t> ProgramRunner::runTimed(std::size_t index) {
  (void)takePeakStorageBytes();
  const auto start = std::chrono::steady_clock::now();
  std::chrono::nanoseconds onDevice{};
  Result<std::size_t> done = 1;
  if (m_device) {
    KERF_TRY(onDevice, m_device->timed([&] { return runStep(m_program->steps[index]); }));
  } else {
    done = runAt(index);
    KERF_CHECK(done);
  }
  const auto time = m_device ? onDevice : std::chrono::steady_clock::now() - start;
  const std::int64_t peak = takePeakStorageBytes();
  const bool onHost = m_device && m_device->lastWasOnHost();
  for (std::size_t s = 0; s < *done; ++s)  // a follower's time is in that of its convolution
    m_times->push_back({m_program->steps[index + s].name, s == 0 ? time : decltype(time)(), liveStorageBytes(), peak, onHost});
  return done;
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
    KERF_TRY(const auto outside,
             firstOutside(indices.tensor(), check.mayBeNegative ? -check.size : 0, check.size - 1));
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
