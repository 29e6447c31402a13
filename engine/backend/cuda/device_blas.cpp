#include "engine/backend/cuda/device_blas.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/support/shared_library.h"

namespace kerf::inline backend {

/// Declared after cuBLAS's documentation: its headers are not needed to build.
struct DeviceBlas::Functions {
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*setStream)(void* handle, void* stream) = nullptr;
  int (*setWorkspace)(void* handle, void* workspace, std::size_t bytes) = nullptr;
  int (*multiply)(void* handle, int transA, int transB, int m, int n, int k, const void* alpha, const void* a,
                  int typeA, int lda, long long strideA, const void* b, int typeB, int ldb, long long strideB,
                  const void* beta, void* c, int typeC, int ldc, long long strideC, int batch, int compute,
                  int algorithm) = nullptr;
};

namespace {

struct BlasType {
  DType dtype;
  int data, compute;  ///< of cudaDataType_t and cublasComputeType_t
};
constexpr BlasType types[] = {
    {DType::Float32, 0, 68}, {DType::Float64, 1, 70}, {DType::Float16, 2, 68}, {DType::BFloat16, 14, 68}};
constexpr int defaultAlgorithm = -1;
/// What PyTorch gives cuBLAS on a Hopper card.
constexpr std::int64_t workspaceBytes = 32 << 20;

/// A matrix in columns: whether it is the transpose of what lies there, and the distance of columns.
struct Columns {
  bool transposed = false;
  std::int64_t distance = 1;
};

std::optional<Columns> columnsOf(const DeviceMatrix& m) {
  const bool alongRows = m.columnStride == 1 || m.columns == 1, alongColumns = m.rowStride == 1 || m.rows == 1;
  if (alongColumns && (m.columns == 1 || m.columnStride >= m.rows))
    return Columns{false, std::max<std::int64_t>({m.columns == 1 ? m.rows : m.columnStride, m.rows, 1})};
  if (alongRows && (m.rows == 1 || m.rowStride >= m.columns))
    return Columns{true, std::max<std::int64_t>({m.rows == 1 ? m.columns : m.rowStride, m.columns, 1})};
  return std::nullopt;
}

DeviceMatrix transposed(DeviceMatrix m) {
  std::swap(m.rows, m.columns);
  std::swap(m.rowStride, m.columnStride);
  return m;
}

}  // namespace

DeviceBlas::DeviceBlas(std::unique_ptr<Functions> functions, CudaDriver& driver)
    : m_f(std::move(functions)), m_driver(driver) {}

DeviceBlas::~DeviceBlas() {
  if (m_handle != nullptr) m_f->destroy(m_handle);
  m_driver.release(m_workspace);
}

std::unique_ptr<DeviceBlas> DeviceBlas::over(CudaDriver& driver, Multiply multiply) {
  std::unique_ptr<DeviceBlas> blas(new DeviceBlas(nullptr, driver));
  blas->m_multiply = std::move(multiply);
  return blas;
}

Result<std::unique_ptr<DeviceBlas>> DeviceBlas::open(CudaDriver& driver) {
  KERF_TRY(const SharedLibrary library, SharedLibrary::open(cudaLibraryNames("libcublas", {13, 12})));
  auto functions = std::make_unique<Functions>();
  if (!library.find("cublasCreate_v2", functions->create) || !library.find("cublasDestroy_v2", functions->destroy) ||
      !library.find("cublasSetStream_v2", functions->setStream) ||
      !library.find("cublasSetWorkspace_v2", functions->setWorkspace) ||
      !library.find("cublasGemmStridedBatchedEx", functions->multiply))
    return fail(ErrorCode::Environment, "this machine's libcublas is too old");
  std::unique_ptr<DeviceBlas> blas(new DeviceBlas(std::move(functions), driver));
  int status = blas->m_f->create(&blas->m_handle);
  if (status == 0) status = blas->m_f->setStream(blas->m_handle, driver.stream());
  if (status != 0) return fail(ErrorCode::Environment, "cuBLAS does not start (status {})", status);
  KERF_TRY(blas->m_workspace, driver.allocate(workspaceBytes));  // a captured graph must find it where it was
  blas->m_f->setWorkspace(blas->m_handle, reinterpret_cast<void*>(blas->m_workspace), std::size_t(workspaceBytes));
  return blas;
}

bool DeviceBlas::takes(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceMatrix& out, DType dtype) {
  const auto fits = [](const DeviceMatrix& m) {
    const auto columns = columnsOf(m);
    return columns && std::max({m.rows, m.columns, columns->distance}) <= std::numeric_limits<int>::max();
  };
  const bool isKnown = std::ranges::find(types, dtype, &BlasType::dtype) != std::end(types);
  return isKnown && a.columns > 0 && a.rows > 0 && b.columns > 0 && fits(a) && fits(b) && fits(out);
}

Result<void> DeviceBlas::multiply(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceMatrix& out,
                                  ProductTypes of, std::int64_t batch, double alpha, double beta) const {
  if (m_multiply) return m_multiply(a, b, out, of, batch, alpha, beta);
  const auto c = columnsOf(out);
  if (c && c->transposed) return multiply(transposed(b), transposed(a), transposed(out), of, batch, alpha, beta);
  const auto left = columnsOf(a), right = columnsOf(b);
  const BlasType *type = std::ranges::find(types, of.factors, &BlasType::dtype),
                 *result = std::ranges::find(types, of.result, &BlasType::dtype);
  if (!c || !left || !right || type == std::end(types) || result == std::end(types))
    return fail(ErrorCode::Internal, "cuBLAS does not take this layout");
  const float alphaSingle = float(alpha), betaSingle = float(beta);
  const bool wide = of.factors == DType::Float64;
  const void* const alphaAt = wide ? static_cast<const void*>(&alpha) : &alphaSingle;
  const void* const betaAt = wide ? static_cast<const void*>(&beta) : &betaSingle;
  const auto pointer = [](const DeviceMatrix& m) { return reinterpret_cast<void*>(m.address); };
  const int status =
      m_f->multiply(m_handle, left->transposed, right->transposed, int(out.rows), int(out.columns), int(a.columns),
                    alphaAt, pointer(a), type->data, int(left->distance), a.batchStride, pointer(b), type->data,
                    int(right->distance), b.batchStride, betaAt, pointer(out), result->data, int(c->distance),
                    out.batchStride, int(batch), type->compute, defaultAlgorithm);
  if (status != 0) return fail(ErrorCode::RuntimeFailed, "cuBLAS failed (status {})", status);
  return {};
}

}  // namespace kerf::inline backend
