// kerf_mpi.so: messages of bytes over MPI. Nothing of Kerf is in it, and nothing else of Kerf knows MPI.
#include "engine/distributed/mpi/mpi_transport.h"

#define OMPI_SKIP_MPICXX 1  // the C interface alone
#include <mpi.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

namespace kerf::inline distributed::inline mpi {
namespace {

/// Behind MPI_Finalize a rank that exits with a failure has mpirun end the others: what they printed must be out.
void finish() {
  std::fflush(nullptr);
  int done = 0;
  MPI_Finalized(&done);
  if (done == 0) MPI_Finalize();
}

int start() {
  int started = 0, level = 0;
  MPI_Initialized(&started);
  if (started != 0) return 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) return 1;
  std::atexit(finish);
  return 0;
}

int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}

int size() {
  int number = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &number);
  return number;
}

int send(int to, int tag, const char* bytes, std::int64_t size, void** request) {
  if (size > INT_MAX) return 1;
  auto* own = new MPI_Request(MPI_REQUEST_NULL);
  *request = own;
  return MPI_Isend(bytes, int(size), MPI_CHAR, to, tag, MPI_COMM_WORLD, own) == MPI_SUCCESS ? 0 : 1;
}

int sent(void* request) {
  auto* own = static_cast<MPI_Request*>(request);
  int done = 0;
  MPI_Test(own, &done, MPI_STATUS_IGNORE);
  if (done != 0) delete own;
  return done != 0 ? 1 : 0;
}

std::int64_t poll(int from, int tag, void** message) {
  int arrived = 0, bytes = 0;
  MPI_Message found = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(from, tag == anyTag ? MPI_ANY_TAG : tag, MPI_COMM_WORLD, &arrived, &found, &status);
  if (arrived == 0) return -1;
  MPI_Get_count(&status, MPI_CHAR, &bytes);
  *message = new MPI_Message(found);
  return bytes < 0 ? 0 : bytes;
}

int take(void* message, char* bytes, std::int64_t size) {
  auto* own = static_cast<MPI_Message*>(message);
  const int result = MPI_Mrecv(bytes, int(size), MPI_CHAR, own, MPI_STATUS_IGNORE);
  delete own;
  return result == MPI_SUCCESS ? 0 : 1;
}

constexpr KerfMpiTransport transport{kerfMpiVersion, start, rank, size, send, sent, poll, take};

}  // namespace

extern "C" const KerfMpiTransport* kerfMpiTransport() { return &transport; }

}  // namespace kerf::inline distributed::inline mpi
