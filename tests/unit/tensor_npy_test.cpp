// Files that numpy.load reads.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/tensor/npy.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

std::string written(const Tensor& tensor) {
  // Of this process alone: tests run beside each other.
  const fs::path path = fs::path(::testing::TempDir()) / fmt::format("kerf_value_{}.npy", ::getpid());
  EXPECT_TRUE(writeNpy(path, tensor));
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  fs::remove(path);
  return bytes.str();
}

TEST(Npy, AHeaderOf64BytesTimesNThenTheElements) {
  Tensor tensor = *Tensor::zeros(DType::Int32, {2, 3});
  for (int i = 0; i < 6; ++i) tensor.data<std::int32_t>()[i] = i;
  const std::string bytes = written(tensor);
  ASSERT_EQ(bytes.size(), 128u + 24u);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(bytes[8], 118);
  EXPECT_EQ(bytes[9], 0);
  EXPECT_EQ(bytes.substr(10, 60), "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), } ");
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes[128 + 4], 1);
}

TEST(Npy, AViewIsWrittenRowByRow) {
  Tensor tensor = *Tensor::zeros(DType::UInt8, {2, 2});
  for (int i = 0; i < 4; ++i) tensor.data<std::uint8_t>()[i] = std::uint8_t(i);
  EXPECT_EQ(written(tensor.viewAs({2, 2}, {1, 2}, 0)).substr(128), std::string("\0\2\1\3", 4));
  EXPECT_EQ(written(tensor.viewAs({1}, {1}, 3)).substr(128), std::string("\3", 1));
}

TEST(Npy, WhatNumPyLacksIsFloat32) {
  const std::string bytes = written(Tensor::scalar(1.5, DType::BFloat16));
  EXPECT_THAT(bytes, ::testing::HasSubstr("'<f4', 'fortran_order': False, 'shape': (), }"));
  EXPECT_EQ(bytes.size(), 128u + 4u);
}

}  // namespace
}  // namespace kerf
