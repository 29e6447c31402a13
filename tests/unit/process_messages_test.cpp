// Messages between processes: what is written comes back, and nothing else comes in.
#include <cmath>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/process/channel.h"
#include "engine/process/value_codec.h"
#include "tests/support/patience.h"

namespace kerf {
namespace {

using namespace std::chrono_literals;

enum class Fruit { Apple, Pear };
constexpr Fruit lastOf(Fruit) { return Fruit::Pear; }

struct Inner {
  std::string name;
  std::vector<int> numbers;
  KERF_FIELDS(name, numbers)
  bool operator==(const Inner&) const = default;
};

struct Everything {
  bool flag = false;
  std::int64_t large = 0;
  std::uint8_t small = 0;
  double real = 0;
  Fruit fruit = Fruit::Apple;
  std::optional<Inner> maybe;
  std::shared_ptr<const Inner> shared;
  std::vector<std::pair<std::string, double>> pairs;
  std::variant<int, std::string, Inner> choice;
  std::chrono::milliseconds time{};
  std::filesystem::path path;
  KERF_FIELDS(flag, large, small, real, fruit, maybe, shared, pairs, choice, time, path)
};

Everything filled() {
  Everything value{true,           INT64_MIN,      255,  -0.5,    Fruit::Pear, Inner{"in\0ner\xff", {1, -2}}, {},
                   {{"a", 1e300}}, Inner{"c", {}}, 17ms, "/tmp/x"};
  value.shared = std::make_shared<const Inner>(Inner{std::string(100'000, 'y'), {}});
  return value;
}

TEST(Codec, EveryKindOfFieldComesBack) {
  const auto before = filled();
  const auto after = decode<Everything>(encode(before), "everything");
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(after->flag, true);
  EXPECT_EQ(after->large, INT64_MIN);
  EXPECT_EQ(after->small, 255);
  EXPECT_EQ(after->real, -0.5);
  EXPECT_EQ(after->fruit, Fruit::Pear);
  EXPECT_EQ(after->maybe, before.maybe);
  EXPECT_EQ(*after->shared, *before.shared);
  EXPECT_EQ(after->pairs, before.pairs);
  EXPECT_EQ(after->choice, before.choice);
  EXPECT_EQ(after->time, 17ms);
  EXPECT_EQ(after->path, "/tmp/x");
}

TEST(Codec, NothingInAllFieldsComesBack) {
  const auto after = decode<Everything>(encode(Everything()), "everything").value();
  EXPECT_FALSE(after.maybe);
  EXPECT_FALSE(after.shared);
  EXPECT_TRUE(after.pairs.empty());
  EXPECT_EQ(std::get<int>(after.choice), 0);
}

TEST(Codec, NanAndInfinitiesComeBack) {
  const std::vector<double> values{std::nan(""), INFINITY, -INFINITY, -0.0, 5e-324};
  const auto after = decode<std::vector<double>>(encode(values), "numbers").value();
  EXPECT_TRUE(std::isnan(after[0]));
  EXPECT_EQ(after[1], INFINITY);
  EXPECT_EQ(after[2], -INFINITY);
  EXPECT_TRUE(std::signbit(after[3]));
  EXPECT_EQ(after[4], 5e-324);
}

template <class T>
std::string problem(const Wire& wire) {
  const auto read = decode<T>(wireBytes(wire), "the message");
  EXPECT_FALSE(read);
  if (!read) {
    EXPECT_EQ(read.error().code, ErrorCode::Internal);
  }
  return read ? std::string() : read.error().message;
}

TEST(Codec, WhatDoesNotFitIsNamed) {
  auto wire = wireOf(filled());
  wire[6][1][0] = "text";
  EXPECT_EQ(problem<Everything>(wire),
            "the message cannot be read: shared.numbers: expected a whole number of 4 bytes, found string");
  wire = wireOf(filled());
  wire[4] = 2;
  EXPECT_EQ(problem<Everything>(wire), "the message cannot be read: fruit: expected a known choice, found number");
  wire = wireOf(filled());
  wire[2] = 256;
  EXPECT_EQ(problem<Everything>(wire),
            "the message cannot be read: small: expected a whole number of 1 bytes, found number");
  wire = wireOf(filled());
  wire.push_back(1);
  EXPECT_EQ(problem<Everything>(wire), "the message cannot be read: expected a list of 11 fields, found a list of 12");
  wire = wireOf(filled());
  wire[8][0] = 3;
  EXPECT_EQ(problem<Everything>(wire), "the message cannot be read: choice: expected a known choice, found number");
}

TEST(Codec, EveryTruncationAndFlippedByteIsRefusedOrRead) {
  const auto bytes = encode(filled()).substr(0, 400) + encode(Inner{"tail", {1, 2, 3}});
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode<Everything>(bytes.substr(0, length), "a part")) << length;
  const auto whole = encode(Inner{"name", {1, 2, 3}});
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = whole;
      changed[at] = char(changed[at] ^ (1 << bit));
      const auto read = decode<Inner>(changed, "a changed message");
      if (read) {
        EXPECT_LE(read->numbers.size(), 3u);
      }
    }
}

/// A message whose CBOR this is.
std::string messageOf(std::string_view cbor) {
  const std::uint64_t length = cbor.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + std::string(cbor);
}

TEST(Codec, DeepNestingIsRefusedBeforeAnythingIsBuilt) {
  EXPECT_TRUE(parseWire(messageOf("\x81\x81\x01"), "lists of one"));
  EXPECT_FALSE(parseWire(messageOf(std::string(1'000'000, '\x81')), "a tower"));        // lists of one
  EXPECT_FALSE(parseWire(messageOf(std::string(1'000'000, '\x9f')), "an open tower"));  // lists of unknown length
  EXPECT_FALSE(parseWire(messageOf("\x9b\xff\xff\xff\xff\xff\xff\xff\xff"), "a list that promises too much"));
  EXPECT_FALSE(parseWire(messageOf("\x7b\x7f\xff\xff\xff\xff\xff\xff\xff"), "a text that promises too much"));
}

TEST(Codec, BinaryValuesHaveTheBytesThatFollow) {
  const auto binary = [](std::vector<std::uint8_t> bytes) { return Wire(Wire::binary_t(std::move(bytes))); };
  const Wire wire = Wire::array({binary({1, 2, 3}), Wire{{"inner", binary({})}}, binary({4})});
  EXPECT_EQ(parseWire(wireBytes(wire), "a message").value(), wire);
  const std::string whole = wireBytes(wire);
  EXPECT_FALSE(parseWire(whole + "5", "bytes that are nobody's"));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parseWire(whole.substr(0, length), "a part")) << length;
  std::string cbor;
  Wire::to_cbor(binary({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), cbor);
  EXPECT_FALSE(parseWire(messageOf(cbor) + "abc", "a value that promises too much"));
  cbor.clear();
  Wire::to_cbor(binary({3, 0, 0}), cbor);
  EXPECT_FALSE(parseWire(messageOf(cbor) + "abc", "a value without a length"));
}

TEST(ValueCodec, TensorsAndTheirListsComeBack) {
  auto tensor = Tensor::zeros(DType::BFloat16, {2, 3}).value();
  tensor.data<BFloat16>()[4] = BFloat16(1.5f);
  const auto columns = tensor.viewAs({3, 2}, {1, 3}, 0);
  const Value value(ValueList{Value(columns), Value(), Value(std::int64_t{7}), Value(true), Value(2.5),
                              Value(ValueList{Value(Tensor::zeros(DType::Int64, {0, 4}).value())})});
  const auto after = decode<Value>(encode(value), "values").value();
  ASSERT_EQ(after.list().size(), 6u);
  const auto& read = after.list()[0].tensor();
  EXPECT_EQ(read.dtype(), DType::BFloat16);
  EXPECT_EQ(read.sizes(), (Sizes{3, 2}));
  EXPECT_EQ(read.itemAsDouble(3), 1.5);
  EXPECT_TRUE(after.list()[1].isNone());
  EXPECT_EQ(*after.list()[2].as<std::int64_t>(), 7);
  EXPECT_EQ(*after.list()[3].as<bool>(), true);
  EXPECT_EQ(*after.list()[4].as<double>(), 2.5);
  EXPECT_EQ(after.list()[5].list()[0].tensor().sizes(), (Sizes{0, 4}));
}

TEST(ValueCodec, TensorsWhoseBytesDoNotFitAreRefused) {
  auto wire = wireOf(Tensor::zeros(DType::Float32, {2, 2}).value());
  for (const Sizes& sizes : {Sizes{2, 3}, Sizes{-2, -2}, Sizes{INT64_MAX, 4}, Sizes{}}) {
    wire[1] = sizes;
    EXPECT_FALSE(decode<Tensor>(wireBytes(wire), "a tensor"));
  }
  wire[1] = Sizes{2, 2};
  EXPECT_TRUE(decode<Tensor>(wireBytes(wire), "a tensor"));
  wire[0] = 99;
  EXPECT_FALSE(decode<Tensor>(wireBytes(wire), "a tensor"));
}

std::string bytesOf(FrameKind kind, std::string_view body) {
  const auto header = frameHeader(kind, body.size());
  return std::string(header.data(), header.size()) + std::string(body);
}

TEST(FrameParser, CutsAStreamAtAnyPlace) {
  const auto stream =
      bytesOf(FrameKind::Event, "one") + bytesOf(FrameKind::Cancel, "") + bytesOf(FrameKind::Answer, "three");
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    FrameParser parser(100);
    for (std::size_t at = 0; at < stream.size(); at += step)
      ASSERT_TRUE(parser.feed(std::string_view(stream).substr(at, step)));
    EXPECT_EQ(parser.take()->body, "one");
    EXPECT_EQ(parser.take()->kind, FrameKind::Cancel);
    EXPECT_EQ(parser.take()->body, "three");
    EXPECT_FALSE(parser.take());
    EXPECT_TRUE(parser.atBoundary());
  }
}

TEST(FrameParser, RefusesWhatIsNoFrame) {
  EXPECT_EQ(FrameParser(100).feed("GET / HTTP/1.1\r\n").error().code, ErrorCode::BadInput);
  EXPECT_EQ(FrameParser(4).feed(bytesOf(FrameKind::Event, "12345")).error().code, ErrorCode::TooLarge);
  auto other = bytesOf(FrameKind::Event, "");
  other[4] = char(protocolVersion + 1);
  EXPECT_NE(FrameParser(100).feed(other).error().message.find("version"), std::string::npos);
  other = bytesOf(FrameKind::Event, "");
  other[6] = 77;
  EXPECT_EQ(FrameParser(100).feed(other).error().message, "there is no message of kind 77");
}

struct ChannelPair {
  ChannelPair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    a = std::make_unique<Channel>(ends[0]);
    b = std::make_unique<Channel>(ends[1]);
  }
  std::unique_ptr<Channel> a, b;
};

TEST(Channel, CarriesLargeFrames) {
  ChannelPair pair;
  const std::string large(30'000'000, 'z');
  std::jthread sender([&] { EXPECT_TRUE(pair.a->send(FrameKind::Answer, large)); });
  const auto frame = pair.b->receive(test::patience);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->body, large);
}

TEST(Channel, SaysThatNothingCameAndThatTheOtherEndIsGone) {
  ChannelPair pair;
  EXPECT_FALSE(pair.b->receive(1ms).value());
  pair.a.reset();
  EXPECT_EQ(pair.b->receive(1s).error().code, ErrorCode::Environment);
  EXPECT_TRUE(pair.b->isClosed());
  EXPECT_EQ(pair.b->send(FrameKind::Event, "x").error().code, ErrorCode::Environment);
}

TEST(Channel, AHalfFrameAtTheEndIsNamed) {
  ChannelPair pair;
  const auto bytes = bytesOf(FrameKind::Answer, "whole").substr(0, 18);
  EXPECT_EQ(::write(pair.a->file(), bytes.data(), bytes.size()), ssize_t(bytes.size()));
  pair.a.reset();
  EXPECT_NE(pair.b->receive(1s).error().message.find("in the middle"), std::string::npos);
}

}  // namespace
}  // namespace kerf
