// torch.signal.windows: each is a function of places i = 0 … M - 1.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

/// One window on its way: the first error ends it.
class Window {
 public:
  explicit Window(const PythonCall& call)
      : m_call(call), m_count(call.integer(0, "M", 0)), m_symmetric(call.truth(SIZE_MAX, "sym", true)) {}

  std::int64_t count() const { return m_count; }
  /// A periodic window is a symmetric one longer by one, cut.
  std::int64_t whole() const { return !m_symmetric && m_count > 1 ? m_count + 1 : m_count; }
  double number(std::string_view name, double otherwise) const { return m_call.number(SIZE_MAX, name, otherwise); }

  Result<void> check() const {
    if (m_count < 0)
      return fail(ErrorCode::BadInput, "{}: a window must have a non-negative length, got {}", m_call.name, m_count);
    constexpr std::string_view strict[] = {"cosine", "exponential", "gaussian"};  // others look at a length of 1 first
    const bool takesTruth = std::ranges::find(strict, m_call.name) == std::end(strict);
    if (const Value length = m_call.get(0, "M"); length.isNone() || (length.as<bool>() != nullptr && !takesTruth))
      return fail(ErrorCode::BadInput, "{}: argument 'M' must be an int", m_call.name);
    const Value dtype = m_call.get(SIZE_MAX, "dtype"), layout = m_call.get(SIZE_MAX, "layout");
    if (layout.isList() || isNumber(layout))
      return fail(ErrorCode::BadInput, "{}: a window must be strided", m_call.name);
    if (const auto* given = dtype.as<DType>(); given != nullptr && !isFloating(*given))
      return fail(ErrorCode::BadInput, "{}: a window must be of a floating dtype", m_call.name);
    return {};
  }
  KeywordValues placed() const {
    const Value dtype = m_call.get(SIZE_MAX, "dtype"), device = m_call.get(SIZE_MAX, "device");
    KeywordValues keywords{{"dtype", dtype.isNone() ? Value(DType::Float32) : dtype}};
    if (!device.isNone()) keywords.emplace_back("device", device);
    return keywords;
  }
  /// start + i · step
  Value line(double start, double step) {
    Value places = step_("arange.default", {Value(m_count)}, placed());
    return add(multiply(places, step), start);
  }
  Value multiply(const Value& a, double factor) { return step_("mul.Scalar", {a, Value(factor)}); }
  Value add(const Value& a, double number) { return step_("add.Scalar", {a, Value(number)}); }
  Value sum(const Value& a, const Value& b) { return step_("add.Tensor", {a, b}); }
  Value of(std::string_view function, const Value& a) { return step_(fmt::format("{}.default", function), {a}); }
  Value square(const Value& a) { return step_("mul.Tensor", {a, a}); }

  /// Windows of no or one element are the same for all functions.
  template <class Make>
  Result<Value> done(Make make) {
    KERF_CHECK(check());
    if (m_count < 2) return m_call.aten("ones.default", {intList({m_count})}, placed());
    Value made = make(*this);
    if (m_error) return fail(std::move(*m_error));
    return made;
  }

 private:
  Value step_(std::string_view op, const ValueList& args, const KeywordValues& keywords = {}) {
    if (m_error) return Value();
    auto made = m_call.aten(op, args, keywords);
    if (made) return std::move(*made);
    m_error = std::move(made.error());
    return Value();
  }

  const PythonCall& m_call;
  std::int64_t m_count;
  bool m_symmetric;
  std::optional<Error> m_error;
};

/// a₀ - a₁ cos x + a₂ cos 2x - …, where x goes once around.
Result<Value> cosines(const PythonCall& call, const std::vector<double>& weights) {
  return Window(call).done([&](Window& w) {
    const Value angle = w.line(0, 2 * M_PI / double(w.whole() - 1));
    Value total = w.add(w.multiply(angle, 0), weights.front());
    for (std::size_t i = 1; i < weights.size(); ++i)
      total = w.sum(total, w.multiply(w.of("cos", w.multiply(angle, double(i))), (i % 2 == 1 ? -1 : 1) * weights[i]));
    return total;
  });
}

