// Storage files: the zip that torch.save writes, read back byte for byte and refused when it lies.
#include <numeric>

#include "engine/support/hash.h"
#include "engine/tensor/torch_zip.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

using namespace std::string_literals;
using testing::TemporaryFolder;

StoragePtr counting(std::int64_t bytes) {
  StoragePtr storage = *Storage::allocate(bytes);
  for (std::int64_t i = 0; i < bytes; ++i) storage->data()[i] = static_cast<std::byte>(i * 7);
  return storage;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(TorchZip, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  for (const std::int64_t bytes : {0, 1, 63, 64, 255, 256, 65536, 300000}) {
    const StoragePtr storage = counting(bytes);
    ASSERT_TRUE(writeTorchStorage(folder.path() / "s", *storage));
    const auto read = readTorchStorage(folder.path() / "s", bytes);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ((*read)->bytes(), bytes);
    EXPECT_TRUE(std::ranges::equal((*read)->view(), storage->view()));
  }
}

TEST(TorchZip, PicklesTheStorageAsTorchDoes) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeTorchStorage(folder.path() / "s", *counting(128)));
  const std::string file = testing::readFile(folder.path() / "s");
  const std::string pickle = "\x80\x02(X\x07\0\0\0storageq\0ctorch.storage\nUntypedStorage\nq\x01X\x01\0\0\0"s +
                             "0q\x02X\x03\0\0\0cpuq\x03K\x80tq\x04Q."s;
  EXPECT_EQ(count(file, pickle), 1u);
  ASSERT_TRUE(writeTorchStorage(folder.path() / "s", *counting(70000)));
  EXPECT_EQ(count(testing::readFile(folder.path() / "s"), "q\x03J\x70\x11\x01\0tq\x04Q."s), 1u);
  ASSERT_TRUE(writeTorchStorage(folder.path() / "s", *counting(300)));
  EXPECT_EQ(count(testing::readFile(folder.path() / "s"), "q\x03M\x2c\x01tq\x04Q."s), 1u);
}

TEST(TorchZip, SaysWhichDeviceTheStorageLoadsOnto) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeTorchStorage(folder.path() / "s", *counting(128), "cuda:0"));
  const std::string file = testing::readFile(folder.path() / "s");
  EXPECT_EQ(count(file, "q\x02X\x06\0\0\0cuda:0q\x03K\x80tq\x04Q."s), 1u);
  EXPECT_TRUE(loadsOnto(std::as_bytes(std::span(file)), "cuda:0"));
  EXPECT_FALSE(loadsOnto(std::as_bytes(std::span(file)), "cuda:1"));
  EXPECT_FALSE(loadsOnto(std::as_bytes(std::span(file)), "cpu"));
  EXPECT_EQ((*readTorchStorage(folder.path() / "s", 128))->bytes(), 128);
}

TEST(TorchZip, AlignsTheBytesTo64) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeTorchStorage(folder.path() / "s", *counting(1000)));
  const std::string file = testing::readFile(folder.path() / "s");
  const StoragePtr storage = counting(1000);
  const std::size_t at = file.find(std::string(reinterpret_cast<const char*>(storage->data()), 1000));
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(at % 64, 0u);
}

TEST(TorchZip, WritesTheSameFileTwice) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeTorchStorage(folder.path() / "a", *counting(77)));
  ASSERT_TRUE(writeTorchStorage(folder.path() / "b", *counting(77)));
  EXPECT_EQ(testing::readFile(folder.path() / "a"), testing::readFile(folder.path() / "b"));
}

TEST(TorchZip, RefusesAnotherSize) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeTorchStorage(folder.path() / "s", *counting(128)));
  const auto read = readTorchStorage(folder.path() / "s", 256);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::BadInput);
  EXPECT_EQ(read.error().message, "the storage file holds 128 bytes, the capture says 256");
  EXPECT_EQ(read.error().file, (folder.path() / "s").string());
}

TEST(TorchZip, NoticesEveryDamagedByteOfTheData) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeTorchStorage(folder.path() / "s", *counting(256)));
  std::string file = testing::readFile(folder.path() / "s");
  const StoragePtr storage = counting(256);
  const std::size_t at = file.find(std::string(reinterpret_cast<const char*>(storage->data()), 256));
  for (const std::size_t offset : {0, 100, 255}) {
    std::string damaged = file;
    damaged[at + offset] = char(damaged[at + offset] ^ 1);
    testing::writeFile(folder.path() / "damaged", damaged);
    const auto read = readTorchStorage(folder.path() / "damaged", 256);
    ASSERT_FALSE(read) << offset;
    EXPECT_EQ(read.error().code, ErrorCode::BadInput);
  }
}

TEST(TorchZip, RefusesTruncatedFilesAndGarbage) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeTorchStorage(folder.path() / "s", *counting(256)));
  const std::string file = testing::readFile(folder.path() / "s");
  for (std::size_t size = 0; size < file.size(); size += 97) {
    testing::writeFile(folder.path() / "cut", file.substr(0, size));
    const auto read = readTorchStorage(folder.path() / "cut", 256);
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, ErrorCode::BadInput);
  }
}

/// A zip with one deflated member made by hand: `declared` bytes are promised, the stream holds zeros.
std::string deflatedZip(std::uint32_t declared, const std::string& name) {
  const std::string stream("\x63\x60\x60\x00\x00\x00\x03\x00\x01", 9);
  const auto number = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += char((value >> (8 * i)) & 0xff);
    return text;
  };
  const std::string common = number(20, 2) + number(0, 2) + number(8, 2) + number(0, 4) + number(0, 4) +
                             number(stream.size(), 4) + number(declared, 4) + number(name.size(), 2) + number(0, 2);
  const std::string local = "PK\x03\x04" + common + name + stream;
  const std::string central = "PK\x01\x02" + number(20, 2) + common + number(0, 2) + number(0, 2) + number(0, 2) +
                              number(0, 4) + number(0, 4) + name;
  return local + central + "PK\x05\x06" + number(0, 4) + number(1, 2) + number(1, 2) + number(central.size(), 4) +
         number(local.size(), 4) + number(0, 2);
}

TEST(TorchZip, NeverInflatesABomb) {
  const TemporaryFolder folder;
  testing::writeFile(folder.path() / "bomb", deflatedZip(4000000000u, "archive/data/0"));
  const std::int64_t before = liveStorageBytes();
  const auto wrongSize = readTorchStorage(folder.path() / "bomb", 16);
  ASSERT_FALSE(wrongSize);
  EXPECT_EQ(wrongSize.error().message, "'archive/data/0' claims 4000000000 bytes packed into 9");
  const auto anySize = readTorchStorage(folder.path() / "bomb", -1);
  ASSERT_FALSE(anySize);
  EXPECT_EQ(anySize.error().message, wrongSize.error().message);
  EXPECT_EQ(liveStorageBytes(), before);
}

TEST(TorchZip, RefusesArchivesThatAreNotOneStorage) {
  const TemporaryFolder folder;
  testing::writeFile(folder.path() / "other", deflatedZip(3, "archive/weights/0"));
  const auto read = readTorchStorage(folder.path() / "other", -1);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "the file has no <root>/data/<key> member: not one storage of torch.save");
}

}  // namespace
}  // namespace kerf
