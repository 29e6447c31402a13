#include "engine/capture/common/tensor_literal.h"

#include <charconv>
#include <cmath>

#include "engine/capture/common/call_syntax.h"
#include "engine/capture/common/random_data.h"
#include "engine/ir/argument.h"

namespace kerf::inline capture {
namespace {

/// Elements of a nested list, row-major, with the widest kind met.
struct Elements {
  std::vector<ComplexNumber> values;
  std::vector<std::int64_t> integers;  ///< parallel to values: exact where values are integers
  Sizes sizes;
  int rank = 0;               ///< 0 bool, 1 integer, 2 float, 3 complex
  bool unsignedOnly = false;  ///< an integer is beyond int64: `integers` holds its bits
};

/// 9223372036854775808 and more, which only uint64 has.
bool addUnsigned(const PythonExpression& expression, Elements& elements) {
  const std::string& text = expression.text;
  std::uint64_t value = 0;
  if (expression.kind != PythonKind::Integer) return false;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value <= std::uint64_t{INT64_MAX}) return false;
  elements.rank = std::max(elements.rank, 1);
  elements.values.push_back({double(value), 0});
  elements.integers.push_back(std::int64_t(value));
  elements.unsignedOnly = true;
  return true;
}

Result<void> addScalar(const PythonExpression& expression, Elements& elements) {
  if (addUnsigned(expression, elements)) return {};
  KERF_TRY(const Argument value, pythonToArgument(expression));
  const auto add = [&](int rank, ComplexNumber number, std::int64_t integer) {
    elements.rank = std::max(elements.rank, rank);
    elements.values.push_back(number);
    elements.integers.push_back(integer);
  };
  if (const bool* flag = value.as<bool>())
    add(0, {*flag ? 1.0 : 0.0, 0}, *flag ? 1 : 0);
  else if (const auto* integer = value.as<std::int64_t>())
    add(1, {double(*integer), 0}, *integer);
  else if (const double* number = value.as<double>())
    add(2, {*number, 0}, 0);
  else if (const auto* complex = value.as<ComplexNumber>())
    add(3, *complex, 0);
  else
    return failAtLine(expression.line, fmt::format("{} is not a tensor element", describePython(expression)));
  return {};
}

bool isSequence(const PythonExpression& expression) {
  return expression.kind == PythonKind::List || expression.kind == PythonKind::Tuple;
}

/// The argument of float('nan'), float('-inf'), float('1.5').
Result<double> floatOf(const PythonExpression& text) {
  const std::string_view digits = std::string_view(text.text).substr(text.text.starts_with('+') ? 1 : 0);
  double value = 0;  // from_chars knows "nan" and "inf" too
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem == std::errc() && end == digits.data() + digits.size() && !digits.ends_with(')')) return value;
  return failAtLine(text.line, fmt::format("float({}) is not a tensor element", describePython(text)));
}

/// float('nan'), float('inf'), complex(re, im): what tensorLiteral writes where Python has no literal.
Result<bool> addCall(const PythonExpression& call, Elements& elements) {
  if (call.kind != PythonKind::Call || call.positionalCount() == 0) return false;
  const PythonExpression& first = call.positional(0);
  if (call.items[0].isName("float") && first.kind == PythonKind::String && call.items.size() == 2) {
    KERF_TRY(const double value, floatOf(first));
    elements.values.push_back({value, 0});
    elements.integers.push_back(0);
    elements.rank = std::max(elements.rank, 2);
    return true;
  }
  if (!call.items[0].isName("complex") || call.positionalCount() != 2) return false;
  Elements parts;
  for (std::size_t i = 0; i < 2; ++i) {
    KERF_TRY(const bool special, addCall(call.positional(i), parts));
    if (!special) KERF_CHECK(addScalar(call.positional(i), parts));
  }
  if (parts.rank == 3) return failAtLine(call.line, "complex() of complex numbers is not a tensor element");
  elements.values.push_back({parts.values[0].real, parts.values[1].real});
  elements.integers.push_back(0);
  elements.rank = 3;
  return true;
}

