#include "engine/distributed/nccl/nccl_library.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "engine/support/shared_library.h"

namespace kerf::inline distributed::inline nccl {
namespace {

enum NcclOp : int { ncclSum, ncclProduct, ncclMax, ncclMin, ncclMean };

struct NcclType {
  DType dtype;
  int type;
  bool isFloat;
};

constexpr NcclType ncclTypes[] = {
    {DType::Int8, 0, false},   {DType::UInt8, 1, false},   {DType::Int32, 2, false},  {DType::UInt32, 3, false},
    {DType::Int64, 4, false},  {DType::UInt64, 5, false},  {DType::Float16, 6, true}, {DType::Float32, 7, true},
    {DType::Float64, 8, true}, {DType::BFloat16, 9, true},
};

struct NcclOpName {
  std::string_view name;
  NcclOp op;
};

constexpr NcclOpName ncclOps[] = {
    {"sum", ncclSum}, {"product", ncclProduct}, {"prod", ncclProduct},
    {"max", ncclMax}, {"min", ncclMin},         {"avg", ncclMean},
};

std::optional<NcclReduction> complexReduction(DType dtype, NcclOp op) {
  if (op != ncclSum && op != ncclMean) return std::nullopt;
  if (dtype == DType::Complex64) return NcclReduction{7, op, 2};
  if (dtype == DType::Complex128) return NcclReduction{8, op, 2};
  return std::nullopt;
}

std::vector<std::string> ncclNames() {
  if (const char* chosen = std::getenv("KERF_NCCL"); chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> names = cudaLibraryNames("libnccl", {2});
  names.emplace_back("/usr/local/cuda/lib/libnccl.so.2");
  return names;
}

}  // namespace

Result<NcclFunctions> openNccl(const std::vector<std::string>& names) {
  KERF_TRY(const SharedLibrary l, SharedLibrary::open(names));
  NcclFunctions f;
  const bool complete = l.find("ncclGetVersion", f.version) && l.find("ncclGetUniqueId", f.uniqueId) &&
                        l.find("ncclCommInitRankConfig", f.start) && l.find("ncclCommFinalize", f.finalize) &&
                        l.find("ncclCommDestroy", f.destroy) && l.find("ncclCommAbort", f.abort) &&
                        l.find("ncclCommGetAsyncError", f.asyncError) && l.find("ncclGetErrorString", f.errorText) &&
                        l.find("ncclGetLastError", f.lastError) && l.find("ncclGroupStart", f.groupStart) &&
                        l.find("ncclGroupEnd", f.groupEnd) && l.find("ncclAllReduce", f.allReduce) &&
                        l.find("ncclReduceScatter", f.reduceScatter) && l.find("ncclAllGather", f.allGather) &&
                        l.find("ncclBroadcast", f.broadcast) && l.find("ncclSend", f.send) &&
                        l.find("ncclRecv", f.receive);
  if (!complete) return fail(ErrorCode::Environment, "this machine's {} lacks functions of NCCL 2.14", names.front());
  return f;
}

Result<const NcclFunctions*> installedNccl() {
  static const Result<NcclFunctions> opened = openNccl(ncclNames());
  if (!opened) return fail(Error(opened.error()));
  return &*opened;
}

std::string ncclVersion(const NcclFunctions& nccl) {
  int number = 0;
  if (nccl.version(&number) != ncclDone) return "unknown";
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::optional<NcclReduction> ncclReduction(DType dtype, std::string_view op) {
  const auto* const named = std::ranges::find(ncclOps, op, &NcclOpName::name);
  if (named == std::end(ncclOps)) return std::nullopt;
  if (isComplex(dtype)) return complexReduction(dtype, named->op);
  if (dtype == DType::Bool) {
    if (named->op == ncclMean) return std::nullopt;
    const bool isOr = named->op == ncclSum || named->op == ncclMax;
    return NcclReduction{ncclBytes, isOr ? ncclMax : ncclMin};
  }
  const auto* const type = std::ranges::find(ncclTypes, dtype, &NcclType::dtype);
  if (type == std::end(ncclTypes) || (named->op == ncclMean && !type->isFloat)) return std::nullopt;
  return NcclReduction{type->type, named->op};
}

}  // namespace kerf::inline distributed::inline nccl
