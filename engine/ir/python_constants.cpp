#include "engine/ir/python_constants.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "engine/ir/python_expression.h"

namespace kerf::inline ir {
namespace {

constexpr std::array<std::string_view, 8> layoutNames = {"torch.strided",    "torch.sparse_coo", "torch.sparse_csr",
                                                         "torch.sparse_csc", "torch.sparse_bsr", "torch.sparse_bsc",
                                                         "torch._mkldnn",    "torch.jagged"};
constexpr std::array<std::string_view, 4> memoryFormatNames = {"torch.contiguous_format", "torch.channels_last",
                                                               "torch.channels_last_3d", "torch.preserve_format"};
struct FloatName {
  std::string_view name;
  double value;
};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<FloatName, 8> floatNames = {{{"inf", infinity},
                                                  {"nan", notANumber},
                                                  {"math.inf", infinity},
                                                  {"math.nan", notANumber},
                                                  {"torch.inf", infinity},
                                                  {"torch.nan", notANumber},
                                                  {"torch.pi", 3.141592653589793},
                                                  {"math.pi", 3.141592653589793}}};
constexpr std::array<std::string_view, 14> deviceTypes = {
    "cpu", "cuda", "meta", "xpu", "mps", "hpu", "xla", "mtia", "ipu", "hip", "vulkan", "privateuseone", "lazy", "npu"};

}  // namespace

std::string_view layoutName(Layout layout) { return layoutNames[std::size_t(layout)]; }

std::string_view memoryFormatName(MemoryFormat format) { return memoryFormatNames[std::size_t(format)]; }

std::optional<Device> deviceFromText(std::string_view text) {
  const std::size_t colon = text.find(':');
  Device out;
  out.type = text.substr(0, colon);
  if (std::ranges::find(deviceTypes, out.type) == deviceTypes.end()) return std::nullopt;
  if (colon == std::string_view::npos) return out;
  const std::string_view index = text.substr(colon + 1);
  const auto parsed = std::from_chars(index.data(), index.data() + index.size(), out.index);
  if (index.empty() || parsed.ptr != index.data() + index.size() || out.index < 0 || out.index > maximumDeviceIndex)
    return std::nullopt;
  return out;
}

std::optional<Argument> pythonConstant(std::string_view name) {
  if (const auto real = std::ranges::find(floatNames, name, &FloatName::name); real != floatNames.end())
    return Argument(real->value);
  if (!name.starts_with("torch.")) return std::nullopt;
  if (const auto dtype = dtypeFromTorchName(name)) return Argument(*dtype);
  if (const auto at = std::ranges::find(layoutNames, name); at != layoutNames.end())
    return Argument(static_cast<Layout>(at - layoutNames.begin()));
  if (const auto at = std::ranges::find(memoryFormatNames, name); at != memoryFormatNames.end())
    return Argument(static_cast<MemoryFormat>(at - memoryFormatNames.begin()));
  return std::nullopt;
}

}  // namespace kerf::inline ir
