#include <random>

#include <gtest/gtest.h>

#include "engine/mathlib/convolution.h"
#include "engine/mathlib/row_convolution.h"
#include "engine/tensor/copy.h"

namespace kerf {
namespace {

Tensor numbers(DType dtype, const Sizes& sizes, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t = Tensor::zeros(DType::Int64, sizes).value();
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data<std::int64_t>()[i] = int(random() % 5) - 2;
  return t.to(dtype).value();
}

std::vector<double> values(const Tensor& tensor) {
  const Tensor dense = tensor.to(DType::Float64).value().contiguous().value();
  return {dense.data<double>(), dense.data<double>() + dense.numel()};
}

struct Case {
  const char* name;
  Sizes input, weight;
  ConvolutionSpec spec;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {"1d", {2, 3, 9}, {4, 3, 3}, {{2}, {1}, {1}, false, {0}, 1}},
      {"1d dilated", {1, 2, 12}, {3, 2, 3}, {{1}, {2}, {3}, false, {0}, 1}},
      {"2d", {2, 3, 7, 6}, {4, 3, 3, 2}, {{2, 1}, {1, 0}, {1, 2}, false, {0}, 1}},
      {"2d pointwise", {2, 5, 4, 4}, {3, 5, 1, 1}, {}},
      {"2d grouped", {2, 4, 6, 6}, {6, 2, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 2}},
      {"2d depthwise", {1, 4, 8, 8}, {8, 1, 5, 5}, {{2, 2}, {2, 2}, {1, 1}, false, {0, 0}, 4}},
      {"2d padding beyond input", {1, 1, 2, 2}, {1, 1, 3, 3}, {{3, 3}, {4, 4}, {1, 1}, false, {0, 0}, 1}},
      {"3d", {1, 2, 4, 5, 6}, {3, 2, 2, 3, 3}, {{1, 2, 1}, {1, 1, 0}, {1, 1, 2}, false, {0, 0, 0}, 1}},
      {"1d transposed", {2, 3, 5}, {3, 4, 3}, {{2}, {1}, {1}, true, {1}, 1}},
      {"2d transposed", {2, 4, 5, 3}, {4, 3, 3, 3}, {{2, 3}, {1, 0}, {1, 2}, true, {1, 2}, 1}},
      {"2d transposed grouped", {1, 4, 3, 3}, {4, 2, 2, 2}, {{2, 2}, {0, 0}, {1, 1}, true, {0, 0}, 2}},
      {"3d transposed", {1, 2, 3, 2, 2}, {2, 3, 2, 2, 2}, {{2, 1, 1}, {0, 1, 0}, {1, 1, 1}, true, {1, 0, 0}, 1}},
      {"depthwise on an image below the kernel", {2, 21, 4, 4}, {21, 1, 7, 7}, {{1}, {3}, {1}, false, {0}, 21}},
      {"depthwise wide rows", {3, 17, 5, 23}, {17, 1, 3, 7}, {{1, 1}, {1, 3}, {1, 1}, false, {0}, 17}},
      {"depthwise of two multipliers", {9, 18, 3, 11}, {36, 1, 2, 5}, {{1, 2}, {0, 4}, {1, 2}, false, {0}, 18}},
      {"depthwise strided and dilated", {2, 16, 13, 14}, {16, 1, 3, 3}, {{2, 3}, {2, 1}, {2, 3}, false, {0}, 16}},
      {"depthwise padding beyond input", {1, 3, 2, 2}, {3, 1, 3, 3}, {{3, 3}, {4, 4}, {1, 1}, false, {0}, 3}},
      {"depthwise 1d", {2, 40, 19}, {40, 1, 4}, {{1}, {2}, {1}, false, {0}, 40}},
      {"depthwise 3d", {2, 5, 3, 4, 9}, {5, 1, 2, 3, 3}, {{1, 2, 1}, {1, 1, 0}, {1, 1, 2}, false, {0, 0, 0}, 5}},
      {"depthwise transposed", {2, 34, 5, 6}, {34, 1, 3, 3}, {{2, 1}, {1, 0}, {1, 2}, true, {1, 0}, 34}},
      {"depthwise transposed of two", {1, 8, 5, 6}, {8, 1, 3, 2}, {{2, 3}, {1, 0}, {1, 1}, true, {0, 2}, 4}},
      {"patches", {2, 9, 8, 4}, {33, 9, 2, 2}, {{2}, {0}, {1}, false, {0}, 1}},
      {"patches that leave a rest", {3, 11, 7, 11}, {40, 11, 2, 3}, {{2, 3}, {0, 0}, {1, 1}, false, {0}, 1}},
      {"patches 3d", {1, 5, 4, 3, 5}, {32, 5, 2, 3, 2}, {{2, 3, 2}, {0}, {1}, false, {0}, 1}},
      {"patches transposed", {2, 32, 3, 5}, {32, 9, 2, 2}, {{2}, {0}, {1}, true, {1}, 1}},
      {"empty batch", {0, 3, 7, 6}, {4, 3, 3, 2}, {}},
  };
  return list;
}

/// Visits every product of the convolution: (flat index of output, input, weight). Written straight from the
/// definition.
template <class Visit>
void forEachProduct(const Case& c, const Sizes& out, Visit&& visit) {
  const std::size_t spatial = c.input.size() - 2;
  const auto at = [&](const Sizes& list, std::size_t d) { return list.size() == 1 ? list[0] : list[d]; };
  const Sizes& small = c.spec.transposed ? c.input : out;
  const Sizes& big = c.spec.transposed ? out : c.input;
  const std::int64_t smallPerGroup = c.weight[0] / c.spec.groups;
  Sizes loop{small[0], c.weight[0], c.weight[1]};
  loop.insert(loop.end(), small.begin() + 2, small.end());
  loop.insert(loop.end(), c.weight.begin() + 2, c.weight.end());
  const std::int64_t total = checkedNumel(loop).value();
  for (std::int64_t flat = 0; flat < total; ++flat) {
    Sizes index(loop.size());
    for (std::int64_t d = std::int64_t(loop.size()), rest = flat; d-- > 0;) {
      index[std::size_t(d)] = rest % loop[std::size_t(d)];
      rest /= loop[std::size_t(d)];
    }
    const std::int64_t n = index[0], smallChannel = index[1], inner = index[2];
    const std::int64_t bigChannel = smallChannel / smallPerGroup * c.weight[1] + inner;
    std::int64_t smallAt = n * small[1] + smallChannel, bigAt = n * big[1] + bigChannel;
    std::int64_t weightAt = smallChannel * c.weight[1] + inner;
    bool inside = true;
    for (std::size_t d = 0; d < spatial; ++d) {
      const std::int64_t x = index[3 + d], k = index[3 + spatial + d];
      const std::int64_t position = x * at(c.spec.stride, d) - at(c.spec.padding, d) + k * at(c.spec.dilation, d);
      inside &= position >= 0 && position < big[d + 2];
      smallAt = smallAt * small[d + 2] + x;
      bigAt = bigAt * big[d + 2] + position;
      weightAt = weightAt * c.weight[d + 2] + k;
    }
    if (inside) c.spec.transposed ? visit(bigAt, smallAt, weightAt) : visit(smallAt, bigAt, weightAt);
  }
}

TEST(Convolution, EqualsTheDefinitionForEveryGeometryAndDtype) {
  for (const auto& c : cases())
    for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16, DType::Int32}) {
      const Tensor input = numbers(dtype, c.input, 1), weight = numbers(dtype, c.weight, 2);
      const Sizes sizes = convolutionSizes(c.input, c.weight, c.spec).value();
      const Tensor bias = numbers(dtype, {sizes[1]}, 3);
      const Tensor out = convolution(input, weight, bias, c.spec).value();
      ASSERT_EQ(out.sizes(), sizes) << c.name;
      std::vector<double> wanted(std::size_t(out.numel()));
      const auto in = values(input), filter = values(weight), shift = values(bias);
      forEachProduct(c, sizes, [&](auto o, auto i, auto w) {
        wanted[std::size_t(o)] += in[std::size_t(i)] * filter[std::size_t(w)];
      });
      const std::int64_t area = out.numel() / std::max<std::int64_t>(1, sizes[0] * sizes[1]);
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += shift[i / std::size_t(area) % shift.size()];
      EXPECT_EQ(values(out), wanted) << c.name << " " << dtypeInfo(dtype).torchName;
    }
}

