#include "tests/differential/specials/special_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::specials {
namespace {

using fuzzgraph::Dice;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

struct FloatType {
  DType dtype;
  const char* name;
};
constexpr FloatType types[] = {
    {DType::Float32, "f32"}, {DType::Float64, "f64"}, {DType::Float16, "f16"}, {DType::BFloat16, "bf16"}};

Result<Tensor> tensorOf(const std::vector<double>& values, const Sizes& sizes, DType dtype) {
  KERF_TRY(Tensor wide, Tensor::zeros(DType::Float64, sizes));
  std::ranges::copy(values, wide.data<double>());
  return wide.to(dtype);
}

/// What is done with a chosen value; %w is it, %n a number of its own.
struct Ending {
  const char* text;
  const char* result;  ///< annotation of %r; "same": that of %w; "": none
};
constexpr Ending endings[] = {
    {"", "same"},
    {"torch.ops.aten.neg.default(%w)", "same"},
    {"torch.ops.aten.mul.Tensor(%w, 2)", "same"},
    {"torch.ops.aten.abs.default(%w)", "same"},
    {"torch.ops.aten.relu.default(%w)", "same"},
    {"torch.ops.aten.sum.default(%w)", ""},
    {"torch.ops.aten.view.default(%w, [-1])", ""},
    {"torch.ops.aten.unsqueeze.default(%w, 0)", ""},
    {"torch.ops.aten.isnan.default(%w)", ""},
    {"torch.ops.aten.eq.Tensor(%w, %w)", ""},
    {"torch.ops.aten.complex.default(%w, %w)", "real"},
    {"torch.ops.aten._to_copy.default(%w, dtype = torch.int32)", ""},
    {"torch.ops.aten._to_copy.default(%w, dtype = torch.float64)", ""},
    {"torch.ops.aten.clone.default(%w)", "same"},
};

/// Two lists of values that have NaN and infinities at drawn places; alike but for what `kind` says.
struct Pattern {
  std::vector<double> shut, open;
};

double drawSpecial(Dice& dice) { return dice.pick({nan, inf, -inf, nan}); }

Pattern drawPattern(Dice& dice, std::size_t count) {
  Pattern pattern;
  for (std::size_t i = 0; i < count; ++i)
    pattern.shut.push_back(dice.chance(25) ? drawSpecial(dice) : double(dice.between(-6, 6)) / 2);
  pattern.open = pattern.shut;
  if (count == 0 || dice.chance(25)) return pattern;  // nothing differs
  const int changes = dice.chance(60) ? 1 : 3;
  for (int i = 0; i < changes; ++i) {
    double& value = pattern.open[dice.below(count)];
    const bool special = !std::isfinite(value);
    if (special)
      value = dice.chance(50) ? double(dice.between(-4, 4)) : std::isnan(value) ? inf : -value;
    else if (dice.chance(85))
      value = drawSpecial(dice);
    else
      value += 100;
  }
  return pattern;
}

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : m_dice(seed) {}

  Result<SpecialCase> run() {
    KERF_CHECK(addInput("z", "f32[]", Tensor::zeros(DType::Float32, {}), filled(1)));
    m_body =
        "        sw: \"f32[]\" = torch.ops.aten.erf.default(z)\n"
        "        gate: \"b8[]\" = torch.ops.aten.gt.Scalar(sw, 0.5)\n";
    const int outputs = int(m_dice.between(1, 4));
    for (int i = 0; i < outputs; ++i) KERF_CHECK(addResult(i));
    m_case.text = fmt::format("class G(torch.nn.Module):\n    def forward(self, {}):\n{}        return ({},)\n",
                              fmt::join(m_parameters, ", "), m_body, fmt::join(m_returned, ", "));
    KERF_TRY(m_case.candidate.module, parseReadable(m_case.text));
    KERF_CHECK(judge());
    return std::move(m_case);
  }

 private:
  static Result<Tensor> filled(double value) { return tensorOf({value}, {}, DType::Float32); }

  Result<void> addInput(const std::string& name, const std::string& annotation, Result<Tensor> shut,
                        Result<Tensor> open = Tensor()) {
    if (!shut) return fail(shut.error());
    m_parameters.push_back(fmt::format("{}: \"{}\"", name, annotation));
    m_case.candidate.inputs.emplace_back(*shut);
    m_case.open.emplace_back(open && open->defined() ? *open : *shut);
    return {};
  }

  std::string drawShape(Sizes& sizes) {
    const int rank = int(m_dice.between(0, 3));
    for (int i = 0; i < rank; ++i) sizes.push_back(m_dice.chance(5) ? 0 : m_dice.between(1, 3));
    return fmt::format("[{}]", fmt::join(sizes, ", "));
  }

