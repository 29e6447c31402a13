#include "engine/ops/core/gradient_rules.h"

#include <algorithm>

namespace kerf::inline ops {
namespace {

bool isNumberType(DType dtype) { return isFloating(dtype) || isComplex(dtype); }

bool computesComplex(const CallRecord& call) {
  const auto complex = [](const Value& value) { return value.isTensor() && isComplex(value.tensor().dtype()); };
  return std::ranges::any_of(call.args.values, complex);
}

Formula conjugate(const Formula& a) { return {"aten._conj.default"_op, {a}}; }

/// `tensor` in another dtype: the real part where only it can be kept.
Formula converted(const Formula& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (isComplex(tensor.dtype()) && !isComplex(dtype)) {
    const DType real = tensor.dtype() == DType::Complex128 ? DType::Float64 : DType::Float32;
    const Formula part("aten.real.default"_op, {tensor});
    return real == dtype ? part : Formula("aten._to_copy.default"_op, {part}, {{"dtype", dtype}});
  }
  return {"aten._to_copy.default"_op, {tensor}, {{"dtype", dtype}}};
}

/// Ones of a sum; the first is taken as it is.
Formula added(const Formula& total, const Formula& part) { return total.isNone() ? part : total + part; }

Error noDerivative(const BoundArguments& args, std::size_t i) {
  return {ErrorCode::UnsupportedOp, fmt::format("{} has no derivative by '{}'", args.op->schema.qualifiedName(),
                                                args.op->schema.arguments[i].name)};
}

std::int64_t wrappedDim(const BoundArguments& args, std::size_t i) {
  const std::int64_t rank = std::max<std::int64_t>(args.tensor(0).dim(), 1);
  const std::int64_t dim = args.integer(i);
  return dim < 0 ? dim + rank : dim;
}

}  // namespace

Formula SlopeCall::conj(const Formula& slope) const { return computesComplex(call) ? conjugate(slope) : slope; }

Result<ValueList> gradientByFormula(SlopeFormula slope, const CallRecord& call, const ValueList& grads,
                                    const OpRunner& run) {
  Backward b(call, grads, run);
  for (std::size_t i = 0; i < call.args.values.size() && b.has(0); ++i)
    if (call.wants(i)) b.give(i, slope({call, b.grad(), i}));
  return b.gradients();
}

Result<Value> jvpByFormula(SlopeFormula slope, const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  Formulas p(call.args, run);
  Formula total;
  const bool complex = computesComplex(call);
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].isTensor()) continue;
    Formula flow = slope({call, complex ? conjugate(tangents[i]) : Formula(tangents[i]), i});
    if (flow.isNone()) continue;
    if (complex) flow = conjugate(flow);
    total = p(added(total, flow));
  }
  if (total.isNone() || !p.ok()) return p.done(total);
  total = p(converted(total, call.result().dtype()));
  if (!total.sizes().isIdentical(call.result().symSizes())) total = expand(total, call.result().symSizes());
  return p.done(total);
}

Backward::Backward(const CallRecord& record, const ValueList& grads, const OpRunner& run)
    : Formulas(record.args, run), call(record), m_grads(grads), m_results(record.args.values.size()) {}

Formula Backward::orZeros(std::size_t k) { return has(k) ? grad(k) : (*this)(zerosLike(result(k))); }

std::vector<Formula> Backward::listedGrads(std::size_t k) {
  const ValueList& results = call.results[k].list();
  std::vector<Formula> grads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool flows = m_grads[k].isList() && m_grads[k].list()[i].isTensor();
    grads.push_back(flows ? Formula(m_grads[k].list()[i]) : (*this)(zerosLike(results[i])));
  }
  return grads;
}

std::int64_t Backward::dim(std::size_t i) const { return wrappedDim(args, i); }
std::int64_t Forward::dim(std::size_t i) const { return wrappedDim(args, i); }

