// Storages that are named after their bytes must have those bytes; PyTorch's fast names say nothing.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/capture/common/storage_directory.h"
#include "engine/support/hash.h"
#include "engine/tensor/torch_zip.h"
#include "engine/tensor/zip_inflate.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class StorageNames : public ::testing::Test {
 protected:
  void SetUp() override {
    graph.storageDirectory = fs::temp_directory_path() / fmt::format("kerf_names_{}_{}", getpid(), ++count);
    fs::create_directories(graph.storageDirectory);
  }
  void TearDown() override { fs::remove_all(graph.storageDirectory); }

  static StoragePtr bytesOf(int value) {
    auto storage = Storage::allocate(64 + value).value();
    std::fill_n(storage->data(), storage->bytes(), std::byte(value));
    return storage;
  }
  /// A storage under its SHA-1, or under `name`.
  const StorageRef& add(int value, std::string name = {}) {
    const auto storage = bytesOf(value);
    if (name.empty()) name = sha1Hex(storage->view());
    EXPECT_TRUE(writeTorchStorage(graph.storageDirectory / name, *storage));
    StorageRef reference;
    reference.hash = name;
    reference.bytes = storage->bytes();
    graph.storages.push_back(reference);
    return graph.storages.back();
  }
  void damage(std::size_t index) {
    auto storage = bytesOf(int(graph.storages[index].bytes) - 64);
    storage->data()[5] ^= std::byte{8};
    ASSERT_TRUE(writeTorchStorage(graph.storageDirectory / graph.storages[index].hash, *storage));
  }
  Result<StoragePtr> read(std::size_t index) {
    return readNamedStorage(graph, graph.storages[index], graph.storages[index].bytes);
  }

  CapturedGraph graph;
  static inline int count = 0;
};

TEST_F(StorageNames, OtherStoragesSayThatANameIsTheSha1) {
  for (int value : {1, 2, 3}) add(value);
  damage(1);
  EXPECT_TRUE(read(0));
  const auto damaged = read(1);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::BadInput);
  EXPECT_THAT(damaged.error().text(), HasSubstr(graph.storages[1].hash));
  EXPECT_TRUE(read(2));
}

TEST_F(StorageNames, FastNamesAreTakenAsTheyAre) {
  for (int value : {1, 2, 3}) add(value, std::string(39, 'f') + std::to_string(value));
  damage(1);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(read(i)) << i;
}

TEST_F(StorageNames, ACaptureThatSaysSoNeedsNoWitness) {
  graph.namedBySha1 = true;
  add(7);
  EXPECT_TRUE(read(0));
  damage(0);
  EXPECT_EQ(read(0).error().code, ErrorCode::BadInput);
  trustStorages(graph.storageDirectory);
  EXPECT_TRUE(read(0)) << "the store has checked it already";
}

TEST_F(StorageNames, AnotherFileOfTheFolderIsAWitnessToo) {
  add(1);
  add(2);
  graph.storages.pop_back();
  damage(0);
  EXPECT_EQ(read(0).error().code, ErrorCode::BadInput);
}

TEST_F(StorageNames, ARangeIsCheckedAgainstTheArchivesChecksum) {
  const auto file = graph.storageDirectory / "weights.bin";
  std::ofstream(file, std::ios::binary) << std::string(256, 'w');
  StorageRef storage;
  storage.file = FileRange{file, 64, 128};
  const std::string part(128, 'w');
  storage.crc32 = zipCrc32(std::as_bytes(std::span(part)));
  ASSERT_TRUE(mapCheckedRange(storage));
  storage.crc32 = *storage.crc32 ^ 1;
  storage.file->offset = 65;
  const auto damaged = mapCheckedRange(storage);
  EXPECT_EQ(damaged.error().code, ErrorCode::BadInput);
  EXPECT_THAT(damaged.error().text(), HasSubstr("weights.bin"));
  EXPECT_FALSE(mapCheckedRange(storage)) << "and again";
}

}  // namespace
}  // namespace kerf
