// Every request and answer through the codec: full, empty, cut short.
#include <cmath>
#include <limits>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/workbench/protocol/requests.h"
#include "app/workbench/protocol/worker_messages.h"
#include "engine/process/codec.h"

namespace kerf::workbench {
namespace {

/// Puts something that is no default into every field, differently each time.
class Filler {
 public:
  explicit Filler(std::size_t length) : m_length(length) {}

  template <class T>
  void fill(T& value) {
    if constexpr (HasFields<T>) {
      T::eachField(value, [&](const char*, auto& field) { fill(field); });
    } else if constexpr (std::is_enum_v<T>) {
      value = lastOf(T());
    } else if constexpr (std::is_same_v<T, bool>) {
      value = true;
    } else if constexpr (std::is_floating_point_v<T>) {
      constexpr double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-310, 0.1};
      value = odd[++m_count % std::size(odd)];
    } else if constexpr (std::is_integral_v<T>) {
      value = ++m_count % 2 != 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    } else {
      value = "text " + std::to_string(++m_count) + std::string("\0\xff\n", 3) + std::string(m_length, 'x');
    }
  }
  /// A list that a value of the same type holds stays short and ends: ranks of a program have no ranks.
  template <class T>
  void fill(std::vector<T>& values) {
    if (m_depth == mostDepth) return;
    ++m_depth;
    for (auto& value : values = std::vector<T>(3)) fill(value);
    --m_depth;
  }
  template <class T>
  void fill(std::shared_ptr<const T>& value) {
    auto made = std::make_shared<T>();
    fill(*made);
    value = std::move(made);
  }
  template <class T>
  void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <class A, class B>
  void fill(std::pair<A, B>& value) {
    fill(value.first);
    fill(value.second);
  }
  template <class Rep, class Period>
  void fill(std::chrono::duration<Rep, Period>& value) {
    value = std::chrono::duration<Rep, Period>(++m_count);
  }

 private:
  static constexpr int mostDepth = 4;
  std::size_t m_length;
  int m_count = 0;
  int m_depth = 0;
};

/// What is written, read and written again is the same, and no shorter text is read.
template <class T>
void expectRoundTrip(const T& value) {
  const auto bytes = encode(value);
  const auto read = decode<T>(bytes, "a message");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(encode(*read), bytes);
}

template <class T>
void expectRoundTrips() {
  expectRoundTrip(T());
  T full{};
  Filler(0).fill(full);
  expectRoundTrip(full);
  EXPECT_NE(encode(full), encode(T()));
  const auto bytes = encode(full);
  for (std::size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 200)
    EXPECT_FALSE(decode<T>(bytes.substr(0, length), "a part of a message")) << length;
  T huge{};
  Filler(100'000).fill(huge);
  expectRoundTrip(huge);
}

template <class Request>
class EveryRequest : public ::testing::Test {};

template <class List>
struct TestTypes;
template <class... Types>
struct TestTypes<std::tuple<Types...>> {
  using Type = ::testing::Types<Types...>;
};
template <class Tuple, class Indices>
struct WithoutLast;
template <class Tuple, std::size_t... Indices>
struct WithoutLast<Tuple, std::index_sequence<Indices...>> {
  using Type = std::tuple<std::tuple_element_t<Indices, Tuple>...>;
};
using RequestTypes = WithoutLast<Requests, std::make_index_sequence<std::tuple_size_v<Requests> - 1>>::Type;
TYPED_TEST_SUITE(EveryRequest, TestTypes<RequestTypes>::Type);

TYPED_TEST(EveryRequest, AndItsAnswerRoundTrip) {
  expectRoundTrips<TypeParam>();
  expectRoundTrips<typename TypeParam::Answer>();
}

TEST(Requests, HaveDifferentNames) {
  std::set<std::string_view> names;
#define KERF_ADD_NAME(Type) EXPECT_TRUE(names.insert(Type::name).second) << Type::name;
  KERF_REQUESTS(KERF_ADD_NAME)
#undef KERF_ADD_NAME
  EXPECT_EQ(names.size(), std::tuple_size_v<Requests> - 1);
}

TEST(JobEvents, RoundTrip) {
  ProgressEvent progress;
  NoteEvent note;
  MinifyEvent minify;
  FollowEvent follow;
  Filler filler(10);
  filler.fill(progress);
  filler.fill(note);
  filler.fill(minify);
  filler.fill(follow);
  for (const JobEvent& event : {JobEvent(progress), JobEvent(note), JobEvent(minify), JobEvent(follow)})
    expectRoundTrip(event);
}

TEST(GraphDoc, FindsNodesByNameAfterItTravelled) {
  GraphDoc graph;
  for (const char* name : {"x", "relu"}) graph.nodes.emplace_back().name = name;
  const auto read = decode<GraphDoc>(encode(graph), "a graph").value();
  EXPECT_EQ(read.find("relu"), 1);
  EXPECT_EQ(read.find("add"), -1);
}

}  // namespace
}  // namespace kerf::workbench
