#include "engine/capture/trace/recompile_advice.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture::trace {
namespace {

struct Change {
  std::string_view subject;
  const std::vector<std::string>&before, &after;
};

bool isInt(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

bool isFloat(std::string_view text) {
  return text.find_first_of("0123456789") != text.npos && text.find_first_not_of("+-.e0123456789") == text.npos &&
         text.find_first_of(".e") != text.npos;
}

template <class Holds>
bool all(const std::vector<std::string>& values, Holds holds) {
  return !values.empty() && std::ranges::all_of(values, holds);
}

bool isOneOrNone(const std::string& size) { return size == "0" || size == "1"; }

std::string ofSize(const Change& c) {
  const auto size = fits("{}.size({})", c.subject);
  if (size.empty() || !isInt(size[1])) return {};
  const bool small = std::ranges::any_of(c.before, isOneOrNone) || std::ranges::any_of(c.after, isOneOrNone);
  const bool others = std::ranges::any_of(c.after, [](const std::string& value) { return !isOneOrNone(value); });
  if (small && !others) return "sizes 0 and 1 are always compiled apart: pad them, or compile with them first";
  return fmt::format("`torch._dynamo.mark_dynamic({}, {})` before the call compiles it once{}", size[0], size[1],
                     small ? " for all sizes but 0 and 1, which are always compiled apart" : "");
}

std::string ofStride(const Change& c) {
  const auto stride = fits("{}.stride({})", c.subject);
  if (stride.empty()) return {};
  return fmt::format(
      "give `{0}` one memory layout, as `{0}.contiguous()` does: marking sizes as dynamic does not cover strides",
      stride[0]);
}

std::string ofIntAttribute(const Change& c) {
  if (c.subject.find('.') == c.subject.npos || c.subject.find('(') != c.subject.npos || !all(c.before, isInt))
    return {};
  return "an int attribute is a constant of the graph: keep a counter in a tensor, or set "
         "`torch._dynamo.config.allow_unspec_int_on_nn_module = True`";
}

std::string ofFloat(const Change& c) {
  if (!all(c.before, isFloat)) return {};
  return "a float is a constant of the graph: pass it as a tensor, or set `torch._dynamo.config.specialize_float = "
         "False`";
}

std::string ofInt(const Change& c) {
  if (c.subject.find_first_of(".(") != c.subject.npos || !all(c.before, isInt)) return {};
  return "an int argument becomes dynamic with its second value unless `specialize_int` or `dynamic=False` keeps it "
         "fixed";
}

std::string ofLength(const Change& c) {
  const auto length = fits("len({})", c.subject);
  if (length.empty()) return {};
  return fmt::format("the loop over `{}` is unrolled, so its length is part of the graph: keep it fixed", length[0]);
}

std::string ofIdentity(const Change& c) {
  if (!c.subject.starts_with("the identity of ")) return {};
  return "functions and objects are compared by identity: keep one instead of making it anew for each call";
}

std::string ofText(const Change& c) {
  if (!all(c.before, [](const std::string& value) { return value.starts_with('\'') || value.starts_with('"'); }))
    return {};
  return "a str is a constant of the graph: keep what changes with it out of the compiled function";
}

std::string ofDtype(const Change& c) {
  const auto tensor = fits("{}.dtype", c.subject);
  return tensor.empty() ? std::string()
                        : fmt::format("cast `{}` before the call, or accept one compilation for each dtype", tensor[0]);
}

std::string ofGradient(const Change& c) {
  if (!c.subject.ends_with(".requires_grad") && c.subject.find("grad_mode") == c.subject.npos) return {};
  return "training and inference are compiled apart: enter `torch.no_grad()` outside of the compiled function, always "
         "or never";
}

}  // namespace

std::string recompileAdvice(std::string_view subject, const std::vector<std::string>& before,
                            const std::vector<std::string>& after) {
  static constexpr std::array rules{ofSize,   ofStride,   ofIntAttribute, ofFloat, ofInt,
                                    ofLength, ofIdentity, ofText,         ofDtype, ofGradient};
  for (const auto rule : rules)
    if (std::string text = rule({subject, before, after}); !text.empty()) return text;
  return {};
}

}  // namespace kerf::inline capture::trace
