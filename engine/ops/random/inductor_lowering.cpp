// Inductor's random numbers in generated loops: each element from its seed and its place.
//
//   before: inductor_random = prims.inductor_random([4, 8], seed, 'rand')
//   after:  for i0 < 32: inductor_random[i0] = unit(philox(seed, i0))
#include <numbers>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;
using enum ExprOp;

bool isOnCuda(const Tensor& tensor) { return std::string_view(tensor.device().type) == "cuda"; }

int lookupSeed(Call c) {
  const Place places[] = {{Affine::number(c.bound.integer(1))}};
  return c.operands.at(0, 0, places);
}

bool coversLookup(const BoundArguments& bound) {
  return bound.tensor(0).dim() == 1 && bound.tensor(0).dtype() == DType::Int64 && bound.integerIf(1).has_value();
}

int constant(Call c, double value) { return c.b.constant(value, DType::Float32); }

/// In [0, 1): 31 bits scaled. Triton folds negative words by inverting them, the C++ code drops their sign.
int unit(Call c, int word, bool triton) {
  const auto number = [&](std::int64_t value) { return c.b.integer(value, DType::Int32); };
  const int bits = triton ? c.b.select(c.b.binary(Lt, word, number(0)), c.b.binary(Xor, word, number(-1)), word)
                          : c.b.binary(And, word, number(0x7FFFFFFF));
  return c.b.binary(Mul, c.b.convert(bits, DType::Float32), constant(c, 4.6566127342e-10f));
}

/// Box and Muller's; the C++ code in double behind the logarithm.
int cpuNormal(Call c, int first, int second) {
  const auto wide = [&](int value) { return c.b.convert(value, DType::Float64); };
  const auto factor = [&](double value) { return c.b.constant(value, DType::Float64); };
  const auto complement = [&](int value) { return c.b.binary(Sub, constant(c, 1), unit(c, value, false)); };
  const int length = c.b.unary(Sqrt, c.b.binary(Mul, factor(-2), wide(c.b.unary(Log, complement(first)))));
  const int angle = c.b.binary(Mul, factor(2 * std::numbers::pi), wide(complement(second)));
  return c.b.convert(c.b.binary(Mul, length, c.b.unary(Cos, angle)), DType::Float32);
}

int tritonNormal(Call c, int first, int second) {
  const int least = c.b.binary(Maximum, constant(c, 1.0e-7f), unit(c, first, true));
  const int length = c.b.unary(Sqrt, c.b.binary(Mul, constant(c, -2), c.b.unary(Log, least)));
  const int angle = c.b.binary(Mul, constant(c, 6.283185307179586f), unit(c, second, true));
  return c.b.binary(Mul, length, c.b.unary(Cos, angle));
}

int draw(Call c) {
  const Tensor& seed = c.bound.tensor(1);
  const std::vector<Place> places(seed.symSizes().size());
  int key = c.operands.at(1, 0, places);
  const bool triton = isOnCuda(seed);
  if (!triton) key = c.b.binary(And, key, c.number(0xFFFFFFFF));
  const int counter = c.b.index(flatten(c.map, contiguousStrides(c.bound.symSizes(0)), 0));
  const int first = c.b.philox(key, counter, 0);
  if (c.bound.text(2) == "rand") return unit(c, first, triton);
  const int second = c.b.philox(key, counter, 1);
  return triton ? tritonNormal(c, first, second) : cpuNormal(c, first, second);
}

bool coversDraw(const BoundArguments& bound) {
  const Tensor& seed = bound.tensor(1);
  const auto isOne = [](SymInt size) { return size.isIdentical(1); };
  return seed.dtype() == DType::Int64 && std::ranges::all_of(seed.symSizes(), isOne);
}

constexpr OpFacts inductorRandomLoweringsRows[] = {
    elementLowering("prims::inductor_lookup_seed", lookupSeed, coversLookup),
    elementLowering("prims::inductor_random", draw, coversDraw),
};

const OpRegistration inductorRandomLowerings({.facts = inductorRandomLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
