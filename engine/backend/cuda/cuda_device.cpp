#include "engine/backend/cuda/cuda_device.h"

#include <algorithm>

#include "engine/codegen_cuda/nvrtc.h"
#include "engine/support/log.h"

namespace kerf::inline backend {
namespace {

/// Blocks that a processor of the device may get at most: more than fit, so that none is idle at the end.
constexpr std::int64_t blocksPerProcessor = 32;

/// A matrix that is repeated along dimensions of stride 0, as bytes of one element's size.
constexpr std::string_view spreadSource = R"cuda(
extern "C" __global__ void kerf_spread(char* out, const char* self, long long rows, long long columns, long long outRow,
                                       long long outColumn, long long selfRow, long long selfColumn, long long size) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x; t < rows * columns; t += step) {
    const long long row = t / columns, column = t % columns;
    char* const to = out + (row * outRow + column * outColumn) * size;
    const char* const from = self + (row * selfRow + column * selfColumn) * size;
    if (size == 2) *(short*)to = *(const short*)from;
    if (size == 4) *(int*)to = *(const int*)from;
    if (size == 8) *(long long*)to = *(const long long*)from;
  }
}
)cuda";

const Tensor* tensorAt(const ValueList& args, std::size_t i) {
  return i < args.size() && args[i].isTensor() ? &args[i].tensor() : nullptr;
}

/// The last two dimensions, and the one before them.
DeviceMatrix matrixOf(const Tensor& tensor) {
  const std::size_t d = tensor.sizes().size();
  const bool isBatch = d == 3 && tensor.sizes()[0] > 1;
  return {0,
          tensor.sizes()[d - 2],
          tensor.sizes()[d - 1],
          tensor.strides()[d - 2],
          tensor.strides()[d - 1],
          isBatch ? tensor.strides()[0] : 0};
}

bool isDense(const Tensor& tensor) { return tensor.byteSize() == tensor.storage()->bytes(); }

}  // namespace

CudaDevice::CudaDevice(std::vector<CudaStepCode> codes, std::unordered_set<std::uint32_t> mutating)
    : m_codes(std::move(codes)), m_mutating(std::move(mutating)) {
  for (std::size_t c = 0; c < m_codes.size(); ++c) m_byStep.emplace(m_codes[c].name, c);
}

CudaDevice::~CudaDevice() {
  if (m_driver != nullptr) m_driver->release(m_arena);
}

void CudaDevice::openBlas() {
  if (std::exchange(m_triedBlas, true)) return;
  auto blas = DeviceBlas::open();
  if (blas)
    m_blas = std::move(*blas);
  else
    logAt(LogCategory::Compile, LogLevel::Warning, "matrix products run on the host: {}", blas.error().text());
}

Result<void> CudaDevice::warmUp() {
  KERF_CHECK(open());
  openBlas();
  return {};
}

Result<void> CudaDevice::open() {
  if (m_driver != nullptr) return {};
  KERF_TRY(CudaDriver* const driver, CudaDriver::get());
  m_driver = driver;
  m_memory = std::make_unique<DeviceMemory>(*driver);
  return loadKernels();
}

Result<void> CudaDevice::loadKernels() {
  const auto load = [&](const std::string& code, const std::string& name) -> Result<void*> {
    void *module = nullptr, *function = nullptr;
    const std::string doing = fmt::format("loading kernel {}", name);
    KERF_CHECK(m_driver->check(m_driver->functions().loadModule(&module, code.data()), doing));
    KERF_CHECK(m_driver->check(m_driver->functions().function(&function, module, name.c_str()), doing));
    return function;
  };
  for (std::size_t c = 0; c < m_codes.size(); ++c) {
    const CudaStepCode& code = m_codes[c];
    if (code.same != c) {
      m_functions.push_back(m_functions[code.same]);
      continue;
    }
    KERF_TRY(void* const function, load(code.cubin.empty() ? code.ptx : code.cubin, code.kernel.name));
    m_functions.push_back(function);
  }
  KERF_TRY(const CompiledSource compiled, compileSource(std::string(spreadSource), m_driver->architecture()));
  KERF_TRY(m_spread, load(compiled.cubin, "kerf_spread"));
  return {};
}

Result<void> CudaDevice::begin(const Program& program, const ValueList& slots) {
  KERF_CHECK(open());
  ValueList constants;
  for (std::size_t s = 0; s < slots.size(); ++s)
    if (program.slots[s].kind == SlotKind::Constant) constants.push_back(slots[s]);
  m_memory->forget(constants);
  return placeSlots(program, slots);
}

Result<void> CudaDevice::placeSlots(const Program& program, const ValueList& slots) {
  if (program.arenaBytes > m_arenaBytes) {
    m_driver->release(m_arena);
    m_arena = 0, m_arenaBytes = 0;
    KERF_TRY(m_arena, m_driver->allocate(program.arenaBytes));
    m_arenaBytes = program.arenaBytes;
  }
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const Slot& slot = program.slots[s];
    if (!slots[s].isTensor()) continue;
    const Tensor& tensor = slots[s].tensor();
    if (slot.kind == SlotKind::Arena) m_memory->place(tensor.storage(), m_arena + std::uint64_t(slot.arenaOffset));
    if (slot.kind == SlotKind::Input) KERF_CHECK(m_memory->forReading(tensor.storage()));
    if (slot.kind == SlotKind::Fresh) KERF_CHECK(m_memory->create(tensor.storage(), !isDense(tensor)));
  }
  return {};
}

