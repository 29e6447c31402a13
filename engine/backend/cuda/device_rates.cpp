#include "engine/backend/cuda/device_rates.h"

#include <algorithm>

#include "engine/backend/cuda/device_blas.h"
#include "engine/backend/cuda/device_library.h"

namespace kerf::inline backend {
namespace {

constexpr int rounds = 5;

double seconds(std::chrono::nanoseconds time) { return std::max(1e-9, std::chrono::duration<double>(time).count()); }

}  // namespace

Result<DeviceRates> measuredDeviceRates() {
  KERF_TRY(CudaDriver* const driver, CudaDriver::get());
  constexpr std::int64_t bytes = 512 << 20, size = 8192;
  KERF_TRY(const DeviceAddress from, driver->allocate(bytes));
  KERF_TRY(const DeviceAddress to, driver->allocate(bytes));
  DeviceRates rates;
  DeviceQueue queue(*driver);
  DeviceLibrary library(queue, std::filesystem::path());
  const auto read = [&](DeviceAddress place, std::int64_t count) { return library.read(place, count); };
  for (int round = 0; round < rounds; ++round) {
    KERF_TRY(const auto time, driver->timed(
                                  [&] {
                                    return driver->check(
                                        driver->functions().copy(to, from, std::size_t(bytes), driver->stream()),
                                        "copying on the CUDA device");
                                  },
                                  read));
    rates.copy = std::max(rates.copy, 2 * double(bytes) / seconds(time));
  }
  const auto blas = DeviceBlas::open(*driver);
  const DeviceMatrix a{from, size, size, size, 1, 0}, out{to, size, size, size, 1, 0};
  for (int round = 0; blas && round < rounds; ++round) {
    KERF_TRY(const auto time,
             driver->timed([&] { return (*blas)->multiply(a, a, out, DType::Float32, 1, 1, 0); }, read));
    rates.product = std::max(rates.product, 2.0 * double(size * size * size) / seconds(time));
  }
  driver->release(from);
  driver->release(to);
  return rates;
}

}  // namespace kerf::inline backend
