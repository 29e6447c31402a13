#include <fstream>

#include <gtest/gtest.h>

#include <unistd.h>

#include "engine/tensor/safetensors.h"

namespace kerf {
namespace {

class Safetensors : public ::testing::Test {
 protected:
  void SetUp() override {
    m_folder = std::filesystem::temp_directory_path() / fmt::format("kerf_safetensors_{}", ::getpid());
    std::filesystem::create_directories(m_folder);
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }

  std::filesystem::path file() const { return m_folder / "t.safetensors"; }
  /// Writes a file with this header and `dataBytes` zero bytes; `length` overrides the true header length.
  void write(const std::string& header, std::size_t dataBytes, std::int64_t length = -1) const {
    std::ofstream out(file(), std::ios::binary);
    const std::uint64_t said = length < 0 ? header.size() : std::uint64_t(length);
    for (int i = 0; i < 8; ++i) out.put(char(said >> (8 * i)));
    out << header << std::string(dataBytes, '\0');
  }
  Error readError() const {
    auto result = readSafetensors(file());
    return result ? Error{ErrorCode::Internal, "no error", {}, 0, {}, {}} : result.error();
  }

  std::filesystem::path m_folder;
};

TEST_F(Safetensors, RoundTripsTensorsMetadataAndOrder) {
  Tensor odd = Tensor::zeros(DType::Bool, {3}).value();
  odd.data<bool>()[1] = true;
  Tensor grid = Tensor::zeros(DType::Float64, {2, 3}).value();
  for (int i = 0; i < 6; ++i) grid.data<double>()[i] = i * 0.5;
  SafetensorsFile out;
  out.tensors = {{"odd", odd},
                 {"transposed \"x\"", grid.viewAs({3, 2}, {1, 3}, 0)},
                 {"tail", grid.viewAs({2}, {1}, 4)},
                 {"empty", Tensor::zeros(DType::Int32, {0, 4}).value()}};
  out.metadata = {{"format", "pt"}};
  ASSERT_TRUE(writeSafetensors(file(), out).has_value());
  const SafetensorsFile in = readSafetensors(file()).value();
  ASSERT_EQ(in.tensors.size(), 4u);
  EXPECT_EQ(in.tensors[0].first, "odd");
  EXPECT_EQ(in.metadata, out.metadata);
  EXPECT_EQ(in.find("odd")->itemAsInt(1), 1);
  const Tensor& transposed = *in.find("transposed \"x\"");
  EXPECT_EQ(transposed.sizes(), (Sizes{3, 2}));
  EXPECT_EQ(transposed.itemAsDouble(1), 1.5);
  EXPECT_EQ(in.find("tail")->itemAsDouble(1), 2.5);
  EXPECT_EQ(in.find("empty")->sizes(), (Sizes{0, 4}));
  EXPECT_EQ(in.find("missing"), nullptr);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(m_folder), {}), 1) << "a temporary file is left";
}

TEST_F(Safetensors, EmptyTensorsMayHaveAnyOtherSizes) {
  write(R"({"x":{"dtype":"F32","shape":[3,0,9223372036854775807,4],"data_offsets":[0,0]}})", 0);
  const auto in = readSafetensors(file());
  ASSERT_TRUE(in) << in.error().text();
  const Tensor& empty = *in->find("x");
  EXPECT_TRUE(empty.inBounds());
  EXPECT_TRUE(empty.isContiguous());
  EXPECT_EQ(empty.numel(), 0);
}

TEST_F(Safetensors, MetadataIsAnyText) {
  write(R"({"__metadata__":{"a":"1","b":"2","a":"3"}})", 0);
  const std::vector<std::pair<std::string, std::string>> last = {{"a", "3"}, {"b", "2"}};
  EXPECT_EQ(readSafetensors(file()).value().metadata, last);
  SafetensorsFile odd;
  odd.metadata = {{"k\xff", "v\xfe"}};
  ASSERT_TRUE(writeSafetensors(file(), odd).has_value());
  EXPECT_EQ(readSafetensors(file()).value().metadata.at(0).first, "k\xef\xbf\xbd");
  odd.tensors = {{"\xff", Tensor::scalar(1, DType::Float32)}, {"\xfe", Tensor::scalar(2, DType::Float32)}};
  EXPECT_FALSE(writeSafetensors(file(), odd).has_value()) << "in the file both have the same name";
}

