#include "engine/mathlib/convolution_onednn.h"

#include <atomic>
#include <map>
#include <unordered_map>

#include <dnnl.hpp>

#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/math_threads.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/empty.h"

namespace kerf::inline mathlib {
namespace {

using dnnl::memory;
using Key = std::vector<std::int64_t>;

constexpr std::size_t cacheLimit = 512;

/// One operand of a primitive: its role, the layout of our tensor and the layout that the primitive wants.
struct Slot {
  int role;
  memory::desc given, wanted;
  bool output = false;
};

/// A prepared convolution. Tensors are passed in the order of the slots.
struct Prepared {
  dnnl::primitive primitive;
  std::vector<Slot> slots;
};

enum class Direction : std::int64_t { Forward, BackwardData, BackwardWeights };

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::desc describe(const Sizes& sizes, const Sizes& strides) {
  return {memory::dims(sizes), memory::data_type::f32, memory::dims(strides)};
}
memory::desc anyLayout(const memory::desc& given) {
  return {given.dims(), memory::data_type::f32, memory::format_tag::any};
}

memory::dims expand(const Sizes& list, std::size_t spatial, std::int64_t shift) {
  memory::dims result;
  for (std::size_t d = 0; d < spatial; ++d) result.push_back((list.size() == 1 ? list[0] : list[d]) + shift);
  return result;
}

/// Strides without the odd ones that dimensions of size 1 may have.
Sizes plainStrides(const Tensor& tensor) {
  return tensor.isContiguous() ? contiguousStrides(tensor.sizes()) : tensor.strides();
}

/// Weight as [groups, out/groups, in/groups, kernel…] where there are groups.
memory::desc describeWeight(const Tensor& weight, std::int64_t groups) {
  if (groups == 1) return describe(weight.sizes(), plainStrides(weight));
  Sizes sizes = weight.sizes(), strides = plainStrides(weight);
  sizes[0] /= groups;
  sizes.insert(sizes.begin(), groups);
  strides.insert(strides.begin(), sizes[1] * strides[0]);
  return describe(sizes, strides);
}

/// Geometry as oneDNN's descriptors take it. The three tensors of a convolution: image, filter and result.
struct ConvolutionDescription {
  memory::desc image, filter, bias, result;
  memory::dims stride, dilation, padding;
};

ConvolutionDescription describeConvolution(const Tensor& image, const Tensor& filter, const Tensor& bias,
                                           const ConvolutionSpec& spec, const Tensor& result) {
  const auto spatial = std::size_t(image.dim()) - 2;
  return {describe(image.sizes(), plainStrides(image)),
          describeWeight(filter, spec.groups),
          bias.defined() ? describe(bias.sizes(), plainStrides(bias)) : memory::desc(),
          describe(result.sizes(), plainStrides(result)),
          expand(spec.stride, spatial, 0),
          expand(spec.dilation, spatial, -1),
          expand(spec.padding, spatial, 0)};
}

dnnl::convolution_forward::primitive_desc planForward(const ConvolutionDescription& w, dnnl::prop_kind kind) {
  const dnnl::convolution_forward::desc desc(kind, dnnl::algorithm::convolution_direct, anyLayout(w.image),
                                             anyLayout(w.filter), w.bias, anyLayout(w.result), w.stride, w.dilation,
                                             w.padding, w.padding);
  return {desc, cpu()};
}

Prepared prepareForward(const ConvolutionDescription& w, bool hasBias) {
  const auto plan = planForward(w, dnnl::prop_kind::forward_inference);
  Prepared p{dnnl::convolution_forward(plan),
             {{DNNL_ARG_SRC, w.image, plan.src_desc()},
              {DNNL_ARG_WEIGHTS, w.filter, plan.weights_desc()},
              {DNNL_ARG_DST, w.result, plan.dst_desc(), true}}};
  if (hasBias) p.slots.push_back({DNNL_ARG_BIAS, w.bias, w.bias});
  return p;
}

Prepared prepareBackwardData(const ConvolutionDescription& w) {
  const dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, anyLayout(w.image),
                                                   anyLayout(w.filter), anyLayout(w.result), w.stride, w.dilation,
                                                   w.padding, w.padding);
  const dnnl::convolution_backward_data::primitive_desc plan(desc, cpu(),
                                                             planForward(w, dnnl::prop_kind::forward_training));
  return {dnnl::convolution_backward_data(plan),
          {{DNNL_ARG_DIFF_SRC, w.image, plan.diff_src_desc(), true},
           {DNNL_ARG_WEIGHTS, w.filter, plan.weights_desc()},
           {DNNL_ARG_DIFF_DST, w.result, plan.diff_dst_desc()}}};
}

Prepared prepareBackwardWeights(const ConvolutionDescription& w) {
  const dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, anyLayout(w.image),
                                                      anyLayout(w.filter), anyLayout(w.result), w.stride, w.dilation,
                                                      w.padding, w.padding);
  const dnnl::convolution_backward_weights::primitive_desc plan(desc, cpu(),
                                                                planForward(w, dnnl::prop_kind::forward_training));
  return {dnnl::convolution_backward_weights(plan),
          {{DNNL_ARG_SRC, w.image, plan.src_desc()},
           {DNNL_ARG_DIFF_WEIGHTS, w.filter, plan.diff_weights_desc(), true},
           {DNNL_ARG_DIFF_DST, w.result, plan.diff_dst_desc()}}};
}

