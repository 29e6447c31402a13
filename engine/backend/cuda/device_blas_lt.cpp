#include "engine/backend/cuda/device_blas_lt.h"

#include <algorithm>

#include "engine/support/shared_library.h"

namespace kerf::inline backend {

/// Declared after cuBLASLt's documentation: its headers are not needed to build.
struct DeviceBlasLt::Functions {
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*createDescription)(void** description, int compute, int scaleType) = nullptr;
  int (*setDescription)(void* description, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*destroyDescription)(void* description) = nullptr;
  int (*createLayout)(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                      std::int64_t distance) = nullptr;
  int (*destroyLayout)(void* layout) = nullptr;
  int (*createPreference)(void** preference) = nullptr;
  int (*setPreference)(void* preference, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*destroyPreference)(void* preference) = nullptr;
  int (*algorithms)(void* handle, void* description, void* a, void* b, void* c, void* d, void* preference, int wanted,
                    void* results, int* count) = nullptr;
  int (*multiply)(void* handle, void* description, const void* alpha, const void* a, void* layoutA, const void* b,
                  void* layoutB, const void* beta, const void* c, void* layoutC, void* d, void* layoutD,
                  const void* algorithm, void* workspace, std::size_t bytes, void* stream) = nullptr;
};

namespace {

// Numbers of cublasLtMatmulDescAttributes_t, cublasLtEpilogue_t and cublasLtMatmulPreferenceAttributes_t.
constexpr int transposeA = 3, transposeB = 4, epilogue = 7, biasPointer = 8;
constexpr int biasEpilogue = 4;
constexpr int mostWorkspace = 1, alignmentA = 5;
constexpr std::size_t workspaceBytes = std::size_t{32} << 20;

struct LtType {
  DType dtype;
  int data, compute, scale;  ///< of cudaDataType_t and cublasComputeType_t
};
constexpr LtType types[] = {
    {DType::Float32, 0, 68, 0}, {DType::Float64, 1, 70, 1}, {DType::Float16, 2, 68, 0}, {DType::BFloat16, 14, 68, 0}};

/// cublasLtMatmulHeuristicResult_t
struct HeuristicResult {
  std::uint64_t algorithm[8];
  std::size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

/// Of a matrix in columns: whether what lies there is its transpose, and the distance of columns; 0: neither.
struct Layout {
  bool transposed = false;
  std::int64_t distance = 0;
};
Layout layoutOf(std::int64_t rows, std::int64_t columns, std::int64_t rowStride, std::int64_t columnStride) {
  if ((rowStride == 1 || rows == 1) && (columns == 1 || columnStride >= rows))
    return {false, columns == 1 ? rows : columnStride};
  if ((columnStride == 1 || columns == 1) && (rows == 1 || rowStride >= columns))
    return {true, rows == 1 ? columns : rowStride};
  return {};
}

}  // namespace

struct DeviceBlasLt::Plan {
  const Functions& f;
  void* description = nullptr;
  std::array<void*, 3> layouts{};  ///< of the factors and of the result
  HeuristicResult chosen{};
  bool works = false;

