#include "engine/backend/cuda/device_ops.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "engine/backend/cuda/device_link.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {

DeviceScratch::~DeviceScratch() {
  for (const Piece& piece : m_pieces) m_driver.release(piece.address);
}

/// Pieces in the order in which they are asked for: what fits is taken, what does not is exchanged.
Result<DeviceAddress> DeviceScratch::take(std::int64_t bytes) {
  if (m_used == m_pieces.size()) m_pieces.emplace_back();
  Piece& piece = m_pieces[m_used++];
  if (piece.address == 0 || piece.bytes < bytes) {
    m_driver.release(piece.address);
    piece = {};
    KERF_TRY(piece.address, m_driver.allocate(bytes));
    piece.bytes = bytes;
  }
  return piece.address;
}

Result<DeviceAddress> DeviceParts::addressOf(const Tensor& tensor, bool writes) const {
  KERF_TRY(const DeviceAddress base,
           writes ? memory.forWriting(tensor.storage()) : memory.forReading(tensor.storage()));
  return base + std::uint64_t(tensor.offset() * itemSize(tensor.dtype()));
}

DType sumType(DType dtype) {
  if (dtype == DType::UInt64) return dtype;  // half of its numbers are negative as an int64
  return !isFloating(dtype) ? DType::Int64 : dtype == DType::Float64 ? DType::Float64 : DType::Float32;
}

KernelMacros typeMacros(DType from, DType to) {
  const DType sum = sumType(to);
  return {{"T", std::string(memoryType(from))},
          {"O", std::string(memoryType(to))},
          {"A", std::string(memoryType(sum))},
          {"FROM(x)", convertText("(x)", from, sum)},
          {"TO(x)", convertText("(x)", sum, to)}};
}

std::vector<LibraryKernel> libraryKernels() {
  std::vector<LibraryKernel> all{checkKernel(), copyKernel(), readKernel()};
  for (auto* part : {attentionKernels, convolutionKernels, copyKernels, extremumKernels, flashKernels, integerKernels,
                     lineKernels, linePutKernels, orderKernels, putKernels, scanKernels, sortKernels})
    std::ranges::move(part(), std::back_inserter(all));
  return all;
}

std::vector<std::span<const DeviceOp>> allDeviceOps() {
  return {attentionDeviceOps(), collectiveDeviceOps(), convolutionDeviceOps(), copyDeviceOps(), extremumDeviceOps(),
          indexDeviceOps(),     integerDeviceOps(),    orderDeviceOps(),       scanDeviceOps(), scatterDeviceOps()};
}

const DeviceOp* findDeviceOp(std::string_view op) {
  static const auto table = [] {
    std::unordered_map<std::string_view, const DeviceOp*> rows;
    for (const auto ops : allDeviceOps())
      for (const DeviceOp& row : ops) rows.emplace(row.op, &row);
    return rows;
  }();
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

bool worksOnNothing(const BoundArguments& call) {
  return !call.values.empty() && call.values[0].isList() && call.values[0].list().empty();
}

}  // namespace kerf::inline backend
