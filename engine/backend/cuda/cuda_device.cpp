#include "engine/backend/cuda/cuda_device.h"

#include <algorithm>
#include <utility>

#include "engine/backend/cuda/resident_call.h"
#include "engine/backend/kernels/program_memory.h"
#include "engine/support/log.h"

namespace kerf::inline backend {

CudaDevice::CudaDevice(std::vector<CudaStepCode> codes, std::unordered_set<std::uint32_t> mutating,
                       std::filesystem::path cache)
    : m_codes(std::move(codes)), m_mutating(std::move(mutating)), m_cache(std::move(cache)) {
  for (std::size_t c = 0; c < m_codes.size(); ++c) m_byStep.emplace(m_codes[c].name, c);
}

CudaDevice::~CudaDevice() { close(); }

void CudaDevice::close() {
  if (!m_machine) return;
  for (DeviceAddress* const place : {&m_arena, &m_counters, &m_parts})
    m_machine->driver.release(std::exchange(*place, 0));
  m_functions.clear();
  m_machine.reset();
}

void CudaDevice::openBlas() {
  if (std::exchange(m_machine->triedBlas, true)) return;
  auto blas = DeviceBlas::open(m_machine->driver);
  if (blas)
    m_machine->blas = std::move(*blas);
  else
    logAt(LogCategory::Compile, LogLevel::Warning, "matrix products run on the host: {}", blas.error().text());
  if (auto lt = DeviceBlasLt::open(m_machine->driver)) m_machine->blasLt = std::move(*lt);
}

void CudaDevice::openDnn() {
  if (std::exchange(m_machine->triedDnn, true)) return;
  auto dnn = DeviceDnn::open(m_machine->queue);
  if (dnn)
    m_machine->dnn = std::move(*dnn);
  else
    logAt(LogCategory::Compile, LogLevel::Warning, "convolutions run on the host: {}", dnn.error().text());
}

Result<void> CudaDevice::warmUp() {
  KERF_CHECK(open());
  openBlas();
  return {};
}

Result<void> CudaDevice::open() {
  if (m_machine) return {};
  KERF_TRY(CudaDriver* const driver, CudaDriver::get());
  m_machine = std::make_unique<Machine>(*driver, m_cache);
  auto loaded = loadKernels();
  if (!loaded) close();  // half of it is not open
  return loaded;
}

Result<void> CudaDevice::loadKernels() {
  const DriverFunctions& f = m_machine->driver.functions();
  std::unordered_map<const CudaModule*, void*> modules;
  const auto load = [&](const CudaModule& code, const std::string& name) -> Result<void*> {
    const std::string doing = fmt::format("loading kernel {}", name);
    const auto [module, isNew] = modules.emplace(&code, nullptr);
    if (isNew) {
      const std::string& text = code.cubin.empty() ? code.ptx : code.cubin;
      KERF_CHECK(m_machine->driver.check(f.loadModule(&module->second, text.data()), doing));
    }
    void* function = nullptr;
    KERF_CHECK(m_machine->driver.check(f.function(&function, module->second, name.c_str()), doing));
    return function;
  };
  for (std::size_t c = 0; c < m_codes.size(); ++c) {
    const CudaStepCode& code = m_codes[c];
    if (code.same != c) {
      m_functions.push_back(m_functions[code.same]);
      continue;
    }
    KERF_TRY(void* const function, load(*code.module, code.kernel.name));
    m_functions.push_back(function);
  }
  return makeShared();
}

/// One place for all kernels: they run one after the other.
Result<void> CudaDevice::makeShared() {
  std::int64_t counters = 0, parts = 0;
  for (const CudaStepCode& code : m_codes) {
    counters = std::max(counters, code.kernel.shape.countersBytes());
    parts = std::max(parts, code.kernel.shape.partsBytes());
  }
  if (counters == 0) return {};
  KERF_TRY(m_counters, m_machine->driver.allocate(counters));
  KERF_TRY(m_parts, m_machine->driver.allocate(parts));
  const std::vector<unsigned char> zeros(std::size_t(counters), 0);
  return m_machine->driver.upload(m_counters, zeros.data(), counters);
}

Result<void> CudaDevice::plan(const Program& program) {
  const std::int64_t needed = heldBytes(program), most = m_machine ? m_machine->driver.totalBytes() : needed;
  if (needed <= most) return {};
  return fail(ErrorCode::TooLarge, "a run takes {} bytes of the CUDA device, which has {}", needed, most);
}

Result<void> CudaDevice::begin(const Program& program, const ValueList& slots) {
  KERF_CHECK(open());
  KERF_CHECK(m_machine->driver.enter());
  m_machine->graphs.reset();
  ValueList constants;
  for (std::size_t s = 0; s < slots.size(); ++s)
    if (program.slots[s].kind == SlotKind::Constant) constants.push_back(slots[s]);
  m_machine->memory.forget(constants);
  KERF_CHECK(m_machine->checks.begin());
  KERF_TRY(auto places, placeSlots(program, slots));
  m_machine->graphs.begin(&program, program.steps.size(), std::move(places));
  return {};
}

/// Where the first element of every slot lies; 0 for slots that hold no tensor yet.
Result<std::vector<DeviceAddress>> CudaDevice::placeSlots(const Program& program, const ValueList& slots) {
  DeviceMemory& memory = m_machine->memory;
  if (program.arenaBytes > m_arenaBytes) {
    m_machine->driver.release(m_arena);
    m_arena = 0, m_arenaBytes = 0;
    KERF_TRY(m_arena, m_machine->driver.allocate(program.arenaBytes));
    m_arenaBytes = program.arenaBytes;
  }
  std::vector<DeviceAddress> places(slots.size(), 0);
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const Slot& slot = program.slots[s];
    if (!slots[s].isTensor() || !slots[s].tensor().storage()) continue;
    const Tensor& tensor = slots[s].tensor();
    const DeviceHome home{int(s), 0};
    if (slot.kind == SlotKind::Arena) memory.place(tensor.storage(), m_arena + std::uint64_t(slot.arenaOffset));
    if (slot.kind == SlotKind::Input) KERF_CHECK(memory.adopt(tensor.storage(), home));
    if (slot.kind == SlotKind::Fresh) KERF_CHECK(memory.create(tensor.storage(), home, !fillsStorage(tensor)));
    KERF_TRY(places[s], m_machine->parts().addressOf(tensor));
  }
  return places;
}