  explicit Plan(const Functions& functions) : f(functions) {}
  ~Plan() {
    if (description != nullptr) f.destroyDescription(description);
    for (void* layout : layouts)
      if (layout != nullptr) f.destroyLayout(layout);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
};

DeviceBlasLt::DeviceBlasLt(std::unique_ptr<Functions> functions, CudaDriver& driver)
    : m_f(std::move(functions)), m_driver(driver) {}

DeviceBlasLt::~DeviceBlasLt() {
  m_plans.clear();
  if (m_handle != nullptr) m_f->destroy(m_handle);
  m_driver.release(m_workspace);
}

Result<std::unique_ptr<DeviceBlasLt>> DeviceBlasLt::open(CudaDriver& driver) {
  KERF_TRY(const SharedLibrary l, SharedLibrary::open(cudaLibraryNames("libcublasLt", {13, 12})));
  auto f = std::make_unique<Functions>();
  const bool complete = l.find("cublasLtCreate", f->create) && l.find("cublasLtDestroy", f->destroy) &&
                        l.find("cublasLtMatmulDescCreate", f->createDescription) &&
                        l.find("cublasLtMatmulDescSetAttribute", f->setDescription) &&
                        l.find("cublasLtMatmulDescDestroy", f->destroyDescription) &&
                        l.find("cublasLtMatrixLayoutCreate", f->createLayout) &&
                        l.find("cublasLtMatrixLayoutDestroy", f->destroyLayout) &&
                        l.find("cublasLtMatmulPreferenceCreate", f->createPreference) &&
                        l.find("cublasLtMatmulPreferenceSetAttribute", f->setPreference) &&
                        l.find("cublasLtMatmulPreferenceDestroy", f->destroyPreference) &&
                        l.find("cublasLtMatmulAlgoGetHeuristic", f->algorithms) &&
                        l.find("cublasLtMatmul", f->multiply);
  if (!complete) return fail(ErrorCode::Environment, "this machine's libcublasLt is too old");
  std::unique_ptr<DeviceBlasLt> blas(new DeviceBlasLt(std::move(f), driver));
  if (const int status = blas->m_f->create(&blas->m_handle); status != 0)
    return fail(ErrorCode::Environment, "cuBLASLt does not start (status {})", status);
  KERF_TRY(blas->m_workspace, driver.allocate(std::int64_t(workspaceBytes)));
  return blas;
}

/// Key: rows and columns of the result in columns, their shared size, distances, transpositions, type, alignment.
std::unique_ptr<DeviceBlasLt::Plan> DeviceBlasLt::makePlan(const Key& key, DeviceAddress bias) const {
  const auto [m, n, k, distanceA, distanceB, distanceC, transposed, typeAt, alignment] = key;
  const LtType& type = types[typeAt];
  auto plan = std::make_unique<Plan>(*m_f);
  const int operations[] = {int(transposed & 1), int(transposed >> 1)}, biasKind = biasEpilogue;
  if (m_f->createDescription(&plan->description, type.compute, type.scale) != 0) return plan;
  m_f->setDescription(plan->description, transposeA, &operations[0], sizeof(int));
  m_f->setDescription(plan->description, transposeB, &operations[1], sizeof(int));
  m_f->setDescription(plan->description, epilogue, &biasKind, sizeof(int));
  m_f->setDescription(plan->description, biasPointer, &bias, sizeof(bias));
  const bool a = operations[0] != 0, b = operations[1] != 0;
  if (m_f->createLayout(&plan->layouts[0], type.data, std::uint64_t(a ? k : m), std::uint64_t(a ? m : k), distanceA) !=
          0 ||
      m_f->createLayout(&plan->layouts[1], type.data, std::uint64_t(b ? n : k), std::uint64_t(b ? k : n), distanceB) !=
          0 ||
      m_f->createLayout(&plan->layouts[2], type.data, std::uint64_t(m), std::uint64_t(n), distanceC) != 0)
    return plan;
  void* preference = nullptr;
  if (m_f->createPreference(&preference) != 0) return plan;
  m_f->setPreference(preference, mostWorkspace, &workspaceBytes, sizeof(workspaceBytes));
  const auto bytes = std::uint32_t(alignment);
  for (int of = 0; of < 4; ++of) m_f->setPreference(preference, alignmentA + of, &bytes, sizeof(bytes));
  int count = 0;
  const auto& [left, right, result] = plan->layouts;
  const int status =
      m_f->algorithms(m_handle, plan->description, left, right, result, result, preference, 1, &plan->chosen, &count);
  m_f->destroyPreference(preference);
  plan->works = status == 0 && count == 1 && plan->chosen.status == 0;
  return plan;
}

/// Null where there is no kernel.
DeviceBlasLt::Plan* DeviceBlasLt::planFor(const DeviceMatrix& a, const DeviceMatrix& b, DeviceAddress bias,
                                          const DeviceMatrix& out, DType dtype) {
  // In columns: outᵀ = bᵀ aᵀ, and the bias is one element for each of its rows.
  const Layout left = layoutOf(b.columns, b.rows, b.columnStride, b.rowStride),
               right = layoutOf(a.columns, a.rows, a.columnStride, a.rowStride),
               result = layoutOf(out.columns, out.rows, out.columnStride, out.rowStride);
  const LtType* type = std::ranges::find(types, dtype, &LtType::dtype);
  if (left.distance == 0 || right.distance == 0 || result.distance == 0 || result.transposed || type == std::end(types))
    return nullptr;
  std::int64_t alignment = 16;
  for (const DeviceAddress address : {a.address, b.address, bias, out.address})
    while (address % std::uint64_t(alignment) != 0) alignment /= 2;
  const Key key{out.columns,
                out.rows,
                a.columns,
                left.distance,
                right.distance,
                result.distance,
                int(left.transposed) | int(right.transposed) << 1,
                type - std::begin(types),
                alignment};
  auto& plan = m_plans[key];
  if (!plan) plan = makePlan(key, bias);
  return plan->works ? plan.get() : nullptr;
}

bool DeviceBlasLt::takes(const DeviceMatrix& a, const DeviceMatrix& b, DeviceAddress bias, const DeviceMatrix& out,
                         DType dtype) {
  return planFor(a, b, bias, out, dtype) != nullptr;
}

Result<void> DeviceBlasLt::multiply(const DeviceMatrix& a, const DeviceMatrix& b, DeviceAddress bias,
                                    const DeviceMatrix& out, DType dtype) {
  const Plan* plan = planFor(a, b, bias, out, dtype);
  if (plan == nullptr) return fail(ErrorCode::Internal, "cuBLASLt does not take this product");
  m_f->setDescription(plan->description, biasPointer, &bias, sizeof(bias));
  const double one = 1, zero = 0;
  const float oneSingle = 1, zeroSingle = 0;
  const bool wide = dtype == DType::Float64;
  const auto pointer = [](DeviceAddress address) { return reinterpret_cast<void*>(address); };
  const int status = m_f->multiply(m_handle, plan->description, wide ? static_cast<const void*>(&one) : &oneSingle,
                                   pointer(b.address), plan->layouts[0], pointer(a.address), plan->layouts[1],
                                   wide ? static_cast<const void*>(&zero) : &zeroSingle, pointer(out.address),
                                   plan->layouts[2], pointer(out.address), plan->layouts[2], plan->chosen.algorithm,
                                   pointer(m_workspace), workspaceBytes, m_driver.stream());
  if (status != 0) return fail(ErrorCode::RuntimeFailed, "cuBLASLt failed (status {})", status);
  return {};
}

}  // namespace kerf::inline backend
