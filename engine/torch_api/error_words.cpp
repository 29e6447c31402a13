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

struct ErrorWording {
  std::string_view op;        ///< the message begins with
  std::string_view contains;  ///< and holds
  Wording (*words)(std::string_view rest, const ValueList& args);
};
constexpr ErrorWording rules[] = {
    {"aten.", "do not broadcast", broadcastWords},
    {"aten.", "inner dimensions do not fit", productWords},
    {"aten.linear", "last dimension is", linearWords},
    {"aten.", "is invalid for input of size", shapeWords},
    {"aten.", "without a copy", viewWords},
    {"aten.cat", "sizes must match except", catWords},
    {"aten.conv", "input channels, not", channelsWords},
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
    if (error.message.starts_with(rule.op) && error.message.find(rule.contains) != std::string::npos)
      words = rule.words(withoutOp(error.message), args);
  }
  if (words) error.message = std::move(*words);
  return error;
}

}  // namespace kerf::inline torch_api