TEST_F(Safetensors, BoolsAreTrueWhateverByteTheyAre) {
  write(R"({"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 0);
  std::ofstream(file(), std::ios::binary | std::ios::app) << std::string("\0\2", 2);
  const SafetensorsFile in = readSafetensors(file()).value();
  EXPECT_EQ(in.find("x")->itemAsInt(0), 0);
  EXPECT_EQ(in.find("x")->itemAsInt(1), 1);
}

TEST_F(Safetensors, ReadsMisalignedData) {
  write(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[],"data_offsets":[1,5]}})",
        5);
  const auto in = readSafetensors(file()).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(in.find("b")->data<float>()) % 4, 0u);
  EXPECT_EQ(in.find("b")->itemAsDouble(), 0.0);
}

TEST_F(Safetensors, WritingThroughATensorLeavesTheFileAlone) {
  write(R"({"b":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", 8);
  readSafetensors(file()).value().find("b")->data<std::int64_t>()[0] = 7;
  EXPECT_EQ(readSafetensors(file()).value().find("b")->itemAsInt(), 0);
}

struct Lie {
  const char* name;
  std::string header;
  std::size_t dataBytes;
  std::int64_t length;
  const char* message;
};

std::string entry(const std::string& fields) { return R"({"a":{)" + fields + "}}"; }

TEST_F(Safetensors, RefusesEveryLie) {
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  const std::vector<Lie> lies{
      {"header beyond file", entry(good), 8, 1 << 20, "beyond the file"},
      {"header length negative", entry(good), 8, INT64_MAX, "beyond the file"},
      {"not JSON", "garbage", 0, -1, "not valid JSON"},
      {"deep nesting", std::string(1 << 20, '['), 0, -1, "unexpected an array"},
      {"nested object", R"({"a":{"b":{"c":{}}}})", 0, -1, "unexpected an object"},
      {"list on top", "[]", 0, -1, "unexpected an array"},
      {"trailing text", entry(good) + "{}", 8, -1, "not valid JSON"},
      {"field missing", entry(R"("dtype":"F32","shape":[2])"), 8, -1, "lacks dtype"},
      {"unknown dtype", entry(R"("dtype":"F99","shape":[2],"data_offsets":[0,8])"), 8, -1, "unknown dtype 'F99'"},
      {"negative size", entry(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), 8, -1, "negative"},
      {"size overflow", entry(R"("dtype":"F32","shape":[9223372036854775807,9],"data_offsets":[0,8])"), 8, -1, "2^63"},
      {"byte overflow", entry(R"("dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,8])"), 8, -1, "2^63"},
      {"number overflow", entry(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])"), 8, -1, "2^63"},
      {"wrong byte count", entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), 8, -1, "needs 12 bytes"},
      {"beyond data", entry(R"("dtype":"F32","shape":[2],"data_offsets":[8,16])"), 8, -1, "claims bytes [8, 16) of 8"},
      {"backwards", entry(R"("dtype":"F32","shape":[0],"data_offsets":[8,4])"), 8, -1, "claims bytes"},
      {"three offsets", entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), 8, -1, "unexpected a number"},
      {"hole at end", entry(good), 16, -1, "describes 8 bytes"},
      {"twice", R"({"a":{)" + good + R"(},"a":{)" + good + "}}", 8, -1, "appears twice"},
      {"overlap", R"({"a":{)" + good + R"(},"b":{)" + good + "}}", 8, -1, "starts at byte 0"},
  };
  for (const auto& lie : lies) {
    write(lie.header, lie.dataBytes, lie.length);
    const Error error = readError();
    EXPECT_TRUE(error.code == ErrorCode::BadInput || error.code == ErrorCode::TooLarge) << lie.name;
    EXPECT_NE(error.message.find(lie.message), std::string::npos) << lie.name << ": " << error.message;
    EXPECT_EQ(error.file, file().string()) << lie.name;
  }
}

TEST_F(Safetensors, NamesMissingAndOddFiles) {
  EXPECT_EQ(readError().code, ErrorCode::NotFound);
  EXPECT_EQ(readSafetensors(m_folder).error().code, ErrorCode::BadInput);
  std::ofstream(file()) << "abc";
  EXPECT_EQ(readError().code, ErrorCode::BadInput);
  std::ofstream(file(), std::ios::trunc) << "";
  EXPECT_EQ(readError().code, ErrorCode::BadInput);
  const auto refused = writeSafetensors(m_folder / "no" / "folder.safetensors", {});
  EXPECT_EQ(refused.error().code, ErrorCode::Environment);
}

}  // namespace
}  // namespace kerf
