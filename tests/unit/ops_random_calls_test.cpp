// Random calls of every op: whatever the arguments, a result or an error, never a crash; and where there is a result,
// the shape rule had foretold it.
#include <random>

#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

class RandomCalls {
 public:
  explicit RandomCalls(unsigned seed) : m_random(seed) {}

  std::int64_t below(std::int64_t limit) { return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(m_random); }

  /// Mostly small, sometimes absurd.
  std::int64_t integer() {
    static constexpr std::int64_t absurd[] = {std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max(), -(std::int64_t{1} << 40)};
    return below(40) == 0 ? absurd[below(4)] : below(7) - 2;
  }

  Tensor tensor() {
    static constexpr DType types[] = {DType::Float32,  DType::Float32,  DType::Float32, DType::Int64,
                                      DType::Bool,     DType::Float64,  DType::Float16, DType::UInt8,
                                      DType::BFloat16, DType::Complex64};
    Sizes sizes(std::size_t(below(5)));
    for (auto& size : sizes) size = below(4);
    const DType dtype = types[below(10)];
    if (isComplex(dtype)) return *Tensor::zeros(dtype, sizes);
    Tensor result = counting(sizes, dtype);
    if (result.dim() >= 2 && below(2) == 0) {
      std::swap(sizes[0], sizes[1]);
      Sizes strides = result.strides();
      std::swap(strides[0], strides[1]);
      result = result.viewAs(sizes, strides, 0);
    }
    return result;
  }

  Value value(std::string_view type) {
    const bool list = type.find('[') != std::string_view::npos;
    if (type.ends_with('?') && below(3) == 0) return {};
    if (below(50) == 0) return Value(std::string("nonsense"));
    if (list) {
      ValueList items;
      const auto element = type.substr(0, type.rfind('['));
      for (std::int64_t i = below(4); i > 0; --i) items.push_back(value(element));
      return items;
    }
    if (type.starts_with("Tensor")) return tensor();
    if (type.starts_with("float") || (type.starts_with("Scalar") && !type.starts_with("ScalarType") && below(2) == 0))
      return double(below(9)) / 4 - 1;
    if (type.starts_with("ScalarType")) return below(2) == 0 ? DType::Float32 : DType::Int64;
    if (type.starts_with("bool")) return below(2) == 0;
    if (type.starts_with("str")) return std::string("mean");
    if (type.starts_with("Device")) return Device{};
    if (type.starts_with("Any") && below(2) == 0) return tensor();
    if (type.starts_with("Layout") || type.starts_with("MemoryFormat") || type.starts_with("Generator")) return {};
    return integer();
  }

 private:
  std::mt19937 m_random;
};

Value withoutData(const Value& value) {
  if (value.isTensor()) {
    const Tensor& t = value.tensor();
    return Tensor(nullptr, t.dtype(), t.sizes(), t.strides(), t.offset());
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(withoutData(item));
  return items;
}

void expectForetold(const Value& shape, const Value& result, const std::string& op) {
  if (result.isList() && shape.isList()) {
    ASSERT_EQ(shape.list().size(), result.list().size()) << op;
    for (std::size_t i = 0; i < result.list().size(); ++i) expectForetold(shape.list()[i], result.list()[i], op);
  }
  if (!result.isTensor()) return;
  ASSERT_TRUE(shape.isTensor()) << op;
  EXPECT_EQ(shape.tensor().sizes(), result.tensor().sizes()) << op;
  EXPECT_EQ(shape.tensor().strides(), result.tensor().strides()) << op;
  EXPECT_EQ(shape.tensor().dtype(), result.tensor().dtype()) << op;
}

TEST(RandomCalls, GiveAResultOrAnErrorAndTheForetoldShape) {
  RandomCalls random(7);
  int results = 0;
  for (const OpInfo& op : allOps()) {
    const std::string name = op.schema.qualifiedName();
    for (int round = 0; round < 60; ++round) {
      ValueList args;
      KeywordValues kwargs;
      for (const SchemaArgument& argument : op.schema.arguments) {
        if (argument.defaultValue && random.below(2) == 0) break;
        Value value = random.value(argument.type);
        if (argument.keywordOnly)
          kwargs.emplace_back(argument.name, std::move(value));
        else
          args.push_back(std::move(value));
      }
      ValueList metas;
      for (const Value& arg : args) metas.push_back(withoutData(arg));
      const auto shape = inferShapes(name, metas, kwargs);
      const auto result = referenceOps().call(name, args, kwargs);
      if (!result) {
        EXPECT_FALSE(result.error().message.empty()) << name;
        continue;
      }
      ++results;
      if (shape)
        expectForetold(*shape, *result, name);
      else
        EXPECT_EQ(shape.error().code, ErrorCode::UnsupportedOp) << name << ": " << shape.error().text();
    }
  }
  EXPECT_GT(results, 2000);
}

}  // namespace
}  // namespace kerf
