#include "engine/capture/common/view_extent.h"

#include "engine/capture/common/call_syntax.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline capture {

std::vector<std::string> contiguousTexts(const Sizes& sizes, const std::vector<std::string>& texts) {
  const Sizes strides = contiguousStrides(sizes);
  std::vector<std::string> result(sizes.size());
  std::optional<Symbolic> product;  // in sympy's order of factors, as annotations have it
  for (std::size_t i = sizes.size(); i-- > 0;) {
    result[i] = product ? product->text() : std::to_string(strides[i]);
    const bool number = texts[i].find_first_not_of("0123456789") == std::string::npos;
    if (number && !product) continue;
    const auto size = number ? Symbolic::integer(std::max<std::int64_t>(sizes[i], 1)) : Symbolic::parse(texts[i]);
    product = product.value_or(Symbolic::integer(strides[i])) * size.value_or(Symbolic::integer(sizes[i]));
  }
  return result;
}

Result<std::int64_t> viewBytes(const GraphInput& input, const ImportLimits& limits) {
  const auto tooLarge = [&] {
    return failAtLine(input.line,
                      fmt::format("the tensor '{}' of shape {} is beyond the limit of {} bytes", input.name,
                                  fmt::join(input.sizes, "x"), limits.tensorBytes),
                      ErrorCode::TooLarge);
  };
  const auto elements = checkedNumel(input.sizes);
  if (!elements) return failAtLine(input.line, elements.error().message, elements.error().code);
  if (*elements > limits.tensorBytes / itemSize(input.dtype)) return tooLarge();
  std::int64_t last = input.storageOffset;
  for (std::size_t i = 0; i < input.sizes.size(); ++i) {
    std::int64_t reach = 0;
    if (input.strides[i] < 0)
      return failAtLine(input.line, fmt::format("the tensor '{}' has a negative stride", input.name));
    if (input.sizes[i] > 0 && (__builtin_mul_overflow(input.sizes[i] - 1, input.strides[i], &reach) ||
                               __builtin_add_overflow(last, reach, &last)))
      return tooLarge();
  }
  if (input.storageOffset < 0)
    return failAtLine(input.line, fmt::format("the tensor '{}' has a negative offset", input.name));
  if (*elements == 0) return 0;
  std::int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, itemSize(input.dtype), &bytes) ||
      bytes > limits.tensorBytes)
    return tooLarge();
  return bytes;
}

}  // namespace kerf::inline capture