Result<void> addElements(const PythonExpression& expression, std::size_t depth, Elements& elements) {
  const bool known = depth < elements.sizes.size();
  if (isSequence(expression) != known)
    return failAtLine(expression.line, "this nested list is ragged: its rows differ in shape");
  if (!known) {
    KERF_TRY(const bool special, addCall(expression, elements));
    if (special) return {};
    return addScalar(expression, elements);
  }
  if (std::int64_t(expression.items.size()) != elements.sizes[depth])
    return failAtLine(expression.line, "this nested list is ragged: its rows differ in length");
  for (const PythonExpression& item : expression.items) KERF_CHECK(addElements(item, depth + 1, elements));
  return {};
}

Result<Elements> readElements(const PythonExpression& expression) {
  Elements elements;
  for (const PythonExpression* level = &expression; isSequence(*level); level = &level->items[0]) {
    elements.sizes.push_back(std::int64_t(level->items.size()));
    if (level->items.empty()) break;
  }
  KERF_CHECK(addElements(expression, 0, elements));
  if (!elements.sizes.empty() && elements.sizes.back() == 0) elements.rank = 2;  // torch.tensor([]) is float32
  return elements;
}

Result<Tensor> toTensor(const Elements& elements, std::optional<DType> dtype) {
  constexpr DType defaults[] = {DType::Bool, DType::Int64, DType::Float32, DType::Complex64};
  constexpr DType exact[] = {DType::Int64, DType::Int64, DType::Float64, DType::Complex128};
  const auto rank = std::size_t(elements.rank);
  if (rank == 1 && elements.unsignedOnly && dtype != DType::UInt64)
    return fail(ErrorCode::BadInput, "a tensor element is beyond int64, and the tensor is not uint64");
  KERF_TRY(Tensor wide, Tensor::zeros(exact[rank], elements.sizes));
  for (std::size_t i = 0; i < elements.values.size(); ++i) {
    if (rank < 2)
      wide.data<std::int64_t>()[i] = elements.integers[i];
    else if (rank == 2)
      wide.data<double>()[i] = elements.values[i].real;
    else
      wide.data<ComplexNumber>()[i] = elements.values[i];
  }
  return wide.to(dtype.value_or(defaults[rank]));
}

class TensorReader {
 public:
  TensorReader(std::uint64_t seed, const ImportLimits& limits) : m_seed(seed), m_limits(limits) {}

  Result<TensorSource> read(const PythonExpression& expression) {
    if (expression.kind != PythonKind::Call) return unknown(expression);
    const PythonExpression& callee = expression.items[0];
    if (callee.kind == PythonKind::Attribute) return readWrapped(expression, callee);
    if (callee.kind != PythonKind::Name || expression.positionalCount() + expression.keywords.size() == 0)
      return unknown(expression);
    const std::string_view name = callee.text;
    if (name == "torch.nn.Parameter" || name == "Parameter" || name == "torch.nn.parameter.Parameter") {
      if (expression.positionalCount() == 0) return unknown(expression);
      KERF_TRY(TensorSource source, read(expression.positional(0)));
      source.isParameter = true;
      return source;
    }
    if (name == "tensor" || name == "torch.tensor") return readLiteral(expression);
    return readFilled(expression, name);
  }

 private:
  static std::unexpected<Error> unknown(const PythonExpression& expression) {
    return failAtLine(expression.line,
                      fmt::format("{} is not a tensor that is known here", describePython(expression)));
  }

