// That kernels on the CPU fail where a device's threads would not have waited for each other (cuda_on_host.h): barriers
// of blocks, messages within clusters, copies on their way; and where shared memory ends.
#include <gtest/gtest-spi.h>

#include <numeric>
#include <stdexcept>

#include "tests/support/cuda_on_host.h"
#include "tests/support/tensor_cores_on_host.h"

namespace kerf {
namespace {

using testing_support::CudaOnHost;

/// A kernel that has something to wait for, of blocks of 256 threads, and what it gives of 1, 2, 3, ...
struct Waiting {
  std::string source;
  std::size_t cluster;
  int (*expected)(int place, int all);

  Waiting with(const std::string& text, const std::string& instead) const {
    const std::size_t at = source.find(text, source.find("T kerf_team(T value"));
    if (at == std::string::npos) throw std::runtime_error(text);  // which ends the test
    return {std::string(source).replace(at, text.size(), instead), cluster, expected};
  }
  void run() const {
    const std::string call = "waiting((const int*)kerfBuffers[0], (int*)kerfBuffers[1]);";
    auto host = CudaOnHost::compile(source, 256, call, int(cluster));
    if (!host) throw std::runtime_error(host.error().text());
    std::vector<int> x(256 * cluster), out(2 * x.size(), -1);
    std::iota(x.begin(), x.end(), 1);
    host->run({x, out}, int(cluster));
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], expected(int(i), int(x.size()))) << i;
  }
  bool fails() const {
    using Reporter = ::testing::ScopedFakeTestPartResultReporter;
    ::testing::TestPartResultArray results;
    {
      const Reporter reporter(Reporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
      run();
    }
    return results.size() > 0;
  }
};

/// The sum of x, and that of x + 1.
int sumTwice(int place, int all) { return all * (all + 1) / 2 + place % 2 * all; }
int unlike(int place, int) { return (place / 2 ^ 37) + 1; }

TEST(CudaBarriers, OfABlockAreMissed) {
  const Waiting block{std::string(preamble()) + R"cuda(
      __global__ void waiting(const int* x, int* out) {
        for (int t = 0; t < 2; ++t)
          out[threadIdx.x * 2 + t] = kerf_team<256>(x[threadIdx.x] + t, [](int a, int b) { return a + b; });
      })cuda",
                      1, sumTwice};
  block.run();
  EXPECT_TRUE(block.with("__syncthreads();\n    if (threadIdx.x % 32 == 0)", "if (threadIdx.x % 32 == 0)").fails());
  EXPECT_TRUE(block.with("__syncthreads();\n    value = parts", "value = parts").fails());
}

TEST(CudaBarriers, OfAClusterAreMissed) {
  const Waiting cluster{std::string(preamble()) + R"cuda(
      __global__ void waiting(const int* x, int* out) {
        __shared__ KerfMeeting<4> meeting;
        kerf_begin(meeting);
        int turn = 0;
        for (int t = 0; t < 2; ++t) {
          const int i = blockIdx.x * 256 + threadIdx.x;
          out[i * 2 + t] = kerf_cluster<256>(x[i] + t, [](int a, int b) { return a + b; }, meeting, turn);
        }
      })cuda",
                        4, sumTwice};
  cluster.run();
  EXPECT_TRUE(cluster.with("kerf_meet();", "").fails()) << "a message comes before it is counted";
  EXPECT_TRUE(cluster.with("kerf_expect(came, BLOCKS * 8)", "").fails());
  EXPECT_TRUE(cluster.with("kerf_expect(came, BLOCKS * 8)", "kerf_expect(came, BLOCKS * 8 - 8)").fails());
  EXPECT_TRUE(cluster.with("while (kerf_have_come(came, parity) == 0) {}", "").fails());
  EXPECT_TRUE(cluster.with(">> 1 & 1u", "& 1u").fails());
  const Waiting onePlace = cluster.with("turn & 1;", "0;").with(">> 1 & 1u", "& 1u");
  EXPECT_TRUE(onePlace.fails()) << "what was not read is written over";
}

/// Each thread copies four numbers, of which others read.
TEST(CudaBarriers, CopiesAreWaitedFor) {
  const Waiting copy{std::string(preamble()) + std::string(testing_support::tensorCoresOnHost) + R"cuda(
      __global__ void waiting(const int* x, int* out) {
        alignas(16) __shared__ int space[256];
        if (threadIdx.x < 64) kerf_copy_async(kerf_shared(space + threadIdx.x * 4), x + threadIdx.x * 4, true);
        kerf_copied();
        __syncthreads();
        out[threadIdx.x * 2] = out[threadIdx.x * 2 + 1] = space[threadIdx.x ^ 37];
      })cuda",
                     1, unlike};
  copy.run();
  EXPECT_TRUE(copy.with("kerf_copied();\n        __syncthreads", "__syncthreads").fails());
  EXPECT_TRUE(copy.with("kerf_copied();\n        __syncthreads();", "kerf_copied();").fails());
  EXPECT_TRUE(copy.with("x + threadIdx.x * 4, true", "x + threadIdx.x * 2, true").fails()) << "no multiple of 16";
}

TEST(CudaBarriers, SharedMemoryEndsWhereItWasAskedFor) {
  const Waiting beyond{std::string(preamble()) + R"cuda(
      __global__ void waiting(const int* x, int* out) {
        KERF_DYNAMIC_SHARED(space);
        if (threadIdx.x == 256) space[0] = 1;
        out[threadIdx.x * 2] = out[threadIdx.x * 2 + 1] = x[threadIdx.x ^ 37];
      })cuda",
                       1, unlike};
  beyond.run();
  EXPECT_TRUE(beyond.with("threadIdx.x == 256", "threadIdx.x == 255").fails());
}

}  // namespace
}  // namespace kerf
