#include "engine/torch_api/error_words.h"

#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/ranges.h>

namespace kerf::inline torch_api {
namespace {

using Wording = std::optional<std::string>;

/// "aten.add.Tensor: rest" without its beginning.
std::string_view withoutOp(std::string_view message) {
  const std::size_t colon = message.find(": ");
  return message.starts_with("aten.") && colon != std::string_view::npos ? message.substr(colon + 2) : message;
}

/// The next "[2, 3]" of a text, which goes on behind it.
std::optional<std::vector<std::int64_t>> nextList(std::string_view& text) {
  const std::size_t open = text.find('['), close = text.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (std::size_t at = open + 1; at < close;) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data() + at, text.data() + close, number);
    if (problem != std::errc()) return std::nullopt;
    numbers.push_back(number);
    at = std::size_t(end - text.data()) + 2;
  }
  text.remove_prefix(close + 1);
  return numbers;
}

const Tensor* tensorAt(const ValueList& args, std::size_t i) {
  return i < args.size() && args[i].isTensor() ? &args[i].tensor() : nullptr;
}

Wording broadcastWords(std::string_view text, const ValueList&) {
  const auto a = nextList(text), b = nextList(text);
  if (!a || !b) return std::nullopt;
  const std::size_t rank = std::max(a->size(), b->size());
  for (std::size_t back = 0; back < std::min(a->size(), b->size()); ++back) {
    const std::int64_t x = (*a)[a->size() - 1 - back], y = (*b)[b->size() - 1 - back];
    if (x != y && x != 1 && y != 1)
      return fmt::format("The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}",
                         x, y, rank - 1 - back);
  }
  return std::nullopt;
}

Wording productWords(std::string_view, const ValueList& args) {
  const Tensor *a = tensorAt(args, 0), *b = tensorAt(args, 1);
  if (args.size() == 3 && a != nullptr && b != nullptr && tensorAt(args, 2) != nullptr && b->dim() == 2 &&
      a->dim() <= 2 && tensorAt(args, 2)->dim() == 2)  // addmm(input, mat1, mat2)
    a = b, b = tensorAt(args, 2);
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (a->dim() == 3 && b->dim() == 3)
    return fmt::format("Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].",
                       b->size(0), a->size(2), b->size(0), b->size(1));
  if (a->dim() == 2 && b->dim() == 1)
    return fmt::format("size mismatch, got input ({}), mat ({}x{}), vec ({})", a->size(0), a->size(0), a->size(1),
                       b->size(0));
  if (a->dim() < 2 || b->dim() < 2) return std::nullopt;
  const std::int64_t columns = a->size(a->dim() - 1);
  return fmt::format("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})",
                     columns == 0 ? 0 : a->numel() / columns, columns, b->size(b->dim() - 2), b->size(b->dim() - 1));
}

Wording linearWords(std::string_view, const ValueList& args) {
  const Tensor *a = tensorAt(args, 0), *b = tensorAt(args, 1);
  if (a == nullptr || b == nullptr || a->dim() < 1 || b->dim() != 2) return std::nullopt;
  const std::int64_t columns = a->size(a->dim() - 1);
  return fmt::format("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})",
                     columns == 0 ? 0 : a->numel() / columns, columns, b->size(1), b->size(0));
}

Wording shapeWords(std::string_view text, const ValueList&) {
  const auto sizes = nextList(text);
  const std::size_t number = text.rfind(' ');
  if (!sizes || number == std::string_view::npos) return std::nullopt;
  return fmt::format("shape '[{}]' is invalid for input of size{}", fmt::join(*sizes, ", "), text.substr(number));
}

Wording viewWords(std::string_view, const ValueList&) {
  return "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
         "contiguous subspaces). Use .reshape(...) instead.";
}

Wording catWords(std::string_view text, const ValueList& args) {
  const std::size_t place = text.find("dimension ");
  std::size_t dim = 0;
  if (place == std::string_view::npos ||
      std::from_chars(text.data() + place + 10, text.data() + text.size(), dim).ec != std::errc() || args.empty() ||
      !args[0].isList() || args[0].list().empty() || !args[0].list()[0].isTensor())
    return std::nullopt;
  const Tensor& first = args[0].list()[0].tensor();
  for (std::size_t i = 1; i < args[0].list().size(); ++i) {
    if (!args[0].list()[i].isTensor()) return std::nullopt;
    const Tensor& other = args[0].list()[i].tensor();
    for (std::int64_t d = 0; d < std::min(first.dim(), other.dim()); ++d)
      if (d != std::int64_t(dim) && first.size(d) != other.size(d))
        return fmt::format(
            "Sizes of tensors must match except in dimension {}. Expected size {} but got size {} for tensor "
            "number {} in the list.",
            dim, first.size(d), other.size(d), i);
  }
  return std::nullopt;
}

