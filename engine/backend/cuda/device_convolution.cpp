// Convolutions on the device: cuDNN's, and the gradient of the bias as a sum of Kerf's own.
#include <span>

#include "engine/backend/cuda/device_ops.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

/// out[k] = sum of grad over all but dimension 1; a block for each channel. out += bias where BIAS.
constexpr std::string_view biasSource = R"cuda(
extern "C" __global__ void kerf_channel_sum(T* out, const T* grad, KerfShape shape, long long channels, long long each) {
  const long long channel = blockIdx.x;
  KerfShape rest = shape;
  rest.sizes[1] = 1;
  A sum = 0;
  for (long long i = threadIdx.x; i < each; i += blockDim.x)
    sum += FROM(grad[channel * shape.strides[1] + kerf_place(rest, i)]);
  sum = kerf_team<256>(sum, [](A a, A b) { return a + b; });
  if (threadIdx.x == 0) out[channel] = TO(sum);
}
extern "C" __global__ void kerf_add_channel(T* out, const T* bias, KerfShape shape, long long biasStride, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  KerfShape channel = shape;
  for (int d = 0; d < (int)shape.dims; ++d) channel.strides[d] = d == 1 ? biasStride : 0;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    T* const at = out + kerf_place(shape, i);
    *at = TO(FROM(*at) + FROM(bias[kerf_place(channel, i)]));
  }
}
)cuda";

bool isDeviceFloat(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

Sizes perDimension(Sizes values, std::size_t dims) {
  if (values.size() == 1) values.assign(dims, values.front());
  return values;
}

/// cuDNN wants no stride of 0 and takes those of sizes 1 at their word.
Sizes plainStrides(const Sizes& sizes, const Sizes& strides) {
  Sizes result = strides;
  const bool channelsLast = sizes.size() > 2 && strides[1] == 1 && sizes[1] > 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) continue;
    std::int64_t inner = 1;  // as if the dimension lay where its order has it
    for (std::size_t e = 0; e < sizes.size(); ++e) {
      const auto rank = [&](std::size_t x) { return channelsLast ? (x == 0 ? 0 : x == 1 ? sizes.size() : x - 1) : x; };
      if (rank(e) > rank(d)) inner *= sizes[e];
    }
    result[d] = inner;
  }
  return result;
}

bool isDense(const Tensor& tensor) {
  std::int64_t reach = 1;
  for (std::size_t d = 0; d < tensor.sizes().size(); ++d) reach += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  return reach == tensor.numel();
}

/// A tensor as cuDNN takes it: its own memory, or a dense copy in scratch.
struct Operand {
  DeviceAddress address = 0;
  Sizes sizes, strides;
  void insertWidth() {  // one spatial dimension as two
    if (sizes.size() != 3) return;
    sizes.insert(sizes.begin() + 2, 1);
    strides.insert(strides.begin() + 2, strides[2] * sizes[3]);
  }
};

Result<Operand> operandOf(const DeviceCall& call, const Tensor& tensor, bool writes) {
  Operand operand{0, tensor.sizes(), tensor.strides()};
  if (operand.sizes.size() < 3) return fail(ErrorCode::Internal, "a convolution's tensor has too few dimensions");
  KERF_TRY(operand.address, call.on.addressOf(tensor, writes));
  if (!writes && !isDense(tensor)) {
    const Sizes dense = contiguousStrides(tensor.sizes());
    KERF_TRY(const DeviceAddress copy, call.on.scratch.take(tensor.byteSize()));
    KERF_CHECK(
        call.on.library.copy(tensor.sizes(), copy, dense, operand.address, tensor.strides(), itemSize(tensor.dtype())));
    operand.address = copy;
    operand.strides = dense;
  }
  operand.strides = plainStrides(operand.sizes, operand.strides);
  operand.insertWidth();
  return operand;
}

/// Stride, padding and dilation at `first` of the arguments, as cuDNN wants them.
struct Window {
  Sizes stride, padding, dilation;
};
Window windowOf(const BoundArguments& args, std::size_t first, std::size_t dims) {
  Window window{perDimension(args.sizes(first), dims), perDimension(args.sizes(first + 1), dims),
                perDimension(args.sizes(first + 2), dims)};
  if (dims != 1) return window;
  window.stride.insert(window.stride.begin(), 1);
  window.padding.insert(window.padding.begin(), 0);
  window.dilation.insert(window.dilation.begin(), 1);
  return window;
}

