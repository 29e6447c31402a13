// Inputs that lie on the device already: no copy of theirs is made, and what the host needs comes from where they lie.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/backend/cuda/device_memory.h"
#include "engine/backend/cuda/resident_call.h"

namespace kerf {
namespace {

int uploads = 0;

/// The device's memory is the host's.
DriverFunctions onHost() {
  DriverFunctions f;
  f.errorName = [](int, const char** name) { return *name = "an error", 0; };
  f.allocate = [](DeviceAddress* place, std::size_t bytes) { return *place = DeviceAddress(std::malloc(bytes)), 0; };
  f.release = [](DeviceAddress place) { return std::free(reinterpret_cast<void*>(place)), 0; };
  f.upload = [](DeviceAddress to, const void* from, std::size_t bytes, void*) {
    ++uploads;
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
  };
  f.download = [](void* to, DeviceAddress from, std::size_t bytes, void*) {
    return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), 0;
  };
  f.streamSynchronize = [](void*) { return 0; };
  return f;
}

class ResidentCallTest : public ::testing::Test {
 protected:
  ResidentCallTest() : driver(CudaDriver::over(onHost())), queue(*driver), memory(queue) { uploads = 0; }

  std::unique_ptr<CudaDriver> driver;
  DeviceQueue queue;
  DeviceMemory memory;
  Tensor tensor = *Tensor::zeros(DType::Float32, {3});
  float there[3] = {1, 2, 3};
  DeviceAddress address = DeviceAddress(there);
};

TEST_F(ResidentCallTest, AnInputIsReadWhereItLies) {
  ResidentCall call;
  call.lies(tensor.storage(), address);
  const ResidentCall::Scope scope(call);
  ASSERT_TRUE(memory.adopt(tensor.storage(), {0, 0}));
  EXPECT_EQ(*memory.forReading(tensor.storage()), address);
  EXPECT_EQ(uploads, 0);
  EXPECT_TRUE(memory.isNewerOnDevice(tensor));
  ASSERT_TRUE(memory.toHost(tensor));
  EXPECT_EQ(tensor.data<float>()[2], 3);
}

TEST_F(ResidentCallTest, OtherRunsUploadTheHostsBytes) {
  {
    ResidentCall call;
    call.lies(tensor.storage(), address);
    const ResidentCall::Scope scope(call);
    EXPECT_EQ(ResidentCall::current(), &call);
  }
  EXPECT_EQ(ResidentCall::current(), nullptr);
  ASSERT_TRUE(memory.adopt(tensor.storage(), {0, 0}));
  EXPECT_NE(*memory.forReading(tensor.storage()), address);
  EXPECT_EQ(uploads, 1);
}

TEST_F(ResidentCallTest, ResultsAreCountedWithWhatIsNoTensor) {
  const Tensor rows(tensor.storage(), DType::Float32, {2}, {2});
  const auto outputs = outputTensors(Value(ValueList{Value(tensor), Value(), Value(ValueList{Value(rows)})}));
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[1].storage(), nullptr);
  EXPECT_EQ(extentBytes(outputs[0]), 12);
  EXPECT_EQ(extentBytes(outputs[2]), 12) << "two elements with one between them";
}

}  // namespace
}  // namespace kerf