Wording channelsWords(std::string_view text, const ValueList& args) {
  const auto weight = nextList(text);
  std::int64_t groups = 0, expected = 0;
  const Tensor* input = tensorAt(args, 0);
  if (!weight || input == nullptr ||
      std::sscanf(std::string(text).c_str(), " with %ld groups expects %ld", &groups, &expected) != 2)
    return std::nullopt;
  const bool batched = input->dim() == std::int64_t(weight->size());
  return fmt::format(
      "Given groups={}, weight of size [{}], expected input[{}{}] to have {} channels, but got {} channels "
      "instead",
      groups, fmt::join(*weight, ", "), batched ? "" : "1, ", fmt::join(input->sizes(), ", "), expected,
      input->size(batched ? 1 : 0));
}

Wording meanWords(std::string_view text, const ValueList&) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> names = {{{"torch.int64", "Long"},
                                                                                          {"torch.int32", "Int"},
                                                                                          {"torch.int16", "Short"},
                                                                                          {"torch.int8", "Char"},
                                                                                          {"torch.uint8", "Byte"},
                                                                                          {"torch.bool", "Bool"}}};
  for (const auto& [name, shown] : names)
    if (text.ends_with(name))
      return fmt::format(
          "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}",
          shown);
  return std::nullopt;
}

Wording placeWords(std::string_view text, const ValueList&) { return "IndexError: " + std::string(text); }

/// The place that is named counts the indices before the mask.
Wording maskWords(std::string_view text, const ValueList& args) {
  const auto mask = nextList(text), whole = nextList(text);
  if (!mask || !whole || args.size() < 2) return std::nullopt;
  std::size_t before = 0;
  if (args[1].isList())
    for (const Value& index : args[1].list()) {
      if (index.isTensor() && index.tensor().dtype() == DType::Bool) break;
      ++before;
    }
  for (std::size_t d = 0; d < mask->size(); ++d)
    if (before + d >= whole->size() || (*mask)[d] != (*whole)[before + d])
      return fmt::format(
          "IndexError: The shape of the mask [{}] at index {} does not match the shape of the indexed tensor [{}] at "
          "index {}",
          fmt::join(*mask, ", "), d, fmt::join(*whole, ", "), before + d);
  return std::nullopt;
}

/// "IndexError: index out of range in self", which embedding and index_select say without the index.
Wording selfWords(std::string_view, const ValueList&) { return "IndexError: index out of range in self"; }

/// Words that are PyTorch's but for the op's name.
Wording plainWords(std::string_view text, const ValueList&) { return std::string(text); }