TEST(Convolution, BackwardEqualsTheDefinition) {
  for (const auto& c : cases())
    for (const DType dtype : {DType::Float32, DType::Float64}) {
      const Tensor input = numbers(dtype, c.input, 1), weight = numbers(dtype, c.weight, 2);
      const Sizes sizes = convolutionSizes(c.input, c.weight, c.spec).value();
      const Tensor grad = numbers(dtype, sizes, 5);
      const auto result = convolutionBackward(grad, input, weight, c.spec, {true, true, true}).value();
      const auto in = values(input), filter = values(weight), out = values(grad);
      std::vector<double> gradIn(in.size()), gradWeight(filter.size()), gradBias;
      gradBias.resize(std::size_t(sizes[1]));
      forEachProduct(c, sizes, [&](auto o, auto i, auto w) {
        const auto at = [](auto x) { return std::size_t(x); };
        gradIn[at(i)] += out[at(o)] * filter[at(w)];
        gradWeight[at(w)] += out[at(o)] * in[at(i)];
      });
      const std::size_t area = out.size() / std::max<std::size_t>(1, std::size_t(sizes[0] * sizes[1]));
      for (std::size_t i = 0; i < out.size(); ++i) gradBias[i / area % gradBias.size()] += out[i];
      EXPECT_EQ(values(result.input), gradIn) << c.name;
      EXPECT_EQ(values(result.weight), gradWeight) << c.name;
      EXPECT_EQ(values(result.bias), gradBias) << c.name;
    }
}