/// A transposed convolution is the gradient for the input of one, whose output is what is called input.
Result<bool> convolveInto(const DeviceCall& call, ConvolutionPart part, const Tensor& input, const Tensor& weight,
                          const Tensor& output, std::size_t windowAt, bool transposed) {
  const Tensor& in = transposed ? output : input;
  const Tensor& out = transposed ? input : output;
  if (transposed && part != ConvolutionPart::Weight)
    part = part == ConvolutionPart::Output ? ConvolutionPart::Input : ConvolutionPart::Output;
  KERF_TRY(const Operand i, operandOf(call, in, part == ConvolutionPart::Input));
  KERF_TRY(const Operand w, operandOf(call, weight, part == ConvolutionPart::Weight));
  KERF_TRY(const Operand o, operandOf(call, out, part == ConvolutionPart::Output));
  const Window window = windowOf(call.args, windowAt, input.sizes().size() - 2);
  DnnConvolution wanted{part,    input.dtype(), i.sizes,        i.strides,     w.sizes,        w.strides,
                        o.sizes, o.strides,     window.padding, window.stride, window.dilation};
  return call.on.dnn->convolve(wanted, i.address, w.address, o.address);
}

bool takes(const DeviceCall& call, const Tensor& input, const Tensor& weight) {
  return call.on.dnn != nullptr && isDeviceFloat(input.dtype()) && weight.dtype() == input.dtype() &&
         input.dim() == weight.dim() && input.numel() > 0 && weight.numel() > 0 && input.dim() <= 5;
}

Result<void> addBias(const DeviceCall& call, const Tensor& bias, const Tensor& out) {
  KERF_TRY(const DeviceAddress to, call.on.addressOf(out, true));
  KERF_TRY(const DeviceAddress from, call.on.addressOf(bias));
  KERF_TRY(const DeviceShape shape, DeviceShape::of(out.sizes(), out.strides()));
  KernelArguments arguments;
  arguments.add(to).add(from).add(shape).add(std::int64_t(bias.strides()[0])).add(out.numel());
  return call.on.library.launch(biasSource, "kerf_add_channel", typeMacros(out.dtype(), out.dtype()),
                                call.on.library.blocksFor(out.numel()), 256, arguments);
}

/// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Result<bool> convolution(const DeviceCall& call) {
  const Tensor &input = call.args.tensor(0), &weight = call.args.tensor(1), &out = call.out(0);
  if (!takes(call, input, weight) || out.numel() == 0) return false;
  KERF_TRY(const bool done, convolveInto(call, ConvolutionPart::Output, input, weight, out, 3, call.args.boolean(6)));
  if (!done) return false;
  if (const Tensor* bias = call.args.tensorIf(2)) KERF_CHECK(addBias(call, *bias, out));
  return true;
}

Result<void> sumChannels(const DeviceCall& call, const Tensor& grad, const Tensor& out) {
  KERF_TRY(const DeviceAddress to, call.on.addressOf(out, true));
  KERF_TRY(const DeviceAddress from, call.on.addressOf(grad));
  KERF_TRY(const DeviceShape shape, DeviceShape::of(grad.sizes(), grad.strides()));
  KernelArguments arguments;
  arguments.add(to).add(from).add(shape).add(std::int64_t(grad.size(1))).add(grad.numel() / grad.size(1));
  return call.on.library.launch(biasSource, "kerf_channel_sum", typeMacros(grad.dtype(), grad.dtype()), grad.size(1),
                                256, arguments);
}

/// convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
/// groups, output_mask)
Result<bool> convolutionBackward(const DeviceCall& call) {
  const Tensor &grad = call.args.tensor(0), &input = call.args.tensor(1), &weight = call.args.tensor(2);
  if (!takes(call, input, weight) || grad.numel() == 0 || grad.dtype() != input.dtype()) return false;
  const bool transposed = call.args.boolean(7);
  if (call.hasOut(0)) {
    KERF_TRY(const bool done, convolveInto(call, ConvolutionPart::Input, call.out(0), weight, grad, 4, transposed));
    if (!done) return false;
  }
  if (call.hasOut(1)) {
    KERF_TRY(const bool done, convolveInto(call, ConvolutionPart::Weight, input, call.out(1), grad, 4, transposed));
    if (!done) return false;
  }
  if (call.hasOut(2)) KERF_CHECK(sumChannels(call, grad, call.out(2)));
  return true;
}

constexpr DeviceOp rows[] = {
    {.op = "aten.convolution.default", .run = convolution},
    {.op = "aten.convolution_backward.default", .run = convolutionBackward},
};

}  // namespace

std::vector<LibraryKernel> convolutionKernels() {
  std::vector<LibraryKernel> all;
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16})
    for (const char* name : {"kerf_channel_sum", "kerf_add_channel"})
      all.push_back({biasSource, name, typeMacros(dtype, dtype)});
  return all;
}

std::span<const DeviceOp> convolutionDeviceOps() { return rows; }

}  // namespace kerf::inline backend
