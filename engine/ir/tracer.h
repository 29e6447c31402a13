// Tracer and Proxy: write C++ that looks like the model, get a Graph. Operators and functions are ATen calls, named as
// AOTAutograd names them:
//   Tracer t;  auto x = t.placeholder("x");  t.output(relu(x + 1.0));
//   → x; add = aten.add.Tensor(x, 1.0); relu = aten.relu.default(add); return relu
#pragma once

#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/ir/graph_module.h"

namespace kerf::inline ir::fx {

class Tracer;

/// One value of the model being traced: a node of its tracer's graph. Cheap to copy; must not outlive the tracer.
class Proxy {
 public:
  Proxy(Tracer& tracer, NodeId node, std::source_location at = std::source_location::current())
      : m_tracer(&tracer), m_node(node), m_at(at) {}
  NodeId node() const { return m_node; }
  Tracer& tracer() const { return *m_tracer; }
  operator Argument() const { return m_node; }  // NOLINT: a proxy is an argument, as in FX
  /// Control flow cannot depend on a value that is not there yet: throws SymbolicFailure, a BadUsage that names the node
  /// and the line that made it. traceFunction() gives it as an Error.
  explicit operator bool() const;
  /// The line of the model that made it.
  const std::source_location& at() const { return m_at; }

  /// operator.getitem: element of a tuple, or of a tensor by integers, slices and `...`.
  Proxy operator[](Argument index) const;
  /// call_method node.
  Proxy method(std::string_view name, ArgumentList args = {}, KeywordArguments kwargs = {}) const;

 private:
  Tracer* m_tracer;
  NodeId m_node;
  std::source_location m_at;
};

class Tracer {
 public:
  Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  Proxy placeholder(std::string_view name, ValueMeta value = {},
                    std::source_location at = std::source_location::current());
  /// Any function: "torch.ops.aten.addmm.default" is named "addmm".
  Proxy call(std::string_view target, ArgumentList args, KeywordArguments kwargs = {},
             std::source_location at = std::source_location::current());
  /// "relu.default" stands for "torch.ops.aten.relu.default".
  Proxy aten(std::string_view overload, ArgumentList args, KeywordArguments kwargs = {},
             std::source_location at = std::source_location::current());
  Proxy callMethod(std::string_view method, ArgumentList args, KeywordArguments kwargs = {},
                   std::source_location at = std::source_location::current());
  Proxy callModule(std::string_view path, ArgumentList args, KeywordArguments kwargs = {},
                   std::source_location at = std::source_location::current());
  /// Calls a module that the trace takes along. symbolicTrace() then goes through it, or leaves it as a leaf.
  Proxy callModule(std::string_view path, Submodule submodule, ArgumentList args,
                   std::source_location at = std::source_location::current());
  Proxy getAttr(std::string_view path);
  /// Adds the tensor to the module and reads it.
  Proxy attribute(std::string_view path, Tensor tensor, bool isParameter = true);
  void output(Argument value);

  const Graph& graph() const { return m_module.graph; }
  /// Ends tracing: the module with its graph and attributes.
  GraphModule finish() { return std::move(m_module); }

 private:
  GraphModule m_module;
};

/// What `model` traces. BadUsage where it decides by a traced value, with the line.
Result<GraphModule> traceFunction(const std::function<void(Tracer&)>& model);

/// A function that stays one call where a Proxy is among its arguments, and runs where none is (torch.fx.wrap).
template <class Function>
class Wrapped {
 public:
  Wrapped(std::string target, Function function) : m_target(std::move(target)), m_function(std::move(function)) {}

  template <class... Arguments>
  auto operator()(const Arguments&... arguments) const {
    if constexpr ((std::is_same_v<Arguments, Proxy> || ...)) {
      return tracerOf(arguments...)->call(m_target, ArgumentList{Argument(arguments)...});
    } else {
      return m_function(arguments...);
    }
  }

 private:
  template <class First, class... Others>
  static Tracer* tracerOf(const First& first, const Others&... others) {
    if constexpr (std::is_same_v<First, Proxy>)
      return &first.tracer();
    else
      return tracerOf(others...);
  }
  std::string m_target;
  Function m_function;
};

template <class Function>
Wrapped<Function> wrap(std::string target, Function function) {
  return {std::move(target), std::move(function)};
}
/// Of a function that C++ does not have: only calls with a Proxy compile.
struct NotRun {};
inline Wrapped<NotRun> wrap(std::string target) { return {std::move(target), NotRun{}}; }

/// A tensor or a number as one side of an operator, and the line where it stands.
class Operand {
 public:
  Operand(const Proxy& proxy, std::source_location at = std::source_location::current())  // NOLINT: as in the model
      : m_value(proxy), m_isTensor(true), m_at(at) {}
  Operand(double number, std::source_location at = std::source_location::current())  // NOLINT
      : m_value(number), m_at(at) {}
  Operand(int number, std::source_location at = std::source_location::current())  // NOLINT
      : m_value(number), m_at(at) {}
  Operand(std::int64_t number, std::source_location at = std::source_location::current())  // NOLINT
      : m_value(number), m_at(at) {}
  const Argument& value() const { return m_value; }
  bool isTensor() const { return m_isTensor; }
  const std::source_location& at() const { return m_at; }