  /// `X.to("cuda")`, `X.cuda()`, `X.requires_grad_()`, `X.half()`…: only the device matters.
  Result<TensorSource> readWrapped(const PythonExpression& call, const PythonExpression& callee) {
    KERF_TRY(TensorSource source, read(callee.items[0]));
    if (callee.text == "cuda")
      source.tensor.setDevice({"cuda", -1});
    else if (callee.text == "to" && call.positionalCount() == 1) {
      if (call.positional(0).kind == PythonKind::Name) {
        KERF_TRY(const DType dtype, dtypeOf(call.positional(0)));
        KERF_TRY(source.tensor, source.tensor.to(dtype));
      } else {
        KERF_TRY(Device device, deviceOf(call.positional(0)));
        source.tensor.setDevice(std::move(device));
      }
    } else if (callee.text != "requires_grad_" && callee.text != "cpu") {
      return unknown(call);
    }
    return source;
  }

  Result<std::optional<DType>> dtypeKeyword(const PythonExpression& call) const {
    const PythonExpression* dtype = call.keyword("dtype");
    if (dtype == nullptr || dtype->isNone()) return std::nullopt;
    KERF_TRY(const DType value, dtypeOf(*dtype));
    return value;
  }

  static Result<void> applyDevice(const PythonExpression& call, Tensor& tensor) {
    const PythonExpression* text = call.keyword("device");
    if (text == nullptr || text->isNone()) return {};
    KERF_TRY(Device device, deviceOf(*text));
    tensor.setDevice(std::move(device));
    return {};
  }

  Result<TensorSource> readLiteral(const PythonExpression& call) {
    if (call.positionalCount() != 1) return unknown(call);
    KERF_TRY(const std::optional<DType> dtype, dtypeKeyword(call));
    KERF_TRY(Elements elements, readElements(call.positional(0)));
    if (const PythonExpression* size = call.keyword("size")) {  // repr of an empty tensor: tensor([], size=(0, 4))
      KERF_TRY(elements.sizes, evaluateIntegers(*size, {}));
      KERF_TRY(const std::int64_t count, checkedNumel(elements.sizes));
      if (count != std::int64_t(elements.values.size()))
        return failAtLine(call.line, "the size does not fit the elements");
    }
    TensorSource source;
    KERF_TRY(source.tensor, toTensor(elements, dtype));
    KERF_CHECK(applyDevice(call, source.tensor));
    return source;
  }

  /// Shape of torch.randn([2, 3]), torch.randn(2, 3), torch.randint(1, size=[2, 3]), torch.full([2], 7).
  static Result<Sizes> shapeOf(const PythonExpression& call, std::string_view name) {
    if (const PythonExpression* size = call.keyword("size")) return evaluateIntegers(*size, {});
    const std::size_t count = call.positionalCount();
    if (name == "torch.randint" && count > 0) return evaluateIntegers(call.positional(count - 1), {});
    if (count > 0 && (isSequence(call.positional(0)) || name == "torch.full"))
      return evaluateIntegers(call.positional(0), {});
    Sizes sizes;
    for (std::size_t i = 0; i < count; ++i) {
      KERF_TRY(const std::int64_t value, evaluateInteger(call.positional(i), {}));
      sizes.push_back(value);
    }
    return sizes;
  }

  Result<TensorSource> readFilled(const PythonExpression& call, std::string_view name) {
    struct Row {
      std::string_view name;
      double value;
      bool random;
      bool lost;
    };
    static constexpr Row rows[] = {{"torch.randn", 0, true, true},    {"torch.rand", 0, true, true},
                                   {"torch.randint", 0, false, true}, {"torch.zeros", 0, false, false},
                                   {"torch.ones", 1, false, false},   {"torch.empty", 0, false, true}};
    for (const Row& row : rows) {
      if (row.name != name) continue;
      KERF_TRY(TensorSource source, allocate(call, name));
      source.lostData = row.lost && source.tensor.numel() > 0;
      if (row.random) fillLikeRandStrided(*source.tensor.storage(), source.tensor.dtype(), m_seed);
      if (row.value != 0) {
        KERF_TRY(source.tensor, filled(source.tensor, row.value));
      }
      KERF_CHECK(applyDevice(call, source.tensor));
      return source;
    }
    return unknown(call);
  }

