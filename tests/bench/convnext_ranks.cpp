// The ConvNeXt example of several ranks at the sizes that PyTorch's own example has, timed: on simulated ranks, or on those
// of mpirun. One line of JSON for each step. With `float32` or `float64` the steps have this type, and each is compared
// with the step of one rank that has the whole images. Not run by ctest: the whole example takes tens of gigabytes.
//
//     convnext_ranks [RANKS [BATCH [WIDTH [STEPS [float32|float64]]]]]        mpirun -n 4 convnext_ranks 4 7 1024
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// A step of one rank, timed, where the others are compared with it.
struct WholeStep {
  bool wanted = false;
  ExampleStep step{};
};

Result<void> takeWhole(const ConvNextExample& example, WholeStep& whole) {
  const auto start = std::chrono::steady_clock::now();
  KERF_TRY(whole.step, trainConvNextWhole(example));
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::printf("{\"ranks\": 1, \"seconds\": %.3f, \"loss\": %.17g, \"gradients\": %zu, \"peak_gib\": %.2f}\n",
              time.count(), whole.step.loss, whole.step.gradients.size(), peakGigabytes());
  std::fflush(stdout);
  return {};
}

Result<void> timeSteps(Communicator& link, const ConvNextExample& example, int steps, const WholeStep& whole) {
  KERF_TRY(const DeviceMesh mesh, DeviceMesh::ofSizes({link.worldSize()}));
  for (int step = 0; step < steps; ++step) {
    MeshRank rank(mesh, link);
    const auto start = std::chrono::steady_clock::now();
    KERF_TRY(const ExampleStep done, trainConvNext(rank, example));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (link.rank() != 0) continue;
    std::string compared;
    if (whole.wanted)
      compared = fmt::format(", \"loss_difference\": {:.3g}, \"gradient_difference\": {:.3g}",
                             std::abs(done.loss - whole.step.loss), gradientDifference(done, whole.step));
    std::printf("%s\n",
                fmt::format("{{\"ranks\": {}, \"images\": [{}], \"step\": {}, \"seconds\": {:.3f}, \"loss\": {:.17g}, "
                            "\"gradients\": {}, \"peak_gib\": {:.2f}{}}}",
                            link.worldSize(), fmt::join(example.images, ", "), step, time.count(), done.loss,
                            done.gradients.size(), peakGigabytes(), compared)
                    .c_str());
    std::fflush(stdout);
  }
  return {};
}

Result<void> timeAll(int ranks, const ConvNextExample& example, int steps, WholeStep whole) {
  constexpr auto patience = std::chrono::hours(1);
  if (startedByMpirun() > 1) {
    KERF_TRY(const auto link, openMpiWorld({programFolder()}, patience));
    if (whole.wanted && link->rank() == 0) KERF_CHECK(takeWhole(example, whole));
    return timeSteps(*link, example, steps, whole);
  }
  if (whole.wanted) KERF_CHECK(takeWhole(example, whole));
  return firstCause(runRanks(ranks, [&](Communicator& link) { return timeSteps(link, example, steps, whole); },
                             {.timeout = patience}));
}

}  // namespace
}  // namespace kerf

int main(int count, char** arguments) {
  const auto number = [&](int i, int fallback) { return i < count ? std::atoi(arguments[i]) : fallback; };
  kerf::ConvNextExample example = kerf::ConvNextExample::full();
  example.images[0] = number(2, int(example.images[0]));
  example.images[3] = number(3, int(example.images[3]));
  if (count > 5 && std::string_view(arguments[5]) == "float64") example.dtype = kerf::DType::Float64;
  const auto ran = kerf::timeAll(number(1, 4), example, number(4, 1), {.wanted = count > 5});
  if (!ran) std::fprintf(stderr, "%s\n", ran.error().text().c_str());
  return ran ? 0 : 1;
}
