// What CudaDevice makes of each kind of step.
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/device_link.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"

namespace kerf::inline backend {
namespace {

/// Blocks that a processor of the device may get at most: more than fit, so that none is idle at the end.
constexpr std::int64_t blocksPerProcessor = 32;

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

}  // namespace

Result<void> CudaDevice::launch(const Program&, const Step& step, const ValueList& slots) {
  const auto found = m_byStep.find(step.name);
  if (found == m_byStep.end()) return fail(ErrorCode::Internal, "there is no CUDA code for {}", step.name);
  const CudaStepCode& code = m_codes[found->second];
  KernelArguments arguments;
  for (std::size_t b = 0; b < step.pointers.size(); ++b) {
    const Value& value = slots[std::size_t(step.pointers[b].slot)];
    if (!value.isTensor()) return fail(ErrorCode::Internal, "a kernel's buffer holds no tensor");
    KERF_TRY(const DeviceAddress address, m_machine->parts().addressOf(value.tensor(), code.writes[b]));
    arguments.add(address + std::uint64_t(step.pointers[b].byteOffset));
  }
  for (const std::int64_t bound : step.bounds) arguments.add(bound);
  if (code.kernel.shape.splits > 1) arguments.add(m_counters).add(m_parts);
  if (code.guarded) arguments.add(m_machine->checks.found());
  const std::int64_t blocks =
      code.kernel.shape.blocks(step.bounds, m_machine->driver.processors() * blocksPerProcessor);
  return m_machine->queue.launch(m_functions[found->second], blocks, code.kernel.shape.threads, arguments,
                                 code.kernel.name);
}

Result<bool> CudaDevice::checksIndex(const Step& step, const Step::IndexCheck& check, const Value& indices) {
  if (!indices.isTensor() || indices.tensor().sizes().size() > DeviceShape::most) return false;
  KERF_TRY(const DeviceAddress address, m_machine->parts().addressOf(indices.tensor()));
  KERF_CHECK(m_machine->checks.add(indices.tensor(), address,
                                   {check.opName, step.nodeName, check.size, check.dim, check.mayBeNegative}));
  return true;
}

/// `self`, repeated along the dimensions that it lacks, becomes `out`.
Result<void> CudaDevice::spread(const Tensor& self, const Tensor& out) {
  Sizes strides(out.sizes().size(), 0);
  const std::size_t lead = strides.size() - self.sizes().size();
  for (std::size_t d = 0; d < self.sizes().size(); ++d)
    if (self.sizes()[d] != 1) strides[lead + d] = self.strides()[d];
  KERF_TRY(const DeviceAddress to, m_machine->parts().addressOf(out, true));
  KERF_TRY(const DeviceAddress from, m_machine->parts().addressOf(self));
  return m_machine->library.copy(out.sizes(), to, out.strides(), from, strides, itemSize(out.dtype()));
}

Result<bool> CudaDevice::convolve(const Program& program, const Step& step, const ValueList& args, const Tensor& out) {
  const OpInfo* op = findOp(program.module->graph.node(step.node));
  const DeviceOp* row = op ? findDeviceOp(op->schema.qualifiedName()) : nullptr;
  if (row == nullptr) return false;
  openDnn();
  KERF_TRY(const BoundArguments bound, bindArguments(*op, args, {}));
  m_machine->scratch.reset();
  const DeviceParts parts = m_machine->parts();
  const ValueList outs{Value(out)};
  return row->run({parts, bound, outs});
}

/// Where the bias is a row for all rows.
Result<bool> CudaDevice::multiplyWithBias(const DeviceMatrix& a, const DeviceMatrix& b, const Tensor& bias,
                                          const DeviceMatrix& out, DType dtype) {
  const bool isRow = bias.dim() == 1 && bias.size(0) == out.columns && (bias.stride(0) == 1 || bias.size(0) == 1);
  if (!isRow || !m_machine->blasLt) return false;
  KERF_TRY(const DeviceAddress biasAt, m_machine->parts().addressOf(bias));
  DeviceBlasLt& lt = *m_machine->blasLt;
  if (!lt.takes(a, b, biasAt, out, dtype)) return false;
  KERF_CHECK(m_machine->queue.call({a.address, b.address, biasAt, out.address},
                                   [&] { return lt.multiply(a, b, biasAt, out, dtype); }));
  return true;
}

Result<bool> CudaDevice::multiply(const Program& program, const Step& step, const ValueList& args, const Tensor& out) {
  if (out.numel() == 0) return false;
  if (step.kind == StepKind::Convolution) return convolve(program, step, args, out);
  openBlas();
  const std::size_t first = step.kind == StepKind::Addmm ? 1 : 0;
  const Tensor *a = tensorAt(args, first), *b = tensorAt(args, first + 1),
               *self = first == 1 ? tensorAt(args, 0) : nullptr;
  if (!m_machine->blas || a == nullptr || b == nullptr || (first == 1 && self == nullptr)) return false;
  const DType dtype = out.dtype();
  if (a->dtype() != dtype || b->dtype() != dtype || (self && (self->dtype() != dtype || self->dim() > 2))) return false;
  DeviceMatrix left = matrixOf(*a), right = matrixOf(*b), to = matrixOf(out);
  if (!DeviceBlas::takes(left, right, to, dtype)) return false;
  const bool adds = self != nullptr && step.beta != 0;
  const DeviceParts parts = m_machine->parts();
  KERF_TRY(left.address, parts.addressOf(*a));
  KERF_TRY(right.address, parts.addressOf(*b));
  KERF_TRY(to.address, parts.addressOf(out, true));
  if (adds && step.alpha == 1 && step.beta == 1) {
    KERF_TRY(const bool done, multiplyWithBias(left, right, *self, to, dtype));
    if (done) return true;
  }
  if (adds) KERF_CHECK(spread(*self, out));
  const std::int64_t batch = out.dim() == 3 ? out.sizes()[0] : 1;
  KERF_CHECK(m_machine->queue.call({left.address, right.address, to.address}, [&] {
    return m_machine->blas->multiply(left, right, to, dtype, batch, self ? step.alpha : 1, adds ? step.beta : 0);
  }));
  return true;
}

/// Tensors for the op's results, on the device; those that prepare() fills lie on the host.
Result<ValueList> CudaDevice::makeResults(const DeviceOp& op, const Step& step, const BoundArguments& args) {
  if (op.inPlace) return ValueList{args.values[0]};
  KERF_TRY(const Value shape, runShapeRule(args));
  ValueList outs = shape.isList() ? shape.list() : ValueList{shape};
  const Device device = args.values[0].isList() ? args.tensors(0).at(0).device() : args.tensor(0).device();
  for (std::size_t i = 0; i < outs.size(); ++i) {
    if (!outs[i].isTensor()) continue;
    KERF_TRY(Tensor out, allocateEmpty(outs[i].tensor()));
    out.setDevice(device);
    const DeviceHome home{step.slot, int(i)};
    if ((op.filled >> i & 1) != 0)
      KERF_CHECK(m_machine->memory.adopt(out.storage(), home));
    else
      KERF_CHECK(m_machine->memory.create(out.storage(), home, !fillsStorage(out)));
    outs[i] = std::move(out);
  }
  return outs;
}

Result<std::optional<Value>> CudaDevice::runOp(const OpInfo& op, const Step& step, const CallValues& call) {
  const DeviceOp* const row = findDeviceOp(op.schema.qualifiedName());
  if (row == nullptr) return std::nullopt;
  auto bound = bindArguments(op, call.args, call.kwargs);
  if (!bound || worksOnNothing(*bound)) return std::nullopt;  // in the words of the op's own kernel
  if (isDeviceCollective(row->op)) {                          // all ranks take part in every run of it
    KERF_CHECK(m_machine->graphs.flush());
    m_machine->graphs.ranOnHost();
  }
  openBlas();
  if (row->op.find("convolution") != std::string_view::npos) openDnn();
  KERF_TRY(const ValueList outs, makeResults(*row, step, *bound));
  m_machine->scratch.reset();
  const DeviceParts parts = m_machine->parts();
  const DeviceCall work{parts, *bound, outs};
  const RandomState before = randomState();
  if (row->prepare != nullptr) KERF_CHECK(row->prepare(work));
  KERF_TRY(const bool done, row->run(work));
  const bool givesList = op.schema.returns.size() > 1 || (bound->values[0].isList() && !row->inPlace);
  if (done) return givesList ? Value(outs) : outs.front();
  randomState() = before;  // the host draws the same numbers
  return std::nullopt;
}

Result<std::optional<Value>> CudaDevice::call(const Program& program, const Step& step, const CallValues& call) {
  const Node& node = program.module->graph.node(step.node);
  if (node.isCall("operator.getitem"_op) && call.args.size() == 2 && call.args[0].isList()) {
    const auto* index = call.args[1].as<std::int64_t>();
    const ValueList& items = call.args[0].list();
    if (index != nullptr && *index >= 0 && std::size_t(*index) < items.size()) return items[std::size_t(*index)];
  }
  const OpInfo* const op = findOp(node);
  if (op == nullptr) return std::nullopt;
  if (node.isCall("aten.view.dtype"_op) && call.args.size() > 1 && call.args[1].as<DType>() &&
      *call.args[1].as<DType>() == DType::Bool)
    return std::nullopt;  // looks at the bytes
  if (has(op->traits, OpTrait::View) && !call.args.empty() && call.args[0].isTensor()) {
    auto seen = referenceOps().call(node.target(), call.args, call.kwargs);  // looks at no element unless it copies
    if (seen && seen->isTensor() && seen->tensor().storage() == call.args[0].tensor().storage())
      return *std::move(seen);
  }
  return runOp(*op, step, call);
}

}  // namespace kerf::inline backend