Value Backward::fitted(const Formula& gradient, const Tensor& argument) {
  Formula fit = (*this)(gradient);
  if (!ok()) return {};
  const SymSizes &own = fit.sizes(), &wanted = argument.symSizes();
  const std::size_t lead = own.size() - std::min(own.size(), wanted.size());
  if (!own.isIdentical(wanted) && own.size() >= wanted.size()) {
    Sizes dims;
    for (std::size_t d = 0; d < own.size(); ++d) {
      const bool broadcast = d < lead || (guardOrFalse(wanted[d - lead] == 1) && guardOrTrue(own[d] != 1));
      if (broadcast) dims.push_back(std::int64_t(d));
    }
    if (!dims.empty()) fit = (*this)(sum(fit, dims, true));
    if (lead > 0) fit = (*this)(view(fit, wanted));
  }
  return (*this)(converted(fit, argument.dtype())).value();
}

void Backward::give(std::size_t i, const Formula& gradient) {
  if (!gradient.isNone() && wants(i)) m_results[i] = fitted(gradient, args.tensor(i));
}

void Backward::give(std::size_t i, const std::vector<Formula>& gradients) {
  if (!wants(i)) return;
  const ValueList& arguments = args.values[i].list();
  ValueList items(arguments.size());
  for (std::size_t k = 0; k < std::min(items.size(), gradients.size()); ++k)
    if (arguments[k].isTensor() && isNumberType(arguments[k].tensor().dtype()) && !gradients[k].isNone())
      items[k] = fitted(gradients[k], arguments[k].tensor());
  m_results[i] = Value(std::move(items));
}

void Backward::refuse(std::size_t i) {
  if (wants(i)) m_refused = noDerivative(args, i);
}

Result<ValueList> Backward::gradients() {
  if (m_refused) return std::unexpected(std::move(*m_refused));
  KERF_CHECK(done(Formula()));
  return std::move(m_results);
}

Formula Forward::orZeros(std::size_t i) { return has(i) ? tangent(i) : (*this)(zerosLike(args.values[i])); }

bool Forward::refuses(std::size_t i) {
  if (has(i)) m_refused = noDerivative(args, i);
  return m_refused.has_value();
}

Result<Value> Forward::result(const std::vector<Formula>& tangents) {
  if (m_refused) return std::unexpected(std::move(*m_refused));
  std::vector<Formula> all = tangents;
  all.resize(call.results.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k].isNone() || !call.results[k].isTensor()) continue;
    all[k] = (*this)(all[k]);
    if (ok()) all[k] = (*this)(converted(all[k], call.results[k].tensor().dtype()));
  }
  return all.size() == 1 ? done(all[0]) : done(all);
}

Result<ValueList> gradientByRule(BackwardRule rule, const CallRecord& call, const ValueList& grads,
                                 const OpRunner& run) {
  Backward b(call, grads, run);
  rule(b);
  return b.gradients();
}

Result<Value> jvpByRule(ForwardRule rule, const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  Forward f(call, tangents, run);
  return f.result(rule(f));
}

Formula times(const Formula& a, const Formula& number) { return {"aten.mul.Scalar"_op, {a, number}}; }
Formula plus(const Formula& a, const Formula& number) { return {"aten.add.Scalar"_op, {a, number}}; }
Formula over(const Formula& a, const Formula& number) { return {"aten.div.Scalar"_op, {a, number}}; }
Formula square(const Formula& a) { return {"aten.pow.Tensor_Scalar"_op, {a, 2}}; }
Formula minusFrom(const Formula& number, const Formula& a) { return {"aten.rsub.Scalar"_op, {a, number}}; }
Formula scaledBy(const Formula& a, const Formula& number) {
  const auto* whole = number.value().as<std::int64_t>();
  return whole != nullptr && *whole == 1 ? a : times(a, number);
}

Formula unsqueezed(Formula a, const Sizes& dims) {
  for (const std::int64_t dim : dims) a = unsqueeze(a, dim);
  return a;
}

}  // namespace kerf::inline ops