TEST(Convolution, ReadsAndWritesChannelsLast) {
  const Tensor input = numbers(DType::Float32, {2, 3, 6, 5}, 1), weight = numbers(DType::Float32, {4, 3, 3, 3}, 2);
  const Tensor wanted = convolution(input, weight, {}, {}).value();
  const Tensor last = Tensor::zerosStrided(DType::Float32, {2, 3, 6, 5}, {90, 1, 15, 3}).value();
  ASSERT_TRUE(copyElements(input, last).has_value());
  const Tensor out = Tensor::zerosStrided(DType::Float32, {2, 4, 4, 3}, {48, 1, 12, 4}).value();
  ASSERT_TRUE(convolutionInto(last, weight, {}, {}, out).has_value());
  EXPECT_EQ(values(out), values(wanted));
  const Tensor expanded = numbers(DType::Float32, {2, 3, 1, 5}, 1).viewAs({2, 3, 6, 5}, {15, 5, 0, 1}, 0);
  EXPECT_EQ(values(convolution(expanded, weight, {}, {}).value()),
            values(convolution(expanded.clone().value(), weight, {}, {}).value()));
}

/// The same elements, channels last.
Tensor channelsLast(const Tensor& t) {
  const Tensor last = Tensor::zerosStrided(t.dtype(), t.sizes(), channelsLastStrides(t.sizes())).value();
  EXPECT_TRUE(copyElements(t, last).has_value());
  return last;
}

