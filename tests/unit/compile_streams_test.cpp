// Results that are written past the caches: the same elements as those that are not, whatever lines they begin in.
#include <cstdlib>

#include "engine/codegen_llvm/streams.h"
#include "engine/codegen_llvm/target.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::GraphFixture;
using testing_support::partsOf;

/// From how many bytes on results are streamed while this lives.
struct StreamFrom {
  explicit StreamFrom(const char* bytes) { ::setenv("KERF_STREAM_FROM", bytes, 1); }
  ~StreamFrom() { ::unsetenv("KERF_STREAM_FROM"); }
};

std::vector<std::string> bytesOf(const Value& result) {
  std::vector<std::string> all;
  for (const Value& part : partsOf(result)) {
    const Tensor tensor = *part.tensor().contiguous();
    const std::int64_t item = itemSize(tensor.dtype());
    const auto* bytes = reinterpret_cast<const char*>(tensor.storage()->data()) + tensor.offset() * item;
    all.emplace_back(bytes, std::size_t(tensor.numel() * item));
  }
  return all;
}

/// How often the code of a graph's kernels streams, after the same bytes came out of it as of code that does not.
int streamsOf(const GraphFixture& f, const std::string& what) {
  const auto usual = compileFx(f.module, {});
  const StreamFrom always("1");
  const auto graph = compileFx(f.module, {});
  EXPECT_TRUE(usual && graph) << what;
  if (!usual || !graph) return 0;
  const auto expected = (*usual)->run(f.inputs), result = (*graph)->run(f.inputs);
  EXPECT_TRUE(expected && result) << what;
  if (!expected || !result) return 0;
  EXPECT_EQ(bytesOf(*expected), bytesOf(*result)) << what;
  int streams = 0;
  for (const KernelInfo& kernel : (*graph)->kernels()) streams += kernel.text("llvm").contains("!nontemporal");
  return floatsOfRegister() > 0 ? streams : 1;
}

NodeId transposed(GraphFixture& f, NodeId x) {
  const NodeId permute = f.call("aten.permute.default", {x, Argument::list({Argument(1), Argument(0)})});
  const NodeId add = f.call("aten.add.Tensor", {permute, Argument(1)});
  return f.call("aten.clone.default", {add}, {{"memory_format", Argument(MemoryFormat::Contiguous)}});
}

TEST(Streams, ElementsOfEveryCountAndType) {
  const DType dtypes[] = {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16, DType::Int64, DType::Int16};
  for (const DType dtype : dtypes)
    for (const std::int64_t count : {0, 1, 63, 2048, 2049, 4099, 10007}) {
      GraphFixture f;
      const NodeId x = f.input("x", dtype, {count});
      f.output({f.call("aten.mul.Tensor", {f.call("aten.add.Tensor", {x, x}), x})});
      const std::string what = fmt::format("{} of {}", count, int(dtype));
      EXPECT_EQ(streamsOf(f, what), count * itemSize(dtype) >= 4096) << what;
    }
}

TEST(Streams, SmallElementsAreNoHalfOfALine) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {100000});
  f.output({f.call("aten.gt.Scalar", {x, Argument(0.5)})});
  EXPECT_EQ(streamsOf(f, "bool"), floatsOfRegister() > 0 ? 0 : 1);
}

TEST(Streams, SeveralResultsOfOneLoop) {
  for (const std::int64_t count : {4096, 5003}) {
    GraphFixture f;
    const NodeId x = f.input("x", DType::Float32, {count});
    const NodeId half = f.call("prims.convert_element_type.default", {x, Argument(DType::BFloat16)});
    f.output({f.call("aten.exp.default", {x}), f.call("aten.tanh.default", {x}), half});
    EXPECT_EQ(streamsOf(f, fmt::to_string(count)), 1) << count;
  }
}

