// Copies on the device.
#include "engine/backend/cuda/device_put.h"

namespace kerf::inline backend {
namespace {

constexpr std::string_view numberSource = R"cuda(
extern "C" __global__ void kerf_number(T* to, double real, long long integer) { *to = (T)NUMBER; }
)cuda";

/// copy_(self, src): of one dtype.
Result<bool> copyIn(const DeviceCall& call) {
  const Tensor &self = call.args.tensor(0), &source = call.args.tensor(1);
  const auto strides = repeatedStrides(source, self.sizes());
  if (source.dtype() != self.dtype() || !strides || source.storage() == self.storage()) return false;
  if (self.sizes().size() > DeviceShape::most) return false;
  KERF_CHECK(copyInto(call, source, *strides, self));
  return true;
}

/// lift_fresh_copy(self): a constant.
Result<bool> freshCopy(const DeviceCall& call) {
  const Tensor &self = call.args.tensor(0), &out = call.out(0);
  if (self.sizes().size() > DeviceShape::most) return false;
  KERF_CHECK(copyInto(call, self, self.strides(), out));
  return true;
}

/// as_strided_scatter(self, src, size, stride, storage_offset), where self lies row by row from the start on.
Result<bool> stridedScatter(const DeviceCall& call) {
  const Tensor &self = call.args.tensor(0), &source = call.args.tensor(1), &out = call.out(0);
  const Sizes size = call.args.sizes(2), stride = call.args.sizes(3);
  const std::int64_t offset = call.args.integerIf(4).value_or(self.offset());
  if (!self.isContiguous() || !out.isContiguous() || self.offset() != 0 || source.sizes() != size) return false;
  if (source.dtype() != out.dtype() || size.size() > DeviceShape::most || source.numel() == 0) return false;
  const Tensor place = out.viewAs(size, stride, out.offset() + offset);
  if (!place.inBounds()) return false;
  KERF_CHECK(copyInto(call, self, self.strides(), out));
  KERF_CHECK(copyInto(call, source, source.strides(), place));
  return true;
}

constexpr DeviceOp rows[] = {
    {.op = "aten.copy_.default", .run = copyIn, .inPlace = true},
    {.op = "aten.lift_fresh_copy.default", .run = freshCopy},
    {.op = "aten.as_strided_scatter.default", .run = stridedScatter},
};

}  // namespace

std::optional<Sizes> repeatedStrides(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.sizes().size() > sizes.size()) return {};
  Sizes strides(sizes.size(), 0);
  const std::size_t lead = sizes.size() - tensor.sizes().size();
  for (std::size_t d = lead; d < sizes.size(); ++d) {
    if (tensor.sizes()[d - lead] == sizes[d] && sizes[d] != 1)
      strides[d] = tensor.strides()[d - lead];
    else if (tensor.sizes()[d - lead] != 1)
      return {};
  }
  return strides;
}

Result<void> copyInto(const DeviceCall& call, const Tensor& from, const Sizes& fromStrides, const Tensor& to) {
  KERF_TRY(const DeviceAddress target, call.on.addressOf(to, true));
  KERF_TRY(const DeviceAddress source, call.on.addressOf(from));
  return call.on.library.copy(to.sizes(), target, to.strides(), source, fromStrides, itemSize(to.dtype()));
}

KernelMacros numberMacros(DType dtype) {
  KernelMacros macros = typeMacros(dtype, dtype);
  macros.emplace_back("NUMBER", isFloating(dtype) ? "TO((A)real)" : "TO((A)integer)");
  return macros;
}

Result<DeviceAddress> numberOnDevice(const DeviceParts& on, DType dtype, const Value& number) {
  KERF_TRY(const DeviceAddress place, on.scratch.take(itemSize(dtype)));
  const double* const real = number.as<double>();
  const std::int64_t* const integer = number.as<std::int64_t>();
  const bool* const truth = number.as<bool>();
  const double value = real ? *real : integer ? double(*integer) : truth ? double(*truth) : 0;
  const std::int64_t whole = integer ? *integer : truth ? std::int64_t(*truth) : std::int64_t(value);
  KernelArguments arguments;
  arguments.add(place).add(value).add(whole);
  KERF_CHECK(on.library.launch(numberSource, "kerf_number", numberMacros(dtype), 1, 1, arguments));
  return place;
}

std::span<const DeviceOp> copyDeviceOps() { return rows; }

std::vector<LibraryKernel> copyKernels() {
  std::vector<LibraryKernel> all;
  for (const DType dtype :
       {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int64, DType::Int32, DType::Bool})
    all.push_back({numberSource, "kerf_number", numberMacros(dtype)});
  return all;
}

}  // namespace kerf::inline backend
