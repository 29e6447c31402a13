// The ConvNeXt example of several ranks at the sizes that PyTorch's own example has, timed: on simulated ranks, or on those
// of mpirun. One line of JSON for each step. Not run by ctest: the whole example takes tens of gigabytes.
//
//     convnext_ranks [RANKS [BATCH [WIDTH [STEPS]]]]        mpirun -n 4 convnext_ranks 4 7 1024
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/modules/convnext_example.h"
#include "engine/distributed/mpi/mpi_communicator.h"
#include "engine/process/program.h"

namespace kerf {
namespace {

double peakGigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024 / 1024;
}

Result<void> timeSteps(Communicator& link, const ConvNextExample& example, int steps) {
  KERF_TRY(const DeviceMesh mesh, DeviceMesh::ofSizes({link.worldSize()}));
  for (int step = 0; step < steps; ++step) {
    MeshRank rank(mesh, link);
    const auto start = std::chrono::steady_clock::now();
    KERF_TRY(const ExampleStep done, trainConvNext(rank, example));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (link.rank() == 0)
      std::printf(
          "{\"ranks\": %d, \"images\": [%lld, %lld, %lld, %lld], \"step\": %d, \"seconds\": %.3f, \"loss\": "
          "%.9g, \"gradients\": %zu, \"peak_gib\": %.2f}\n",
          link.worldSize(), (long long)example.images[0], (long long)example.images[1], (long long)example.images[2],
          (long long)example.images[3], step, time.count(), done.loss, done.gradients.size(), peakGigabytes());
  }
  return {};
}

Result<void> timeAll(int ranks, const ConvNextExample& example, int steps) {
  constexpr auto patience = std::chrono::hours(1);
  if (startedByMpirun() > 1) {
    KERF_TRY(const auto link, openMpiWorld({programFolder()}, patience));
    return timeSteps(*link, example, steps);
  }
  return firstCause(
      runRanks(ranks, [&](Communicator& link) { return timeSteps(link, example, steps); }, {.timeout = patience}));
}

}  // namespace
}  // namespace kerf

int main(int count, char** arguments) {
  const auto number = [&](int i, int fallback) { return i < count ? std::atoi(arguments[i]) : fallback; };
  kerf::ConvNextExample example = kerf::ConvNextExample::full();
  example.images[0] = number(2, int(example.images[0]));
  example.images[3] = number(3, int(example.images[3]));
  const auto ran = kerf::timeAll(number(1, 4), example, number(4, 1));
  if (!ran) std::fprintf(stderr, "%s\n", ran.error().text().c_str());
  return ran ? 0 : 1;
}
