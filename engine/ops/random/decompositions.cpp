// Decompositions of random ops into uniform and normal numbers.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

Formula uniformLike(const Formula& x) { return {"aten.rand_like.default"_op, {x}}; }
Formula normalLike(const Formula& x) { return {"aten.randn_like.default"_op, {x}}; }

/// native_dropout(input, p, train): what stays, and the mask of it.
Result<Value> nativeDropout(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double rate = args.number(1);
  const bool trains = args.none(2) || args.boolean(2);
  const auto mask = [&](OpId op) { return Formula(op, {p[0]}, {{"dtype", DType::Bool}}); };
  if (!trains || rate == 0) return p.done(std::vector<Formula>{p[0], mask("aten.ones_like.default"_op)});
  if (rate == 1) return p.done(std::vector<Formula>{zerosLike(p[0]), mask("aten.zeros_like.default"_op)});
  const Formula stays = p(uniformLike(p[0]) > rate);
  const Formula kept = p(stays * p[0] * (1.0 / (1.0 - rate)));
  return p.done(std::vector<Formula>{kept, stays});
}
/// native_dropout(input, p, train): a copy where nothing is dropped.
Result<Value> dropoutOrCopy(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (!args.boolean(2) || args.number(1) == 0) return p.done(clone(p[0]));
  return p.done(p.several<2>({"aten.native_dropout.default"_op, {p[0], p[1], true}})[0]);
}
/// uniform(self, from, to)
Result<Value> uniform(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(uniformLike(p[0]) * (args.number(2) - args.number(1)) + p[1]);
}
/// normal_functional(self, mean, std)
Result<Value> normalFunctional(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(normalLike(p[0]) * p[2] + p[1]);
}
/// log_normal(self, mean, std)
Result<Value> logNormal(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(exp(normalLike(p[0]) * p[2] + p[1]));
}
/// cauchy(self, median, sigma)
Result<Value> cauchy(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula turn({"aten.tan.default"_op, {(uniformLike(p[0]) - 0.5) * M_PI}});
  return p.done(turn * p[2] + p[1]);
}
/// exponential(self, lambd)
Result<Value> exponential(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(log1p(-uniformLike(p[0])) * (-1 / args.number(1)));
}
/// geometric(self, p)
Result<Value> geometric(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(floor(log1p(-uniformLike(p[0])) / std::log1p(-args.number(1))) + 1);
}

/// rand_like(self) and randn_like(self): new numbers, permuted where self is laid out otherwise.
template <bool isNormal>
Result<Value> randLikeOrRandnLike(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const MemoryFormat* given = args.values[args.position("memory_format")].as<MemoryFormat>();
  const MemoryFormat format = given ? *given : MemoryFormat::Preserve;
  const KeywordValues options{{"dtype", args.dtypeIf(args.position("dtype")).value_or(self.dtype())},
                              {"device", self.device()},
                              {"pin_memory", false}};
  const OpId draws = isNormal ? "aten.randn.default"_op : "aten.rand.default"_op;
  Formulas p(args, run);
  if (format != MemoryFormat::Preserve) {
    const Formula numbers(draws, {intList(self.symSizes())}, options);
    return p.done(format == MemoryFormat::Contiguous ? numbers : clone(numbers, format));
  }
  KERF_TRY(const SymSizes strides, likeStrides(self, format));
  const Sizes order = dimensionOrder(strides);
  SymSizes sizes;
  for (const std::int64_t d : order) sizes.push_back(self.symSize(d));
  const Formula dense(draws, {intList(sizes)}, options);
  return p.done(std::ranges::is_sorted(order) ? dense : clone(permute(dense, invertedOrder(order))));
}

/// rrelu_with_noise_functional(self, noise, lower, upper, training): the slopes that were drawn are the second result.
Result<Value> rreluWithNoiseFunctional(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (!args.boolean(4)) {
    const Formula out({"aten.leaky_relu.default"_op, {p[0], (args.number(2) + args.number(3)) / 2}});
    return p.done(std::vector<Formula>{out, p[1]});
  }
  const Formula low = p(p[0] <= 0);
  const Formula drawn = p({"aten.uniform.default"_op, {p[0], p[2], p[3]}, {{"generator", args.values[5]}}});
  const Formula out = p(where(low, p[0] * drawn, p[0]));
  return p.done(std::vector<Formula>{out, where(low, drawn, 1)});
}

constexpr OpFacts randomDecompositionsTable[] = {
    decomposes("aten::native_dropout", nativeDropout),
    decomposes("aten::uniform", uniform),
    decomposes("aten::normal_functional", normalFunctional),
    decomposes("aten::log_normal", logNormal),
    decomposes("aten::cauchy", cauchy),
    decomposes("aten::exponential", exponential),
    decomposes("aten::geometric", geometric),
    decomposes("aten::rrelu_with_noise_functional", rreluWithNoiseFunctional),
};

constexpr TableProgram programs[] = {
    {"aten::dropout", dropoutOrCopy, nullptr, DecompositionTable::Core},
    {"aten::rand_like", randLikeOrRandnLike<false>},
    {"aten::randn_like", randLikeOrRandnLike<true>},
};

const OpRegistration randomDecompositions({.facts = randomDecompositionsTable, .programs = programs});

}  // namespace

}  // namespace kerf::inline ops