 private:
  Argument m_value;
  bool m_isTensor = false;
  std::source_location m_at;
};

Proxy operator+(const Proxy& a, const Operand& b);
Proxy operator-(const Proxy& a, const Operand& b);
Proxy operator*(const Proxy& a, const Operand& b);
Proxy operator/(const Proxy& a, const Operand& b);
Proxy operator+(double a, const Proxy& b);
Proxy operator-(double a, const Proxy& b);
Proxy operator*(double a, const Proxy& b);
Proxy operator/(double a, const Proxy& b);
Proxy operator-(const Proxy& a);
/// Comparisons give bool tensors.
Proxy operator<(const Proxy& a, const Operand& b);
Proxy operator>(const Proxy& a, const Operand& b);
Proxy operator<=(const Proxy& a, const Operand& b);
Proxy operator>=(const Proxy& a, const Operand& b);
Proxy pow(const Proxy& a, const Operand& b);

// One row per function: C++ name and overload. Arguments after the tensors are passed on as written.
// clang-format off
#define KERF_TRACED_UNARY(X)                                                                                     \
  X(abs)                                                                                                         \
  X(acos)                                                                                                        \
  X(asin)                                                                                                        \
  X(atan)                                                                                                        \
  X(bitwise_not) X(ceil) X(cos) X(cosh) X(detach) X(erf) X(erfc) X(exp) X(expm1) X(floor) X(gelu) X(hardsigmoid) \
      X(hardswish) X(isinf) X(isnan) X(log) X(log1p) X(log2) X(logical_not) X(mish) X(neg) X(reciprocal) X(relu) \
          X(round) X(rsqrt) X(sigmoid) X(sign) X(silu) X(sin) X(sinh) X(softplus) X(sqrt) X(square) X(t) X(tan)  \
              X(tanh) X(trunc)
#define KERF_TRACED_BINARY(X) \
  X(atan2) X(bmm) X(dot) X(logical_and) X(logical_or) X(maximum) X(minimum) X(mm) X(mv) X(matmul)
#define KERF_TRACED_GENERAL(X)                                                                                         \
  X(addmm, default)                                                                                                    \
  X(alias, default)                                                                                                    \
  X(amax, default)                                                                                                     \
  X(amin, default)                                                                                                     \
  X(any, dim) X(argmax, default) X(baddbmm, default) X(cat, default) X(clamp, default) X(clone, default)               \
      X(convolution, default) X(cumsum, default) X(embedding, default) X(expand, default) X(full_like, default)        \
          X(gather, default) X(index_select, default) X(layer_norm, default) X(leaky_relu, default) X(linear, default) \
              X(max_pool2d_with_indices, default) X(native_layer_norm, default) X(permute, default) X(repeat, default) \
                  X(reshape, default) X(scatter, src) X(select, int) X(slice, Tensor) X(split, Tensor) X(squeeze, dim) \
                      X(stack, default) X(transpose, int) X(tril, default) X(triu, default) X(unsqueeze, default)      \
                          X(var_mean, correction) X(view, default) X(where, self)
// clang-format on

#define KERF_DECLARE(name) Proxy name(const Proxy& x, std::source_location at = std::source_location::current());
KERF_TRACED_UNARY(KERF_DECLARE)
#undef KERF_DECLARE
#define KERF_DECLARE(name) \
  Proxy name(const Proxy& a, const Proxy& b, std::source_location at = std::source_location::current());
KERF_TRACED_BINARY(KERF_DECLARE)
#undef KERF_DECLARE
#define KERF_DECLARE(name, overload)                                               \
  Proxy name(const Proxy& x, ArgumentList rest = {}, KeywordArguments kwargs = {}, \
             std::source_location at = std::source_location::current());
KERF_TRACED_GENERAL(KERF_DECLARE)
#undef KERF_DECLARE

/// Reductions over all elements, or over `dims`.
Proxy sum(const Proxy& x);
Proxy sum(const Proxy& x, const std::vector<std::int64_t>& dims, bool keepDim = false);
Proxy mean(const Proxy& x);
Proxy mean(const Proxy& x, const std::vector<std::int64_t>& dims, bool keepDim = false);
/// aten._softmax over one dimension.
Proxy softmax(const Proxy& x, std::int64_t dim);

}  // namespace kerf::inline ir::fx

namespace kerf::inline ir {
using fx::Proxy;
using fx::traceFunction;
using fx::Tracer;
}  // namespace kerf::inline ir