  Result<void> addResult(int number) {
    Sizes sizes;
    const FloatType type = types[m_dice.below(std::size(types))];
    const std::string annotation = type.name + drawShape(sizes);
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    const Pattern pattern = drawPattern(m_dice, std::size_t(count));
    const auto id = [&](const char* name) { return fmt::format("{}{}", name, number); };
    KERF_CHECK(addInput(id("a"), annotation, tensorOf(pattern.open, sizes, type.dtype)));
    KERF_CHECK(addInput(id("b"), annotation, tensorOf(pattern.shut, sizes, type.dtype)));
    m_body += fmt::format("        {}: \"{}\" = torch.ops.aten.where.self(gate, {}, {})\n", id("w"), annotation,
                          id("a"), id("b"));
    if (m_dice.chance(20)) return addMutation(number, annotation, sizes, type.dtype);
    const Ending& ending = endings[m_dice.below(std::size(endings))];
    const bool real = type.dtype == DType::Float32 || type.dtype == DType::Float64;
    if (*ending.text == '\0' || (ending.result == std::string_view("real") && !real)) {
      m_returned.push_back(id("w"));
      return {};
    }
    std::string call = ending.text;
    for (auto at = call.find("%w"); at != std::string::npos; at = call.find("%w")) call.replace(at, 2, id("w"));
    const bool same = ending.result == std::string_view("same");
    m_body += fmt::format("        {}{} = {}\n", id("r"), same ? ": \"" + annotation + "\"" : "", call);
    m_returned.push_back(id("r"));
    if (m_dice.chance(15)) m_returned.push_back(id("w"));
    return {};
  }

  /// The value goes into an input; what is returned is another one.
  Result<void> addMutation(int number, const std::string& annotation, const Sizes& sizes, DType dtype) {
    const std::string name = fmt::format("m{}", number);
    KERF_CHECK(addInput(name, annotation, Tensor::zeros(dtype, sizes)));
    m_case.open.back() = Value(*Tensor::zeros(dtype, sizes));
    m_body += fmt::format("        c{0}: \"{1}\" = torch.ops.aten.copy_.default(m{0}, w{0})\n", number, annotation);
    m_returned.push_back(m_dice.chance(30) ? fmt::format("c{}", number) : "gate_z");
    if (m_returned.back() == "gate_z") {
      m_returned.back() = fmt::format("u{}", number);
      m_body += fmt::format("        u{0}: \"f32[]\" = torch.ops.aten.mul.Tensor(z, 0)\n", number);
    }
    m_mutated.push_back(m_case.open.size() - 1);
    return {};
  }

  static Result<ValueList> copies(const ValueList& values) {
    ValueList list;
    for (const Value& value : values) {
      KERF_TRY(Tensor copy, value.tensor().clone());
      list.emplace_back(std::move(copy));
    }
    return list;
  }

  /// Results and written inputs of the interpreter.
  Result<ValueList> resultsOf(const ValueList& given) {
    KERF_TRY(const ValueList inputs, copies(given));
    Interpreter interpreter(m_case.candidate.module, referenceOps());
    KERF_TRY(const Value result, interpreter.run(inputs));
    ValueList all = result.isList() ? result.list() : ValueList{result};
    for (const std::size_t index : m_mutated) all.push_back(inputs[index]);
    return all;
  }

  static Result<Truth> compare(const Tensor& a, const Tensor& b) {
    const bool exact = !isFloating(a.dtype()) && !isComplex(a.dtype());
    KERF_TRY(Tensor first, a.to(isComplex(a.dtype()) ? DType::Complex128 : DType::Float64));
    KERF_TRY(Tensor second, b.to(isComplex(b.dtype()) ? DType::Complex128 : DType::Float64));
    KERF_TRY(first, first.contiguous());
    KERF_TRY(second, second.contiguous());
    const auto at = [](const Tensor& tensor) {
      const std::int64_t parts = isComplex(tensor.dtype()) ? 2 : 1;
      return reinterpret_cast<const double*>(tensor.storage()->data()) + tensor.offset() * parts;
    };
    const std::int64_t count = first.numel() * (isComplex(a.dtype()) ? 2 : 1);
    Truth truth = Truth::Same;
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = at(first)[i], y = at(second)[i];
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (exact || !std::isfinite(x) || !std::isfinite(y) || std::abs(x - y) > 50) return Truth::Different;
      truth = Truth::Between;
    }
    return truth;
  }

  Result<void> judge() {
    KERF_TRY(const ValueList shut, resultsOf(m_case.candidate.inputs));
    ValueList opened = m_case.candidate.inputs;
    opened[0] = m_case.open[0];
    KERF_TRY(const ValueList open, resultsOf(opened));
    for (std::size_t i = 0; i < shut.size(); ++i) {
      KERF_TRY(const Truth truth, compare(shut[i].tensor(), open[i].tensor()));
      const bool named = i < m_returned.size();
      if (named && m_returned[i].starts_with("u")) continue;  // of the gate's own input
      if (truth == Truth::Different)
        m_case.different.push_back(named ? m_returned[i]
                                         : fmt::format("mutates {}", nameOfInput(m_mutated[i - m_returned.size()])));
      if (truth == Truth::Different || m_case.truth == Truth::Same) m_case.truth = truth;
    }
    return {};
  }

  std::string nameOfInput(std::size_t index) const {
    const auto placeholders = m_case.candidate.module.graph.placeholders();
    return m_case.candidate.module.graph.node(placeholders[index]).name();
  }

  Dice m_dice;
  SpecialCase m_case;
  std::vector<std::string> m_parameters, m_returned;
  std::vector<std::size_t> m_mutated;  ///< inputs
  std::string m_body;
};

}  // namespace

Result<SpecialCase> makeCase(std::uint64_t seed) { return Maker(seed).run(); }

}  // namespace kerf::specials