TEST(Convolution, TakesPatchesOfEveryLayout) {
  for (const DType dtype : {DType::Float32, DType::Float64})
    for (const Sizes& size : {Sizes{2, 12, 8, 4}, Sizes{3, 9, 7, 5}}) {
      const ConvolutionSpec spec{{2}, {0}, {1}, false, {0}, 1};
      const Tensor input = numbers(dtype, size, 1), weight = numbers(dtype, {34, size[1], 2, 2}, 2);
      const Tensor bias = numbers(dtype, {34}, 3), wanted = convolution(input, weight, bias, spec).value();
      const Tensor grad = numbers(dtype, wanted.sizes(), 4);
      const auto gradients = convolutionBackward(grad, input, weight, spec, {true, true, true}).value();
      for (int layouts = 0; layouts < 8; ++layouts) {
        const Tensor x = layouts & 1 ? channelsLast(input) : input, w = layouts & 2 ? channelsLast(weight) : weight;
        const Tensor g = layouts & 4 ? channelsLast(grad) : grad;
        const Tensor out = layouts & 4 ? channelsLast(grad) : grad.clone().value();
        ASSERT_TRUE(convolutionInto(x, w, bias, spec, out).has_value());
        EXPECT_EQ(values(out), values(wanted)) << layouts;
        const auto here = convolutionBackward(g, x, w, spec, {true, true, true}, layouts % 3 == 0).value();
        EXPECT_EQ(values(here.input), values(gradients.input)) << layouts;
        EXPECT_EQ(values(here.weight), values(gradients.weight)) << layouts;
        EXPECT_EQ(values(here.bias), values(gradients.bias)) << layouts;
        EXPECT_EQ(liesChannelsLast(here.weight.sizes(), here.weight.strides()), layouts % 3 == 0);
      }
    }
}

TEST(Convolution, OverwritesWhatTheOutputHeld) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    const Tensor input = numbers(dtype, {1, 2, 4, 4}, 1), weight = numbers(dtype, {2, 2, 3, 3}, 2);
    const Tensor wanted = convolution(input, weight, {}, {}).value();
    const Tensor out = numbers(dtype, wanted.sizes(), 9);
    ASSERT_TRUE(convolutionInto(input, weight, {}, {}, out).has_value());
    EXPECT_EQ(values(out), values(wanted));
  }
}

TEST(Convolution, BackwardComputesOnlyWhatIsWanted) {
  const Tensor input = numbers(DType::Float32, {1, 2, 4, 4}, 1), weight = numbers(DType::Float32, {2, 2, 3, 3}, 2);
  const auto result =
      convolutionBackward(numbers(DType::Float32, {1, 2, 2, 2}, 3), input, weight, {}, {false, true, false}).value();
  EXPECT_FALSE(result.input.defined());
  EXPECT_TRUE(result.weight.defined());
  EXPECT_FALSE(result.bias.defined());
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  const auto refused = [](const Sizes& input, const Sizes& weight, const ConvolutionSpec& spec) {
    return convolutionSizes(input, weight, spec).error().code;
  };
  EXPECT_EQ(refused({1, 3}, {1, 3}, {}), ErrorCode::ShapeMismatch);
  EXPECT_EQ(refused({1, 3, 4, 4}, {1, 2, 3, 3}, {}), ErrorCode::ShapeMismatch);
  EXPECT_EQ(refused({1, 3, 2, 2}, {1, 3, 3, 3}, {}), ErrorCode::ShapeMismatch);
  EXPECT_EQ(refused({1, 3, 4, 4}, {1, 3, 3, 3}, {{0}, {0}, {1}, false, {0}, 1}), ErrorCode::ShapeMismatch);
  EXPECT_EQ(refused({1, 3, 4, 4}, {1, 3, 3, 3}, {{1}, {-1}, {1}, false, {0}, 1}), ErrorCode::ShapeMismatch);
  EXPECT_EQ(refused({1, 3, 4, 4}, {1, 3, 3, 3}, {{1, 1, 1}, {0}, {1}, false, {0}, 1}), ErrorCode::ShapeMismatch);
  EXPECT_EQ(refused({1, 4, 4, 4}, {3, 2, 3, 3}, {{1}, {0}, {1}, false, {0}, 2}), ErrorCode::ShapeMismatch);
  EXPECT_EQ(refused({1, 3, 4, 4}, {3, 1, 3, 3}, {{2}, {0}, {1}, true, {2}, 1}), ErrorCode::ShapeMismatch);
  EXPECT_EQ(
      convolution(numbers(DType::Float32, {1, 1, 3}, 1), numbers(DType::Float64, {1, 1, 2}, 1), {}, {}).error().code,
      ErrorCode::ShapeMismatch);
}

}  // namespace
}  // namespace kerf
