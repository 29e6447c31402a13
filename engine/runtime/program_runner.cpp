#include "engine/runtime/program_runner.h"

#include <sys/mman.h>

#include "engine/runtime/slot_tensors.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/empty.h"
#include "engine/tensor/storage_peak.h"

namespace kerf::inline runtime {
namespace {

Tensor onDevice(Tensor tensor, const Device& device) {
  tensor.setDevice(device);
  return tensor;
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
    m_times->push_back(
        {m_program->steps[index + s].name, s == 0 ? time : decltype(time)(), liveStorageBytes(), peak, onHost});
  return done;
}

}  // namespace kerf::inline runtime
