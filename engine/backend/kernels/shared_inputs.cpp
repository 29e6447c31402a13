#include "engine/backend/kernels/shared_inputs.h"

#include <algorithm>

#include "engine/support/log.h"

namespace kerf::inline backend {
namespace {

/// Where the elements of a tensor lie.
struct Range {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  bool stored = false;
};

void addRange(const Tensor& tensor, bool stored, std::vector<Range>& ranges) {
  if (!tensor.storage() || tensor.numel() == 0) return;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < tensor.sizes().size(); ++d) last += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  const std::int64_t item = itemSize(tensor.dtype());
  const std::byte* first = tensor.storage()->data() + tensor.offset() * item;
  ranges.push_back({first, first + (last + 1) * item, stored});
}

void addRanges(const Value& value, bool stored, std::vector<Range>& ranges) {
  if (value.isTensor()) return addRange(value.tensor(), stored, ranges);
  if (!value.isList()) return;
  for (const Value& item : value.list()) addRanges(item, stored, ranges);
}

class TwoExecutables : public Executable {
 public:
  TwoExecutables(std::unique_ptr<Executable> apart, GivenMemory memory, MakeExecutable makeOther)
      : m_apart(std::move(apart)), m_memory(std::move(memory)), m_makeOther(std::move(makeOther)) {}

  Result<Value> run(const ValueList& inputs, std::stop_token stop) override {
    m_last = m_apart.get();
    if (!m_memory.isShared(inputs)) return m_apart->run(inputs, std::move(stop));
    if (!m_other) {
      logAt(LogCategory::Compile, LogLevel::Debug, "compiled again: inputs share memory with one that is written");
      KERF_TRY(m_other, m_makeOther(stop));
      m_other->timeSteps(m_times);
    }
    m_last = m_other.get();
    return m_other->run(inputs, std::move(stop));
  }
  /// Of the code that ran last.
  const Artifacts& artifacts() const override { return m_last->artifacts(); }
  std::optional<GuardViolation> violated(const ValueList& inputs) override { return m_apart->violated(inputs); }
  void timeSteps(std::vector<StepTime>* times) override {
    m_times = times;
    m_apart->timeSteps(times);
    if (m_other) m_other->timeSteps(times);
  }
  Result<std::chrono::nanoseconds> timeOnDevice(int times) override { return m_last->timeOnDevice(times); }

 private:
  std::unique_ptr<Executable> m_apart, m_other;  ///< m_other: once it was needed
  Executable* m_last = m_apart.get();
  const GivenMemory m_memory;
  const MakeExecutable m_makeOther;
  std::vector<StepTime>* m_times = nullptr;
};

}  // namespace

GivenMemory GivenMemory::of(const Program& program) {
  GivenMemory memory;
  for (const Slot& slot : program.slots) {
    if (slot.kind == SlotKind::Constant && slot.constant.isTensor()) memory.constants.push_back(slot.constant.tensor());
    if (slot.input < 0) continue;
    memory.stored.resize(std::max(memory.stored.size(), std::size_t(slot.input) + 1));
    memory.stored[std::size_t(slot.input)] = slot.stored;
  }
  return memory;
}

bool GivenMemory::anyStored() const { return std::ranges::find(stored, true) != stored.end(); }

bool GivenMemory::isShared(const ValueList& inputs) const {
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < inputs.size(); ++i) addRanges(inputs[i], i < stored.size() && stored[i], ranges);
  for (const Tensor& constant : constants) addRange(constant, false, ranges);
  std::ranges::sort(ranges, {}, &Range::begin);
  const std::byte *end = nullptr, *endOfStored = nullptr;  // of the ranges so far
  for (const Range& range : ranges) {
    if (range.begin < (range.stored ? end : endOfStored)) return true;
    end = std::max(end, range.end);
    if (range.stored) endOfStored = std::max(endOfStored, range.end);
  }
  return false;
}

std::unique_ptr<Executable> forAnyInputs(std::unique_ptr<Executable> apart, GivenMemory memory,
                                         MakeExecutable makeOther) {
  if (!memory.anyStored()) return apart;
  return std::make_unique<TwoExecutables>(std::move(apart), std::move(memory), std::move(makeOther));
}

}  // namespace kerf::inline backend
