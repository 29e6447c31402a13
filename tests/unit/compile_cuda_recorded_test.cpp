// Recorded calls of PyTorch's OpInfo by the device's kernels, on the CPU, beside the op's own kernel.
#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "engine/conformance/recorded_call.h"
#include "engine/conformance/recorded_calls.h"
#include "tests/support/device_on_host.h"
#include "tests/support/graph_fixture.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

using testing_support::DeviceOnHost;
using testing_support::expectClose;

struct DeviceCounts {
  int calls = 0, onDevice = 0;
};

double toleranceFor(const Value& value) {
  const DType dtype = value.isTensor() ? value.tensor().dtype() : DType::Float32;
  return dtype == DType::BFloat16 ? 0.03 : dtype == DType::Float16 ? 0.005 : isFloating(dtype) ? 1e-5 : 0;
}

/// Convolutions need a library of the device.
bool needsLibrary(std::string_view op) { return op.find("convolution") != std::string_view::npos; }

void checkOnDevice(const std::string& line, const SafetensorsFile& tensors, DeviceCounts& counts) {
  const auto call = readRecordedCall(line, tensors), other = readRecordedCall(line, tensors);
  ASSERT_TRUE(call && other);
  ++counts.calls;
  const auto given = DeviceOnHost::get().run(call->op, call->args, call->kwargs);
  const auto expected = referenceOps().call(call->op, other->args, other->kwargs);
  ASSERT_EQ(bool(given), bool(expected)) << call->id << (given ? "" : given.error().text());
  if (!given || !*given) return;
  ++counts.onDevice;
  const ValueList wanted = expected->isList() ? expected->list() : ValueList{*expected};
  const ValueList results = (*given)->isList() ? (*given)->list() : ValueList{**given};
  ASSERT_EQ(wanted.size(), results.size()) << call->id;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].isTensor()) continue;
    ASSERT_NO_FATAL_FAILURE(expectClose(wanted[i].tensor(), results[i].tensor(), toleranceFor(wanted[i]),
                                        fmt::format("{} output {}", call->id, i)));
  }
}

TEST(CudaRecordedCalls, AreWhatTheOpsOwnKernelsGive) {
  const auto file = recordedCallsFile(recordingsFolder() / "opinfo");
  if (!file) GTEST_SKIP() << testing::leftOut(recordingsFolder() / "opinfo");
  const auto tensors = readSafetensors(std::filesystem::path(*file).replace_extension(".safetensors"));
  ASSERT_TRUE(tensors) << tensors.error().text();
  std::map<std::string, DeviceCounts> counts;
  std::ifstream in(*file);
  for (std::string line; std::getline(in, line);) {
    const auto call = readRecordedCall(line, *tensors);
    ASSERT_TRUE(call) << call.error().text();
    if (needsLibrary(call->op) || findDeviceOp(call->op) == nullptr) continue;
    ASSERT_NO_FATAL_FAILURE(checkOnDevice(line, *tensors, counts[call->op]));
  }
  int all = 0, onDevice = 0;
  for (const auto& [op, count] : counts) {
    fmt::print("{}: {} of {} calls on the device\n", op, count.onDevice, count.calls);
    all += count.calls, onDevice += count.onDevice;
  }
  EXPECT_GE(counts.size(), 20u);
  EXPECT_GE(onDevice * 4, all * 3);  // the others: numbers without dimensions, complex ones, indices of 32 bits
}

}  // namespace
}  // namespace kerf
