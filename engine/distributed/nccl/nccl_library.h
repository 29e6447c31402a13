// NCCL's functions, opened at run time where a machine has it, and how it names types of elements and reductions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline distributed::inline nccl {

/// ncclUniqueId: passed by value.
struct NcclId {
  char bytes[128] = {};
};

/// The part of ncclConfig_t that NCCL 2.14 has; later ones fill up what `version` does not have.
struct NcclConfig {
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;  ///< calls return at once: what they wait for ends at a timeout
};

/// Functions of libnccl, declared after its documentation: its headers are not needed to build. A status is NcclStatus or
/// another error of NCCL.
struct NcclFunctions {
  int (*version)(int*) = nullptr;
  int (*uniqueId)(NcclId*) = nullptr;
  int (*start)(void** comm, int ranks, NcclId id, int rank, NcclConfig* config) = nullptr;
  int (*finalize)(void* comm) = nullptr;
  int (*destroy)(void* comm) = nullptr;
  int (*abort)(void* comm) = nullptr;
  int (*asyncError)(void* comm, int* status) = nullptr;
  const char* (*errorText)(int status) = nullptr;
  const char* (*lastError)(void* comm) = nullptr;
  int (*groupStart)() = nullptr;
  int (*groupEnd)() = nullptr;
  int (*allReduce)(const void* from, void* to, std::size_t count, int type, int op, void* comm, void* stream) = nullptr;
  int (*reduceScatter)(const void* from, void* to, std::size_t counts, int type, int op, void* comm,
                       void* stream) = nullptr;
  int (*allGather)(const void* from, void* to, std::size_t count, int type, void* comm, void* stream) = nullptr;
  int (*broadcast)(const void* from, void* to, std::size_t count, int type, int root, void* comm,
                   void* stream) = nullptr;
  int (*send)(const void* from, std::size_t count, int type, int peer, void* comm, void* stream) = nullptr;
  int (*receive)(void* to, std::size_t count, int type, int peer, void* comm, void* stream) = nullptr;
};

enum NcclStatus : int { ncclDone = 0, ncclRemoteError = 6, ncclStillGoing = 7 };
/// Whether NCCL says that something fails here; what else it says follows from another rank's end.
constexpr bool isOwnError(int status) {
  return status != ncclDone && status != ncclRemoteError && status != ncclStillGoing;
}

/// Environment where none of these libraries is there, or it lacks functions of NCCL 2.14.
Result<NcclFunctions> openNccl(const std::vector<std::string>& names);
/// The machine's: KERF_NCCL where it is set, else libnccl.so.2 on the loader's paths and at CUDA's usual places.
Result<const NcclFunctions*> installedNccl();
/// "2.28.9"
std::string ncclVersion(const NcclFunctions& nccl);

constexpr int ncclBytes = 1;  ///< ncclUint8: what moves without being reduced

/// How elements are reduced: bool as bytes, complex numbers as two.
struct NcclReduction {
  int type, op;
  int perElement = 1;  ///< NCCL's elements of one of the tensor's
};
/// None where NCCL has no such reduction of such elements (band, avg of integers, product of complex numbers).
std::optional<NcclReduction> ncclReduction(DType dtype, std::string_view op);

}  // namespace kerf::inline distributed::inline nccl