Prepared prepare(Direction direction, const Tensor& image, const Tensor& filter, const Tensor& bias,
                 const ConvolutionSpec& spec, const Tensor& result) {
  const ConvolutionDescription described = describeConvolution(image, filter, bias, spec, result);
  if (direction == Direction::Forward) return prepareForward(described, bias.defined());
  return direction == Direction::BackwardData ? prepareBackwardData(described) : prepareBackwardWeights(described);
}

void append(Key& key, const Sizes& list) {
  key.push_back(std::int64_t(list.size()));
  key.insert(key.end(), list.begin(), list.end());
}

Key keyOf(Direction direction, const Tensor& image, const Tensor& filter, const Tensor& bias,
          const ConvolutionSpec& spec, const Tensor& result) {
  Key key{std::int64_t(direction), spec.groups, bias.defined()};
  for (const Sizes* list : {&image.sizes(), &image.strides(), &filter.sizes(), &filter.strides(), &result.sizes(),
                            &result.strides(), &spec.stride, &spec.padding, &spec.dilation})
    append(key, *list);
  return key;
}

/// Primitives own scratch memory that one thread at a time may use, so each thread keeps its own.
Prepared& prepared(Direction direction, const Tensor& image, const Tensor& filter, const Tensor& bias,
                   const ConvolutionSpec& spec, const Tensor& result) {
  thread_local std::map<Key, Prepared> cache;
  Key key = keyOf(direction, image, filter, bias, spec, result);
  const auto found = cache.find(key);
  if (found != cache.end()) return found->second;
  if (cache.size() >= cacheLimit) cache.clear();
  return cache.emplace(std::move(key), prepare(direction, image, filter, bias, spec, result)).first->second;
}

memory wrap(const memory::desc& layout, const Tensor& tensor) {
  return {layout, cpu(), const_cast<float*>(tensor.data<float>())};
}

/// Memory from the storages' cache; `keep` holds it.
memory scratch(const memory::desc& layout, std::vector<StoragePtr>& keep) {
  auto storage = emptyStorage(std::int64_t(layout.get_size()));
  if (!storage) throw std::bad_alloc();
  keep.push_back(std::move(*storage));
  return {layout, cpu(), keep.back()->data()};
}

memory inLayout(dnnl::stream& stream, memory given, const memory::desc& wanted, std::vector<StoragePtr>& keep) {
  if (given.get_desc() == wanted) return given;
  memory result = scratch(wanted, keep);
  dnnl::reorder(given, result).execute(stream, given, result);
  return result;
}