/// The first number of a text.
std::optional<std::int64_t> firstNumber(std::string_view text) {
  const std::size_t at = text.find_first_of("-0123456789");
  std::int64_t number = 0;
  if (at == std::string_view::npos ||
      std::from_chars(text.data() + at, text.data() + text.size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

Wording targetWords(std::string_view text, const ValueList&) {
  const auto target = firstNumber(text);
  return target ? Wording(fmt::format("IndexError: Target {} is out of bounds.", *target)) : std::nullopt;
}

Wording batchWords(std::string_view, const ValueList& args) {
  const Tensor *input = tensorAt(args, 0), *target = tensorAt(args, 1);
  if (input == nullptr || target == nullptr || input->dim() == 0 || target->dim() == 0 ||
      input->size(0) == target->size(0))
    return std::nullopt;
  return fmt::format("ValueError: Expected input batch_size ({}) to match target batch_size ({}).", input->size(0),
                     target->size(0));
}

Wording stackWords(std::string_view, const ValueList& args) {
  if (args.empty() || !args[0].isList()) return std::nullopt;
  const ValueList& tensors = args[0].list();
  for (std::size_t i = 1; i < tensors.size(); ++i)
    if (tensors[0].isTensor() && tensors[i].isTensor() && tensors[i].tensor().sizes() != tensors[0].tensor().sizes())
      return fmt::format("stack expects each tensor to be equal size, but got [{}] at entry 0 and [{}] at entry {}",
                         fmt::join(tensors[0].tensor().sizes(), ", "), fmt::join(tensors[i].tensor().sizes(), ", "), i);
  return std::nullopt;
}

/// "dimension out of range (expected [-2, 1], got 5)".
Wording rangeWords(std::string_view text, const ValueList&) {
  std::string_view rest = text;
  const auto range = nextList(rest);
  const auto got = firstNumber(rest);
  if (!range || range->size() != 2 || !got) return std::nullopt;
  return fmt::format("IndexError: Dimension out of range (expected to be in range of [{}, {}], but got {})",
                     (*range)[0], (*range)[1], *got);
}

Wording emptyWords(std::string_view, const ValueList&) { return "torch.cat(): expected a non-empty list of Tensors"; }
Wording signWords(std::string_view, const ValueList&) {
  return "upper bound and lower bound inconsistent with step sign";
}
Wording inferredWords(std::string_view, const ValueList&) { return "only one dimension can be inferred"; }

Wording expandWords(std::string_view, const ValueList& args) {
  const Tensor* self = tensorAt(args, 0);
  if (self == nullptr) return std::nullopt;
  std::vector<std::int64_t> wanted;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const ValueList one = {args[i]};
    for (const Value& size : args[i].isList() ? args[i].list() : one) {
      const auto* number = size.as<std::int64_t>();
      if (number == nullptr) return std::nullopt;
      wanted.push_back(*number);
    }
  }
  const std::size_t own = std::size_t(self->dim());
  for (std::size_t back = 1; back <= std::min(own, wanted.size()); ++back) {
    const std::int64_t has = self->size(std::int64_t(own - back)), asked = wanted[wanted.size() - back];
    if (asked != -1 && has != 1 && has != asked)
      return fmt::format(
          "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension {}.  "
          "Target "
          "sizes: [{}].  Tensor sizes: [{}]",
          asked, has, wanted.size() - back, fmt::join(wanted, ", "), fmt::join(self->sizes(), ", "));
  }
  return std::nullopt;
}

/// Names of dtypes as C++ prints its types.
std::string_view wordOf(DType dtype) {
  static constexpr std::pair<DType, std::string_view> names[] = {
      {DType::Float32, "float"},       {DType::Float64, "double"},
      {DType::Float16, "c10::Half"},   {DType::BFloat16, "c10::BFloat16"},
      {DType::Int64, "long"},          {DType::Int32, "int"},
      {DType::Int16, "short"},         {DType::Int8, "signed char"},
      {DType::UInt8, "unsigned char"}, {DType::Bool, "bool"}};
  for (const auto& [known, word] : names)
    if (known == dtype) return word;
  return "";
}

Wording productTypesWords(std::string_view, const ValueList& args) {
  const Tensor *a = tensorAt(args, 0), *b = tensorAt(args, 1), *c = tensorAt(args, 2);
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (c != nullptr) a = b, b = c;  // addmm(input, mat1, mat2)
  const std::string_view one = wordOf(a->dtype()), other = wordOf(b->dtype());
  if (one.empty() || other.empty() || one == other) return std::nullopt;
  return fmt::format("expected m1 and m2 to have the same dtype, but got: {} != {}", one, other);
}

Wording linearTypesWords(std::string_view text, const ValueList& args) {
  static constexpr std::pair<DType, std::string_view> names[] = {
      {DType::Float32, "Float"}, {DType::Float64, "Double"}, {DType::Float16, "Half"}, {DType::BFloat16, "BFloat16"},
      {DType::Int64, "Long"},    {DType::Int32, "Int"},      {DType::Int8, "Char"},    {DType::UInt8, "Byte"}};
  const Tensor *a = tensorAt(args, 0), *b = tensorAt(args, 1);
  if (a == nullptr || b == nullptr || tensorAt(args, 2) == nullptr) return productTypesWords(text, args);
  std::string_view shown[2];
  for (const auto& [dtype, name] : names) {
    if (dtype == a->dtype()) shown[0] = name;
    if (dtype == b->dtype()) shown[1] = name;
  }
  if (shown[0].empty() || shown[1].empty()) return std::nullopt;
  return fmt::format("mat1 and mat2 must have the same dtype, but got {} and {}", shown[0], shown[1]);
}

Wording negativeWords(std::string_view, const ValueList& args) {
  std::vector<std::int64_t> sizes;
  for (const Value& arg : args) {
    const ValueList one = {arg};
    for (const Value& size : arg.isList() ? arg.list() : one)
      if (const auto* number = size.as<std::int64_t>()) sizes.push_back(*number);
  }
  for (const std::int64_t size : sizes)
    if (size < 0)
      return fmt::format("Trying to create tensor with negative dimension {}: [{}]", size, fmt::join(sizes, ", "));
  return std::nullopt;
}

Wording stepWords(std::string_view, const ValueList&) { return "ValueError: step must be greater than zero"; }

Wording dotWords(std::string_view, const ValueList& args) {
  const Tensor *a = tensorAt(args, 0), *b = tensorAt(args, 1);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return fmt::format(
      "inconsistent tensor size, expected tensor [{0}] and src [{1}] to have the same number of elements, but got {0} "
      "and {1} elements respectively",
      a->numel(), b->numel());
}

struct ErrorWording {
  std::string_view op;        ///< the message begins with
  std::string_view contains;  ///< and holds
  Wording (*words)(std::string_view rest, const ValueList& args);
  std::string_view called = {};  ///< and the program called what ends so
};
constexpr ErrorWording rules[] = {
    {"aten.", "do not broadcast", broadcastWords},
    {"aten.", "inner dimensions do not fit", productWords},
    {"aten.linear", "last dimension is", linearWords},
    {"aten.", "is invalid for input of size", shapeWords},
    {"aten.", "without a copy", viewWords},
    {"aten.cat", "sizes must match except", catWords},
    {"aten.conv", "input channels, not", channelsWords},
    {"aten.index.Tensor", "is out of bounds for dimension", placeWords},
    {"aten.index_put", "is out of bounds for dimension", placeWords},
    {"aten.index", "the mask's shape", maskWords},
    {"aten.slice", "slice step must be positive", stepWords},
    {"aten.dot", "sizes do not fit", dotWords},
    {"aten.embedding", "is out of bounds for dimension", selfWords},
    {"aten.index_select", "is out of bounds for dimension", selfWords},
    {"aten.gather", "is out of bounds for dimension", plainWords},
    {"aten.scatter", "is out of bounds for dimension", plainWords},
    {"aten.multinomial", "", plainWords},
    {"aten.nll_loss", "is out of bounds for dimension", targetWords},
    {"aten.nll_loss", "target has shape", batchWords},
    {"aten.stack", "equal sizes", stackWords},
    {"aten.", "imension out of range (expected [", rangeWords},
    {"aten.cat", "at least one tensor", emptyWords},
    {"aten.arange", "no range from", signWords},
    {"aten.", "only one dimension can be -1", inferredWords},
    {"aten.expand", "does not match the tensor's size", expandWords},
    {"aten.", "must have one dtype", linearTypesWords, "linear"},
    {"aten.mm", "must have one dtype", productTypesWords},
    {"aten.addmm", "must have one dtype", productTypesWords},
    {"aten.", "is negative", negativeWords},
    {"aten.mean", "needs a floating point input", meanWords},
};

/// "relu() received an invalid combination of arguments - got (), but expected (Tensor input)".
Wording argumentsOf(std::string_view message, std::string_view called) {
  constexpr std::string_view noForm = " has no form for these arguments: got ";
  const std::size_t place = message.find(noForm);
  if (place == std::string_view::npos) return std::nullopt;
  const std::string_view name = called.substr(called.rfind('.') + 1);
  std::string rest(message.substr(place + noForm.size()));
  if (const std::size_t takes = rest.find(", but takes "); takes != std::string::npos)
    rest.replace(takes, 12, ", but expected ");
  return fmt::format("TypeError: {}() received an invalid combination of arguments - got {}", name, rest);
}

}  // namespace

Error inTorchsWords(Error error, std::string_view called, const ValueList& args) {
  if (error.code == ErrorCode::Cancelled) return error;
  Wording words = argumentsOf(error.message, called);
  for (const ErrorWording& rule : rules) {
    if (words) break;
    if (called.ends_with(rule.called) && error.message.starts_with(rule.op) &&
        error.message.find(rule.contains) != std::string::npos)
      words = rule.words(withoutOp(error.message), args);
  }
  if (words) error.message = std::move(*words);
  return error;
}

}  // namespace kerf::inline torch_api