Result<void> CudaDevice::beforeStep(std::size_t step) { return m_machine->graphs.beforeStep(step); }
Result<void> CudaDevice::afterStep(std::size_t step) { return m_machine->graphs.afterStep(step); }
void CudaDevice::programChanged() {
  if (m_machine) m_machine->graphs.begin(nullptr, 0, {});
}

Result<void> CudaDevice::toHost(const Value& value) {
  if (!m_machine->memory.isNewerOnDevice(value)) return {};
  KERF_CHECK(m_machine->graphs.flush());
  m_machine->graphs.ranOnHost();
  return m_machine->memory.toHost(value);
}

void CudaDevice::ranOnHost(const Step& step, const ValueList& operands) {
  bool hasTensors = false;
  for (const Value& operand : operands) forStorages(operand, [&](const StoragePtr&) { hasTensors = true; });
  if (!hasTensors) return;  // its result could come from anywhere
  m_lastWasOnHost = true;
  m_machine->graphs.ranOnHost();
  const bool reads = step.kind == StepKind::Call || step.kind == StepKind::Mm || step.kind == StepKind::Addmm ||
                     step.kind == StepKind::Bmm || step.kind == StepKind::Convolution;
  if (reads && !m_mutating.contains(step.node.index)) return;
  (void)m_machine->driver.synchronize();  // kernels may still read what is uploaded again
  for (const Value& operand : operands) m_machine->memory.hostWrote(operand);
}

/// Results of the host, and copies of results in other strides.
Result<void> CudaDevice::hostMade(const Step& step, const Value& value) {
  constexpr int behindResults = 1 << 16;
  int item = behindResults;
  Result<void> done;
  forStorages(value, [&](const StoragePtr& storage) {
    if (done) done = m_machine->memory.adopt(storage, {step.slot, item++});
  });
  return done;
}

void CudaDevice::hostWrote(const Value& value) { m_machine->memory.hostWrote(value); }

/// Results go where the caller wants them on the device.
Result<void> CudaDevice::deliver(const ResidentCall& call, const Value& result) {
  const std::vector<Tensor> outputs = outputTensors(result);
  if (outputs.size() != call.outputs().size())
    return fail(ErrorCode::Internal, "{} outputs for {} places", outputs.size(), call.outputs().size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].storage()) continue;
    const ResidentCall::Place& place = call.outputs()[i];
    const std::int64_t bytes = extentBytes(outputs[i]);
    if (bytes > place.bytes)
      return fail(ErrorCode::Internal, "output {} takes {} bytes, its place has {}", i, bytes, place.bytes);
    KERF_TRY(const DeviceAddress from, m_machine->parts().addressOf(outputs[i]));
    if (bytes > 0 && from != place.address) KERF_CHECK(m_machine->queue.copy(place.address, from, bytes));
  }
  return {};
}

Result<void> CudaDevice::end(const Value& result) {
  DeviceMemory& memory = m_machine->memory;
  KERF_CHECK(m_machine->checks.finish());
  if (const ResidentCall* const call = ResidentCall::current(); call != nullptr) {
    KERF_CHECK(deliver(*call, result));
  } else {
    KERF_CHECK(memory.toHost(result));
    KERF_CHECK(memory.finish());
  }
  KERF_CHECK(m_machine->driver.synchronize());
  logAt(LogCategory::Compile, LogLevel::Debug, "CUDA so far: {} bytes uploaded, {} downloaded; {} graphs of {} nodes",
        memory.uploaded(), memory.downloaded(), m_machine->graphs.graphs(), m_machine->graphs.nodes());
  return {};
}

Result<std::chrono::nanoseconds> CudaDevice::timed(const std::function<Result<void>()>& work) {
  m_lastWasOnHost = false;
  return m_machine->driver.timed(
      work, [&](DeviceAddress from, std::int64_t bytes) { return m_machine->library.read(from, bytes); });
}

Result<std::chrono::nanoseconds> CudaDevice::timeRuns(int times) {
  if (!m_machine) return fail(ErrorCode::NotFound, "nothing ran on the device yet");
  return m_machine->graphs.timeLaunches(times);
}

}  // namespace kerf::inline backend
