#include "engine/mathlib/row_convolution.h"

#include <atomic>
#include <map>
#include <unordered_map>

#include <dnnl.hpp>

#include "engine/mathlib/convolution_patches.h"
#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/math_threads.h"
#include "engine/mathlib/row_blocks.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/empty.h"

namespace kerf::inline mathlib {
namespace {

using dnnl::memory;
constexpr auto single = memory::data_type::f32;

const dnnl::engine& processor() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

std::int64_t entry(const Sizes& list, std::size_t d, std::int64_t otherwise) {
  if (list.empty()) return otherwise;
  return list.size() == 1 ? list[0] : list[d];
}

RowGeometry geometryOf(const Tensor& image, const Tensor& filter, const ConvolutionSpec& spec, const Tensor& out) {
  return {image.size(0),
          image.size(1),
          image.size(2),
          image.size(3),
          out.size(1),
          out.size(2),
          out.size(3),
          spec.groups,
          filter.size(2),
          filter.size(3),
          entry(spec.stride, 0, 1),
          entry(spec.stride, 1, 1),
          entry(spec.padding, 0, 0),
          entry(spec.padding, 1, 0),
          entry(spec.dilation, 0, 1),
          entry(spec.dilation, 1, 1)};
}

bool isPlain(const Tensor& tensor) {
  return tensor.dtype() == DType::Float32 && tensor.dim() == 4 && tensor.numel() > 0;
}

memory::dims filterSizes(const RowGeometry& g) {
  const std::int64_t in = g.channels / g.groups;
  if (g.groups == 1) return {g.outChannels, in, g.kernelHeight, g.kernelWidth};
  return {g.groups, g.outChannels / g.groups, in, g.kernelHeight, g.kernelWidth};
}

/// Thread-owned memory that grows.
class ScratchBuffer {
 public:
  float* floats(std::size_t bytes) {
    if (!m_storage || std::size_t(m_storage->bytes()) < bytes) {
      auto storage = emptyStorage(std::int64_t(bytes));
      if (!storage) throw std::bad_alloc();
      m_storage = std::move(*storage);
    }
    return reinterpret_cast<float*>(m_storage->data());
  }

 private:
  StoragePtr m_storage;
};

}  // namespace

Sizes channelsLastStrides(const Sizes& sizes) {
  return {sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]};
}

bool liesChannelsLast(const Sizes& sizes, const Sizes& strides) {
  if (sizes.size() != 4) return false;
  const Sizes wanted = channelsLastStrides(sizes);
  for (std::size_t d = 0; d < 4; ++d)
    if (sizes[d] > 1 && strides[d] != wanted[d]) return false;
  return true;
}

/// oneDNN's kernels for every kind of block. They own no scratch memory, so that threads share them.
struct RowConvolution::Kernels {
  struct Kernel {
    dnnl::convolution_forward primitive;
    memory::desc image, result, scratch;
  };
  RowGeometry geometry;
  bool hasBias = false;
  std::vector<RowBlock> blocks;
  std::map<RowPiece, Kernel> byPiece;
  memory::desc filter, plainFilter, bias;
  std::int64_t largest = 0;  ///< elements of the result in one block

  void add(const RowBlock& block);
  void runBlock(const RowBlock& block, const float* image, const Tensor& packedFilter, const Tensor& biasTensor,
                float* result) const;
  memory biasOf(const Tensor& tensor) const {
    return {bias, processor(), hasBias ? const_cast<float*>(tensor.data<float>()) : nullptr};
  }
};

/// The first kernel chooses the layout of the filter, which the others share.
void RowConvolution::Kernels::add(const RowBlock& block) {
  const RowGeometry& g = geometry;
  const bool pixels = isPixelwise(g);
  const RowPiece& piece = block.piece;
  const memory::dims imageSizes =
      pixels ? memory::dims{1, g.channels, 1, piece.rows} : memory::dims{1, g.channels, block.imageRows, g.width};
  const memory::dims resultSizes =
      pixels ? memory::dims{1, g.outChannels, 1, piece.rows} : memory::dims{1, g.outChannels, piece.rows, g.outWidth};
  const std::int64_t reach = (g.outWidth - 1) * g.strideWidth + (g.kernelWidth - 1) * g.dilationWidth + 1;
  const std::int64_t right = pixels ? 0 : std::max<std::int64_t>(0, reach - g.paddingWidth - g.width);
  const memory::desc image(imageSizes, single, memory::format_tag::nhwc);
  const memory::desc result(resultSizes, single, memory::format_tag::nhwc);
  const auto filterHere = filter ? filter : memory::desc(filterSizes(g), single, memory::format_tag::any);
  const dnnl::convolution_forward::desc wish(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                             image, filterHere, bias, result, {g.strideHeight, g.strideWidth},
                                             {g.dilationHeight - 1, g.dilationWidth - 1}, {piece.above, g.paddingWidth},
                                             {piece.below, right});
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::convolution_forward::primitive_desc plan(wish, attributes, processor());
  if (std::string_view(plan.impl_info_str()).find("ref") != std::string_view::npos)
    throw dnnl::error(dnnl_unimplemented, "no fast kernel");
  if (!filter) filter = plan.weights_desc();
  byPiece.emplace(piece, Kernel{dnnl::convolution_forward(plan), image, result, plan.scratchpad_desc()});
}

