#include "engine/ir/tracer.h"

#include "engine/symbolic/sym_int.h"

namespace kerf::inline ir::fx {
namespace {

constexpr std::string_view atenPrefix = "torch.ops.aten.";

/// AOTAutograd names a node after the op, without its overload.
std::string atenName(std::string_view overload) { return std::string(overload.substr(0, overload.find('.'))); }

Proxy binary(const Proxy& a, const Operand& b, std::string_view op, bool hasScalarOverload = false) {
  const bool scalar = hasScalarOverload && !b.isTensor();
  return a.tracer().aten(std::string(op) + (scalar ? ".Scalar" : ".Tensor"), {a, b.value()}, {}, b.at());
}

Argument dimsArgument(const std::vector<std::int64_t>& dims) {
  ArgumentList items;
  for (const std::int64_t dim : dims) items.emplace_back(dim);
  return Argument::list(std::move(items));
}

Proxy reduce(const Proxy& x, std::string_view overload, const std::vector<std::int64_t>& dims, bool keepDim) {
  ArgumentList args = {x, dimsArgument(dims)};
  if (keepDim) args.emplace_back(true);
  return x.tracer().aten(overload, std::move(args));
}

Proxy general(const Proxy& x, std::string_view overload, ArgumentList rest, KeywordArguments kwargs,
              std::source_location at) {
  rest.insert(rest.begin(), x);
  return x.tracer().aten(overload, std::move(rest), std::move(kwargs), at);
}

}  // namespace

Proxy::operator bool() const {
  const std::string& name = m_tracer->graph().node(m_node).name();
  throw SymbolicFailure{Error(ErrorCode::BadUsage,
                              fmt::format("control flow depends on '{}', which has no value while it is traced", name),
                              m_at.file_name(), int(m_at.line()), name)};
}

Proxy Proxy::operator[](Argument index) const { return m_tracer->call("operator.getitem", {*this, std::move(index)}); }

Proxy Proxy::method(std::string_view name, ArgumentList args, KeywordArguments kwargs) const {
  args.insert(args.begin(), *this);
  return m_tracer->callMethod(name, std::move(args), std::move(kwargs));
}

Proxy Tracer::placeholder(std::string_view name, ValueMeta value, std::source_location at) {
  const NodeId node = m_module.graph.placeholder(name);
  if (value.known()) m_module.graph.setValueMeta(node, std::move(value));
  return {*this, node, at};
}

Proxy Tracer::call(std::string_view target, ArgumentList args, KeywordArguments kwargs, std::source_location at) {
  std::string name;
  if (target.starts_with("torch.ops.")) {
    const std::string_view rest = target.substr(10);
    name = atenName(rest.substr(rest.find('.') + 1));
  }
  return {*this, m_module.graph.callFunction(target, std::move(args), std::move(kwargs), name), at};
}

Proxy Tracer::aten(std::string_view overload, ArgumentList args, KeywordArguments kwargs, std::source_location at) {
  return call(std::string(atenPrefix) + std::string(overload), std::move(args), std::move(kwargs), at);
}

Proxy Tracer::callMethod(std::string_view method, ArgumentList args, KeywordArguments kwargs, std::source_location at) {
  return {*this, m_module.graph.callMethod(method, std::move(args), std::move(kwargs)), at};
}

Proxy Tracer::callModule(std::string_view path, ArgumentList args, KeywordArguments kwargs, std::source_location at) {
  return {*this, m_module.graph.callModule(path, std::move(args), std::move(kwargs)), at};
}

Proxy Tracer::callModule(std::string_view path, Submodule submodule, ArgumentList args, std::source_location at) {
  if (!m_module.submodule(path)) m_module.submodules.add(std::string(path), std::move(submodule));
  return callModule(path, std::move(args), {}, at);
}

Proxy Tracer::getAttr(std::string_view path) { return {*this, m_module.graph.getAttr(path)}; }

Proxy Tracer::attribute(std::string_view path, Tensor tensor, bool isParameter) {
  m_module.attributes.add(std::string(path), TensorAttribute{std::move(tensor), isParameter, {}});
  return getAttr(path);
}

void Tracer::output(Argument value) { m_module.graph.output(std::move(value)); }

Result<GraphModule> traceFunction(const std::function<void(Tracer&)>& model) {
  Tracer tracer;
  try {
    model(tracer);
  } catch (SymbolicFailure& failure) {
    return fail(std::move(failure.error.while_("tracing a function")));
  }
  return tracer.finish();
}

Proxy operator+(const Proxy& a, const Operand& b) { return binary(a, b, "add"); }
Proxy operator-(const Proxy& a, const Operand& b) { return binary(a, b, "sub"); }
Proxy operator*(const Proxy& a, const Operand& b) { return binary(a, b, "mul"); }
Proxy operator/(const Proxy& a, const Operand& b) { return binary(a, b, "div"); }
Proxy operator+(double a, const Proxy& b) { return b + a; }
Proxy operator-(double a, const Proxy& b) { return b.tracer().aten("rsub.Scalar", {b, a}); }
Proxy operator*(double a, const Proxy& b) { return b * a; }
Proxy operator/(double a, const Proxy& b) { return reciprocal(b) * a; }
Proxy operator-(const Proxy& a) { return neg(a); }
Proxy operator<(const Proxy& a, const Operand& b) { return binary(a, b, "lt", true); }
Proxy operator>(const Proxy& a, const Operand& b) { return binary(a, b, "gt", true); }
Proxy operator<=(const Proxy& a, const Operand& b) { return binary(a, b, "le", true); }
Proxy operator>=(const Proxy& a, const Operand& b) { return binary(a, b, "ge", true); }

Proxy pow(const Proxy& a, const Operand& b) {
  return a.tracer().aten(b.isTensor() ? "pow.Tensor_Tensor" : "pow.Tensor_Scalar", {a, b.value()});
}

#define KERF_DEFINE(name) \
  Proxy name(const Proxy& x, std::source_location at) { return x.tracer().aten(#name ".default", {x}, {}, at); }
KERF_TRACED_UNARY(KERF_DEFINE)
#undef KERF_DEFINE
#define KERF_DEFINE(name)                                               \
  Proxy name(const Proxy& a, const Proxy& b, std::source_location at) { \
    return a.tracer().aten(#name ".default", {a, b}, {}, at);           \
  }
KERF_TRACED_BINARY(KERF_DEFINE)
#undef KERF_DEFINE
#define KERF_DEFINE(name, overload)                                                                 \
  Proxy name(const Proxy& x, ArgumentList rest, KeywordArguments kwargs, std::source_location at) { \
    return general(x, #name "." #overload, std::move(rest), std::move(kwargs), at);                 \
  }
KERF_TRACED_GENERAL(KERF_DEFINE)
#undef KERF_DEFINE

Proxy sum(const Proxy& x) { return x.tracer().aten("sum.default", {x}); }
Proxy sum(const Proxy& x, const std::vector<std::int64_t>& dims, bool keepDim) {
  return reduce(x, "sum.dim_IntList", dims, keepDim);
}
Proxy mean(const Proxy& x) { return x.tracer().aten("mean.default", {x}); }
Proxy mean(const Proxy& x, const std::vector<std::int64_t>& dims, bool keepDim) {
  return reduce(x, "mean.dim", dims, keepDim);
}
Proxy softmax(const Proxy& x, std::int64_t dim) { return x.tracer().aten("_softmax.default", {x, dim, false}); }

}  // namespace kerf::inline ir::fx
