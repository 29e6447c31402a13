// What kerf_mpi.so, the only part that is linked with MPI, gives the program that opens it: bytes from rank to rank.
#pragma once

#include <cstdint>

namespace kerf::inline distributed::inline mpi {

/// Functions give 0 where all is well, unless they say otherwise.
struct KerfMpiTransport {
  int version;  ///< kerfMpiVersion
  /// Starts MPI where it has not been started; it ends with the process.
  int (*start)();
  int (*rank)();
  int (*size)();
  /// Sends `bytes`, which must stay until `sent` has said 1 of the request.
  int (*send)(int to, int tag, const char* bytes, std::int64_t size, void** request);
  /// 1: has gone, and the request with it; 0: not yet.
  int (*sent)(void* request);
  /// Size of a message that is there, and the message; -1: none. Of any tag, in the order of sending, with anyTag.
  std::int64_t (*poll)(int from, int tag, void** message);
  int (*take)(void* message, char* bytes, std::int64_t size);
};

/// The one symbol of kerf_mpi.so: "kerfMpiTransport".
using KerfMpiEntry = const KerfMpiTransport* (*)();

constexpr int kerfMpiVersion = 2;
constexpr int anyTag = -1;

}  // namespace kerf::inline distributed::inline mpi