void RowConvolution::Kernels::runBlock(const RowBlock& block, const float* image, const Tensor& packedFilter,
                                       const Tensor& biasTensor, float* result) const {
  thread_local ScratchBuffer scratch;
  const Kernel& kernel = byPiece.at(block.piece);
  dnnl::stream stream(processor());
  const auto at = [&](const memory::desc& layout, const float* place) {
    return memory(layout, processor(), const_cast<float*>(place));
  };
  std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, at(kernel.image, image + block.imageOffset)},
                                            {DNNL_ARG_WEIGHTS, at(filter, packedFilter.data<float>())},
                                            {DNNL_ARG_DST, at(kernel.result, result)}};
  if (hasBias) arguments.emplace(DNNL_ARG_BIAS, biasOf(biasTensor));
  if (kernel.scratch.get_size() > 0)
    arguments.emplace(DNNL_ARG_SCRATCHPAD, at(kernel.scratch, scratch.floats(kernel.scratch.get_size())));
  kernel.primitive.execute(stream, arguments);
  stream.wait();
}

RowConvolution::RowConvolution(std::unique_ptr<Kernels> kernels) : m_kernels(std::move(kernels)) {}
RowConvolution::~RowConvolution() = default;
const RowGeometry& RowConvolution::geometry() const { return m_kernels->geometry; }
std::int64_t RowConvolution::blockCount() const { return std::int64_t(m_kernels->blocks.size()); }

std::unique_ptr<RowConvolution> RowConvolution::make(const Tensor& image, const Tensor& filter, bool hasBias,
                                                     const ConvolutionSpec& spec, const Tensor& out,
                                                     std::int64_t multiple, int threads) {
  if (ExactSums::wanted() || spec.transposed || !isPlain(image) || !isPlain(filter) || !isPlain(out)) return nullptr;
  if (!liesChannelsLast(out.sizes(), out.strides())) return nullptr;
  const auto whole = convolutionGeometry(image.sizes(), filter.sizes(), out.sizes(), spec);
  if (!whole || takesPatches(*whole, DType::Float32)) return nullptr;
  auto kernels = std::make_unique<Kernels>();
  kernels->geometry = geometryOf(image, filter, spec, out);
  kernels->hasBias = hasBias;
  auto blocks = rowBlocks(kernels->geometry, multiple, threads);
  if (!blocks) return nullptr;
  kernels->blocks = std::move(*blocks);
  const RowGeometry& g = kernels->geometry;
  try {
    applyOpenMpThreads(1);
    if (hasBias) kernels->bias = memory::desc({g.outChannels}, single, memory::format_tag::x);
    kernels->plainFilter = {filterSizes(g), single,
                            g.groups == 1 ? memory::format_tag::oihw : memory::format_tag::goihw};
    for (const RowBlock& block : kernels->blocks) {
      if (!kernels->byPiece.contains(block.piece)) kernels->add(block);
      const std::int64_t row = isPixelwise(g) ? g.outChannels : g.outWidth * g.outChannels;
      kernels->largest = std::max(kernels->largest, block.piece.rows * row);
    }
  } catch (const dnnl::error&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return std::unique_ptr<RowConvolution>(new RowConvolution(std::move(kernels)));
}

Result<Tensor> RowConvolution::packed(const Tensor& filter) const {
  const Kernels& k = *m_kernels;
  KERF_TRY(const Tensor plain, filter.contiguous());
  KERF_TRY(Tensor result, emptyTensor(DType::Float32, {std::int64_t(k.filter.get_size() + 3) / 4}));
  try {
    applyOpenMpThreads(1);
    dnnl::stream stream(processor());
    memory from(k.plainFilter, processor(), const_cast<float*>(plain.data<float>()));
    memory to(k.filter, processor(), result.data<float>());
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  } catch (const std::exception& error) {
    return fail(ErrorCode::RuntimeFailed, "convolution: {}", error.what());
  }
  return result;
}

Result<void> RowConvolution::run(const Tensor& image, const Tensor& packedFilter, const Tensor& bias, const Tensor& out,
                                 const RowFollower* follower) const {
  const Kernels& k = *m_kernels;
  Tensor rows = image;
  if (!liesChannelsLast(image.sizes(), image.strides())) {
    KERF_TRY(rows, emptyTensor(DType::Float32, image.sizes(), channelsLastStrides(image.sizes())));
    KERF_CHECK(copyElements(image, rows));
  }
  std::atomic<bool> failed{false};
  const auto compute = [&](const RowBlock& block) {
    thread_local ScratchBuffer own;
    const std::int64_t row =
        isPixelwise(k.geometry) ? k.geometry.outChannels : k.geometry.outWidth * k.geometry.outChannels;
    const bool takesAll = follower && follower->takesAll;
    float* result =
        takesAll ? own.floats(std::size_t(k.largest) * sizeof(float)) : out.data<float>() + block.resultOffset;
    k.runBlock(block, rows.data<float>(), packedFilter, bias, result);
    if (follower) follower->run(block.resultOffset, block.resultOffset + block.piece.rows * row, result);
  };
  parallelFor(blockCount(), 1, [&](std::int64_t begin, std::int64_t end) {
    applyOpenMpThreads(1);
    try {
      for (std::int64_t b = begin; b < end; ++b) compute(k.blocks[std::size_t(b)]);
    } catch (const std::exception&) {
      failed = true;
    }
  });
  if (failed) return fail(ErrorCode::RuntimeFailed, "convolution: oneDNN could not run a block");
  return {};
}

}  // namespace kerf::inline mathlib