Result<Value> generalCosine(const PythonCall& call) {
  const Value given = call.get(SIZE_MAX, "a");
  std::vector<double> weights;
  if (given.isList())
    for (const Value& item : given.list()) {
      const auto* whole = item.as<std::int64_t>();
      const auto* number = item.as<double>();
      if (whole == nullptr && number == nullptr)
        return fail(ErrorCode::BadInput, "general_cosine: coefficients must be numbers");
      weights.push_back(whole != nullptr ? double(*whole) : *number);
    }
  if (weights.empty())
    return fail(ErrorCode::BadInput, "general_cosine: coefficients must be a list that is not empty");
  return cosines(call, weights);
}

Result<Value> hamming(const PythonCall& call) {
  const double alpha = call.number(SIZE_MAX, "alpha", 0.54);
  return cosines(call, {alpha, 1 - alpha});
}
Result<Value> hann(const PythonCall& call) { return cosines(call, {0.5, 0.5}); }
Result<Value> blackman(const PythonCall& call) { return cosines(call, {0.42, 0.5, 0.08}); }
Result<Value> nuttall(const PythonCall& call) { return cosines(call, {0.3635819, 0.4891775, 0.1365995, 0.0106411}); }

Result<Value> cosine(const PythonCall& call) {
  return Window(call).done([](Window& w) {
    const double step = M_PI / double(w.whole());
    return w.of("sin", w.line(0.5 * step, step));
  });
}

Result<Value> bartlett(const PythonCall& call) {
  return Window(call).done(
      [](Window& w) { return w.add(w.multiply(w.of("abs", w.line(-1, 2 / double(w.whole() - 1))), -1), 1); });
}

Result<Value> exponential(const PythonCall& call) {
  if (call.number(SIZE_MAX, "tau", 1) <= 0) return fail(ErrorCode::BadInput, "exponential: tau must be positive");
  return Window(call).done([](Window& w) {
    const double step = 1 / w.number("tau", 1), center = w.number("center", double(w.whole() - 1) / 2);
    return w.of("exp", w.multiply(w.of("abs", w.line(-center * step, step)), -1));
  });
}

Result<Value> gaussian(const PythonCall& call) {
  if (call.number(SIZE_MAX, "std", 1) <= 0) return fail(ErrorCode::BadInput, "gaussian: std must be positive");
  return Window(call).done([](Window& w) {
    const double step = 1 / (w.number("std", 1) * std::sqrt(2.0));
    return w.of("exp", w.multiply(w.square(w.line(-double(w.whole() - 1) / 2 * step, step)), -1));
  });
}

Result<Value> kaiser(const PythonCall& call) {
  const double beta = call.number(SIZE_MAX, "beta", 12);
  if (!(beta >= 0) || !std::isfinite(beta))
    return fail(ErrorCode::BadInput, "kaiser: beta must be finite and not negative");
  return Window(call).done([](Window& w) {
    const double beta = w.number("beta", 12);
    const Value place = w.line(-beta, 2 * beta / double(w.whole() - 1));
    const Value inside = w.of("relu", w.add(w.multiply(w.square(place), -1), beta * beta));  // -0.0 by rounding
    return w.multiply(w.of("i0", w.of("sqrt", inside)), 1 / std::cyl_bessel_i(0.0, beta));
  });
}

constexpr PythonRow rows[] = {
    {"torch.signal.windows.bartlett", bartlett},
    {"torch.signal.windows.blackman", blackman},
    {"torch.signal.windows.cosine", cosine},
    {"torch.signal.windows.exponential", exponential},
    {"torch.signal.windows.gaussian", gaussian},
    {"torch.signal.windows.general_cosine", generalCosine},
    {"torch.signal.windows.general_hamming", hamming},
    {"torch.signal.windows.hamming", hamming},
    {"torch.signal.windows.hann", hann},
    {"torch.signal.windows.kaiser", kaiser},
    {"torch.signal.windows.nuttall", nuttall},
};

}  // namespace

PythonRows signalWindowRows() { return rows; }

}  // namespace kerf::inline ops