TEST(Streams, RowsOfReductions) {
  for (const DType dtype : {DType::Float32, DType::BFloat16})
    for (const std::int64_t columns : {64, 512, 1500, 3001}) {
      GraphFixture f;
      const NodeId x = f.input("x", dtype, {7, columns});
      const Argument last = Argument::list({Argument(-1)});
      const NodeId most = f.call("aten.amax.default", {x, last, true});
      const NodeId exp = f.call("aten.exp.default", {f.call("aten.sub.Tensor", {x, most})});
      f.output({f.call("aten.div.Tensor", {exp, f.call("aten.sum.dim_IntList", {exp, last, true})})});
      const std::string what = fmt::format("{} of {}", columns, int(dtype));
      const std::int64_t row = columns * itemSize(dtype);
      EXPECT_EQ(streamsOf(f, what), row >= 4096 || (row >= 128 && row % 64 == 0)) << what;
    }
}

TEST(Streams, Transposes) {
  const Sizes shapes[] = {{64, 128}, {192, 65}, {256, 512}, {130, 129}, {8, 1024}, {1024, 8}};
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float64, DType::Int64})
    for (const Sizes& sizes : shapes) {
      GraphFixture f;
      f.output({transposed(f, f.input("x", dtype, sizes))});
      const std::string what = fmt::format("{} x {} of {}", sizes[0], sizes[1], int(dtype));
      const std::int64_t row = sizes[0] * itemSize(dtype);
      EXPECT_EQ(streamsOf(f, what), row >= 128 && row % 64 == 0) << what;
    }
}

/// Heads side by side and one after the other, whose rows are whole lines or not.
TEST(Streams, RowsInAnotherOrder) {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Int64})
    for (const std::int64_t row : {64, 67, 1, 2048}) {
      GraphFixture f;
      const NodeId x = f.input("x", dtype, {3, 7, 5, row}), y = f.input("y", dtype, {3, 5, 7, row});
      const Argument order = Argument::list({Argument(0), Argument(2), Argument(1), Argument(3)});
      const NodeId permute = f.call("aten.permute.default", {x, order});
      const NodeId moved =
          f.call("aten.clone.default", {permute}, {{"memory_format", Argument(MemoryFormat::Contiguous)}});
      f.output({moved, f.call("aten.mul.Tensor", {f.call("aten.add.Tensor", {permute, y}), y})});
      streamsOf(f, fmt::format("rows of {} of {}", row, int(dtype)));
    }
}

TEST(Streams, InputsThatBeginAnywhere) {
  for (const std::int64_t offset : {1, 3, 16}) {
    GraphFixture f;
    const Tensor whole = testing_support::randomTensor(DType::Float32, {9000}, f.random);
    const NodeId x = f.input("x", Tensor(whole.storage(), DType::Float32, {60, 128}, {131, 1}, offset));
    f.output({f.call("aten.add.Tensor", {x, Argument(2)})});
    EXPECT_EQ(streamsOf(f, fmt::to_string(offset)), 1) << offset;
  }
}

/// The last row asks for itself: an index of its own is not read behind the last.
TEST(IndexedRows, AreReadAhead) {
  for (const DType dtype : {DType::Float32, DType::BFloat16})
    for (const std::int64_t rows : {1, 2, 37}) {
      GraphFixture f;
      Tensor places = *Tensor::zeros(DType::Int64, {rows});
      for (std::int64_t i = 0; i < rows; ++i) places.data<std::int64_t>()[i] = (i * 7 + 4) % 5;
      const NodeId w = f.input("w", dtype, {5, 300}), i = f.input("i", places);
      f.output({f.call("aten.add.Tensor", {f.call("aten.embedding.default", {w, i}), Argument(1)})});
      const auto graph = compileFx(f.module, {});
      ASSERT_TRUE(graph);
      const auto reads = [](const KernelInfo& kernel) { return kernel.text("llvm").contains("llvm.prefetch"); };
      EXPECT_EQ(std::ranges::any_of((*graph)->kernels(), reads), rows > 1);
      const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
      ASSERT_TRUE(reference && result);
      EXPECT_EQ(bytesOf(*reference), bytesOf(*result)) << rows;
    }
}

}  // namespace
}  // namespace kerf