/// `tensors` in the order of the slots.
void execute(Prepared& p, std::initializer_list<const Tensor*> tensors) {
  dnnl::stream stream(cpu());
  std::unordered_map<int, memory> arguments;
  std::vector<StoragePtr> keep;
  std::vector<std::pair<memory, memory>> copies;  // results that lie otherwise than wanted
  auto tensor = tensors.begin();
  for (const Slot& slot : p.slots) {
    memory own = wrap(slot.given, **tensor++);
    if (!slot.output) {
      arguments.emplace(slot.role, inLayout(stream, own, slot.wanted, keep));
      continue;
    }
    const bool direct = slot.given == slot.wanted;
    memory result = direct ? own : scratch(slot.wanted, keep);
    arguments.emplace(slot.role, result);
    if (!direct) copies.emplace_back(result, own);
  }
  p.primitive.execute(stream, arguments);
  for (auto& [from, to] : copies) dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

/// Part of a convolution that one thread does by itself.
struct Piece {
  Tensor image, filter, bias, result;
  std::int64_t groups;
};

Tensor narrowed(const Tensor& tensor, std::int64_t dim, std::int64_t begin, std::int64_t count) {
  if (!tensor.defined()) return tensor;
  Sizes sizes = tensor.sizes();
  sizes[std::size_t(dim)] = count;
  return tensor.viewAs(std::move(sizes), tensor.strides(), tensor.offset() + begin * tensor.stride(dim));
}

/// Which units a piece may consist of: groups where there are several, else blocks of the channels that are independent
/// of each other.
struct Units {
  std::int64_t count, size;
};
Units unitsOf(Direction direction, const Tensor& filter, std::int64_t groups) {
  constexpr std::int64_t channelBlock = 16;  // what the kernels work on at once
  if (groups > 1) return {groups, 1};
  const std::int64_t channels = filter.size(direction == Direction::BackwardData ? 1 : 0);
  return {(channels + channelBlock - 1) / channelBlock, channelBlock};
}

/// The units [begin, end) of a convolution.
Piece unitsPiece(Direction direction, const Piece& all, const Units& units, std::int64_t begin, std::int64_t end) {
  if (all.groups > 1) {
    const std::int64_t out = all.filter.size(0) / all.groups, in = all.filter.size(1), count = end - begin;
    return {narrowed(all.image, 1, begin * in, count * in), narrowed(all.filter, 0, begin * out, count * out),
            narrowed(all.bias, 0, begin * out, count * out), narrowed(all.result, 1, begin * out, count * out), count};
  }
  const std::int64_t dim = direction == Direction::BackwardData ? 1 : 0;
  const std::int64_t first = begin * units.size, count = std::min(end * units.size, all.filter.size(dim)) - first;
  if (direction == Direction::BackwardData)
    return {narrowed(all.image, 1, first, count), narrowed(all.filter, 1, first, count), all.bias, all.result, 1};
  return {all.image, narrowed(all.filter, 0, first, count), narrowed(all.bias, 0, first, count),
          narrowed(all.result, 1, first, count), 1};
}

/// About `wanted` pieces: shares of the samples (not for the gradient of the weight, which sums over them), then shares
/// of the units.
std::vector<Piece> cut(Direction direction, const Piece& all, std::int64_t wanted) {
  const std::int64_t samples = all.image.size(0);
  const std::int64_t shares = direction == Direction::BackwardWeights ? 1 : std::min(samples, wanted);
  const Units units = unitsOf(direction, all.filter, all.groups);
  const std::int64_t parts = std::clamp<std::int64_t>(wanted / shares, 1, units.count);
  std::vector<Piece> pieces;
  for (std::int64_t s = 0; s < shares; ++s) {
    const std::int64_t begin = s * samples / shares, count = (s + 1) * samples / shares - begin;
    const Piece share{narrowed(all.image, 0, begin, count), all.filter, all.bias, narrowed(all.result, 0, begin, count),
                      all.groups};
    for (std::int64_t p = 0; p < parts; ++p)
      pieces.push_back(
          parts == 1 ? share
                     : unitsPiece(direction, share, units, p * units.count / parts, (p + 1) * units.count / parts));
  }
  return pieces;
}

bool runPiece(Direction direction, const Piece& piece, ConvolutionSpec spec) {
  spec.groups = piece.groups;
  applyOpenMpThreads(1);
  try {
    Prepared& p = prepared(direction, piece.image, piece.filter, piece.bias, spec, piece.result);
    execute(p, {&piece.image, &piece.filter, &piece.result, &piece.bias});
    return true;
  } catch (const dnnl::error&) {
    return false;  // unimplemented geometry or no memory: gemm takes over and reports what is really wrong
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// oneDNN's own OpenMP threads stay out of this: next to Kerf's they would wait actively for cores that those use.
bool run(Direction direction, const Tensor& image, const Tensor& filter, const Tensor& bias,
         const ConvolutionSpec& spec, const Tensor& result) {
  if (ExactSums::wanted() || spec.transposed || image.numel() == 0 || filter.numel() == 0 || result.numel() == 0)
    return false;
  const double perOutput = double(filter.numel()) / double(filter.size(0));
  const int threads = mathThreadsFor(double(result.numel()) * perOutput);
  const auto pieces = cut(direction, {image, filter, bias, result, spec.groups}, threads);
  std::atomic<bool> done{true};
  parallelFor(std::int64_t(pieces.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      if (!runPiece(direction, pieces[std::size_t(i)], spec)) done = false;
  });
  return done;
}

}  // namespace

bool convolutionOneDnn(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvolutionSpec& spec,
                       const Tensor& out) {
  return run(Direction::Forward, input, weight, bias, spec, out);
}

bool convolutionOneDnnBackwardData(const Tensor& gradOutput, const Tensor& weight, const ConvolutionSpec& spec,
                                   const Tensor& gradInput) {
  return run(Direction::BackwardData, gradInput, weight, {}, spec, gradOutput);
}

bool convolutionOneDnnBackwardWeights(const Tensor& gradOutput, const Tensor& input, const ConvolutionSpec& spec,
                                      const Tensor& gradWeight) {
  return run(Direction::BackwardWeights, input, gradWeight, {}, spec, gradOutput);
}

}  // namespace kerf::inline mathlib