Result<DeviceAddress> CudaDevice::addressOf(const Tensor& tensor, bool writes) {
  KERF_TRY(const DeviceAddress base,
           writes ? m_memory->forWriting(tensor.storage()) : m_memory->forReading(tensor.storage()));
  return base + std::uint64_t(tensor.offset() * itemSize(tensor.dtype()));
}

Result<void> CudaDevice::run(void* function, std::int64_t blocks, int threads, std::vector<std::uint64_t>& arguments,
                             std::string_view name) const {
  if (blocks == 0) return {};
  std::vector<void*> pointers;
  for (std::uint64_t& argument : arguments) pointers.push_back(&argument);
  return m_driver->check(m_driver->functions().launch(function, unsigned(blocks), 1, 1, unsigned(threads), 1, 1, 0,
                                                      nullptr, pointers.data(), nullptr),
                         fmt::format("launching {}", name));
}

Result<void> CudaDevice::launch(const Program&, const Step& step, const ValueList& slots) {
  const auto found = m_byStep.find(step.name);
  if (found == m_byStep.end()) return fail(ErrorCode::Internal, "there is no CUDA code for {}", step.name);
  const CudaStepCode& code = m_codes[found->second];
  std::vector<std::uint64_t> arguments;
  for (std::size_t b = 0; b < step.pointers.size(); ++b) {
    const Value& value = slots[std::size_t(step.pointers[b].slot)];
    if (!value.isTensor()) return fail(ErrorCode::Internal, "a kernel's buffer holds no tensor");
    KERF_TRY(const DeviceAddress address, addressOf(value.tensor(), code.writes[b]));
    arguments.push_back(address + std::uint64_t(step.pointers[b].byteOffset));
  }
  for (const std::int64_t bound : step.bounds) arguments.push_back(std::uint64_t(bound));
  const std::int64_t blocks = code.kernel.shape.blocks(step.bounds, m_driver->processors() * blocksPerProcessor);
  return run(m_functions[found->second], blocks, code.kernel.shape.threads, arguments, code.kernel.name);
}

/// `self`, repeated along the dimensions that it lacks, becomes `out`.
Result<void> CudaDevice::spread(const Tensor& self, const Tensor& out) {
  const auto strideOf = [&](std::size_t fromEnd) -> std::int64_t {
    const std::size_t d = self.sizes().size();
    return d < fromEnd || self.sizes()[d - fromEnd] == 1 ? 0 : self.strides()[d - fromEnd];
  };
  KERF_TRY(const DeviceAddress to, addressOf(out, true));
  KERF_TRY(const DeviceAddress from, addressOf(self, false));
  std::vector<std::uint64_t> arguments{to, from};
  for (const std::int64_t number : {out.sizes()[0], out.sizes()[1], out.strides()[0], out.strides()[1], strideOf(2),
                                    strideOf(1), itemSize(out.dtype())})
    arguments.push_back(std::uint64_t(number));
  const std::int64_t blocks =
      std::min<std::int64_t>((out.numel() + 255) / 256, m_driver->processors() * blocksPerProcessor);
  return run(m_spread, blocks, 256, arguments, "kerf_spread");
}

Result<bool> CudaDevice::multiply(const Step& step, const ValueList& args, const Tensor& out) {
  if (step.kind == StepKind::Convolution || out.numel() == 0) return false;
  openBlas();
  const std::size_t first = step.kind == StepKind::Addmm ? 1 : 0;
  const Tensor *a = tensorAt(args, first), *b = tensorAt(args, first + 1),
               *self = first == 1 ? tensorAt(args, 0) : nullptr;
  if (!m_blas || a == nullptr || b == nullptr || (first == 1 && self == nullptr)) return false;
  const DType dtype = out.dtype();
  if (a->dtype() != dtype || b->dtype() != dtype || (self && (self->dtype() != dtype || self->dim() > 2))) return false;
  DeviceMatrix left = matrixOf(*a), right = matrixOf(*b), to = matrixOf(out);
  if (!DeviceBlas::takes(left, right, to, dtype)) return false;
  const bool adds = self != nullptr && step.beta != 0;
  if (adds) KERF_CHECK(spread(*self, out));
  KERF_TRY(left.address, addressOf(*a, false));
  KERF_TRY(right.address, addressOf(*b, false));
  KERF_TRY(to.address, addressOf(out, true));
  const std::int64_t batch = out.dim() == 3 ? out.sizes()[0] : 1;
  KERF_CHECK(m_blas->multiply(left, right, to, dtype, batch, self ? step.alpha : 1, adds ? step.beta : 0));
  return true;
}

Result<void> CudaDevice::toHost(const Value& value) { return m_memory->toHost(value); }

void CudaDevice::ranOnHost(const Step& step, const ValueList& operands) {
  if (step.kind == StepKind::Call && !m_mutating.contains(step.node.index)) return;
  for (const Value& operand : operands) m_memory->hostWrote(operand);
}

void CudaDevice::hostWrote(const Value& value) { m_memory->hostWrote(value); }

Result<void> CudaDevice::end(const Value& result) {
  KERF_CHECK(m_memory->toHost(result));
  KERF_CHECK(m_memory->finish());
  KERF_CHECK(synchronize());
  logAt(LogCategory::Compile, LogLevel::Debug, "CUDA so far: {} bytes uploaded, {} downloaded", m_memory->uploaded(),
        m_memory->downloaded());
  return {};
}

Result<std::chrono::nanoseconds> CudaDevice::timed(const std::function<Result<void>()>& work) {
  return m_driver->timed(work);
}

Result<void> CudaDevice::synchronize() {
  return m_driver->check(m_driver->functions().synchronize(), "running on the CUDA device");
}

}  // namespace kerf::inline backend