  static Result<Tensor> filled(const Tensor& like, double value) {
    KERF_TRY(const Tensor wide, Tensor::zeros(DType::Float64, like.sizes()));
    for (std::int64_t i = 0; i < wide.numel(); ++i) wide.data<double>()[i] = value;
    return wide.to(like.dtype());
  }

  Result<TensorSource> allocate(const PythonExpression& call, std::string_view name) {
    KERF_TRY(const std::optional<DType> given, dtypeKeyword(call));
    const DType dtype = given.value_or(name == "torch.randint" ? DType::Int64 : DType::Float32);
    KERF_TRY(const Sizes sizes, shapeOf(call, name));
    const auto elements = checkedNumel(sizes);
    if (!elements) return failAtLine(call.line, elements.error().message, elements.error().code);
    if (*elements > m_limits.tensorBytes / itemSize(dtype))
      return failAtLine(call.line,
                        fmt::format("a tensor of shape {} is beyond the limit of {} bytes", fmt::join(sizes, "x"),
                                    m_limits.tensorBytes),
                        ErrorCode::TooLarge);
    TensorSource source;
    KERF_TRY(source.tensor, Tensor::zeros(dtype, sizes));
    return source;
  }

  std::uint64_t m_seed;
  const ImportLimits& m_limits;
};

std::string floatText(double value) {
  if (std::isnan(value)) return "float('nan')";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return pythonFloat(value);
}

std::string elementText(const Tensor& tensor, std::int64_t index) {
  switch (dtypeInfo(tensor.dtype()).kind) {
    case DTypeKind::Bool:
      return tensor.itemAsInt(index) != 0 ? "True" : "False";
    case DTypeKind::Integer:
      if (tensor.dtype() == DType::UInt64) return std::to_string(std::uint64_t(tensor.itemAsInt(index)));
      return std::to_string(tensor.itemAsInt(index));
    case DTypeKind::Float:
      return floatText(tensor.itemAsDouble(index));
    case DTypeKind::Complex:
      break;
  }
  const auto wide = tensor.to(DType::Complex128);
  const auto flat = wide ? wide->contiguous() : wide;
  if (!flat) return "complex(0, 0)";
  const ComplexNumber value = flat->data<ComplexNumber>()[index];
  return fmt::format("complex({}, {})", floatText(value.real), floatText(value.imag));
}

/// The elements below dimension `dim`, advancing `index` in row-major order.
void appendNested(const Tensor& tensor, std::size_t dim, std::int64_t& index, std::string& text) {
  if (dim == tensor.sizes().size()) {
    text += elementText(tensor, index++);
    return;
  }
  text += '[';
  for (std::int64_t i = 0; i < tensor.sizes()[dim]; ++i) {
    if (i != 0) text += ", ";
    appendNested(tensor, dim + 1, index, text);
  }
  text += ']';
}

}  // namespace

bool looksLikeTensor(std::string_view text) {
  for (const std::string_view start :
       {"tensor(", "torch.tensor(", "torch.randn(", "torch.rand(", "torch.randint(", "torch.zeros(", "torch.ones(",
        "torch.empty(", "torch.nn.Parameter(", "Parameter(", "torch.nn.parameter.Parameter("})
    if (text.starts_with(start)) return true;
  return false;
}

Result<TensorSource> readTensorSource(const PythonExpression& expression, std::uint64_t seed,
                                      const ImportLimits& limits) {
  return TensorReader(seed, limits).read(expression);
}

std::string tensorLiteral(const Tensor& tensor) {
  std::string options;
  if (tensor.dtype() != DType::Float32) options += fmt::format(", dtype={}", dtypeInfo(tensor.dtype()).torchName);
  if (tensor.device() != Device{}) options += fmt::format(", device={}", pythonString(tensor.device().text()));
  if (tensor.numel() == 0) return fmt::format("torch.empty([{}]{})", fmt::join(tensor.sizes(), ", "), options);
  std::string text = "tensor(";
  std::int64_t index = 0;
  appendNested(tensor, 0, index, text);
  return text + options + ")";
}

}  // namespace kerf::inline capture
