#include "engine/verification/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/support/thread_pool.h"

namespace kerf::inline verification {
namespace {

constexpr double agreement = 1e-4;                          ///< kinks (relu, max) that a step crosses cost that much
constexpr double steps[] = {1e-6, 1e-7, 1e-5, 1e-8, 1e-9};  ///< relative to the size of each input
constexpr double closer = 3;     ///< two steps are this much closer to each other than to a slope that is wrong
constexpr double nearby = 1e-3;  ///< how far from the inputs a second look is, relative to their size

constexpr std::int64_t chunk = 1 << 15;  ///< elements summed together: the same sums whatever the threads

/// An input and how a step moves it. Values and gradients are those of the caller: together the directions of all
/// inputs would be larger than the model.
struct Moved {
  Slot input;
  Value value, gradient;
  double noise = 0, along = 0;  ///< direction[i] = noise * noiseAt(i) + along * gradient[i]
  double slope = 0;             ///< <gradient, direction>
};

/// The sum of termAt(i) over [0, count).
template <class TermAt>
double summed(std::int64_t count, const TermAt& termAt) {
  std::vector<double> parts(std::size_t((count + chunk - 1) / chunk));
  parallelFor(std::int64_t(parts.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const std::int64_t last = std::min(count, (part + 1) * chunk);
      double sum = 0;
      for (std::int64_t i = part * chunk; i < last; ++i) sum += termAt(i);
      parts[std::size_t(part)] = sum;
    }
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

double dot(const Tensor& a, const Tensor& b) {
  const double *x = a.data<double>(), *y = b.data<double>();
  return summed(a.numel(), [=](std::int64_t i) { return x[i] * y[i]; });
}

Result<Tensor> flat(const Value& value) {
  KERF_TRY(const Tensor wide, value.tensor().to(DType::Float64));
  return wide.contiguous();
}

double noiseAt(std::uint64_t index) {
  std::uint64_t value = (index + 1) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 29)) * 0x94d049bb133111ebu;
  return double((value ^ (value >> 32)) >> 11) * 0x1p-53 * 2 - 1;
}

/// As long as the input: half of it along the gradient, so that a wrong one shows, half of it in any direction.
Result<Moved> movedInput(const Slot& slot, const Value& value, const Value& gradient) {
  KERF_TRY(const Tensor at, flat(value));
  KERF_TRY(const Tensor upwards, flat(gradient));
  const double size = std::sqrt(dot(at, at)), steep = std::sqrt(dot(upwards, upwards));
  const double length = size > 0 ? size : 1;
  Moved moved{slot, value, gradient};
  moved.noise = 0.5 * length * std::sqrt(3.0 / double(std::max<std::int64_t>(1, at.numel())));
  moved.along = steep > 0 ? 0.5 * length / steep : 0;
  const double* const slopes = upwards.data<double>();
  moved.slope = summed(at.numel(), [&](std::int64_t i) {
    return slopes[i] * (moved.noise * noiseAt(std::uint64_t(i)) + moved.along * slopes[i]);
  });
  return moved;
}

/// The input a step along its direction, in fp64.
Result<Tensor> shiftedInput(const Moved& moved, double step) {
  KERF_TRY(const Tensor upwards, flat(moved.gradient));
  KERF_TRY(const Tensor at, flat(moved.value));
  KERF_TRY(Tensor shifted, Tensor::zeros(DType::Float64, at.sizes()));
  double* const elements = shifted.data<double>();
  const double *const values = at.data<double>(), *const slopes = upwards.data<double>();
  parallelFor(shifted.numel(), chunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      elements[i] = values[i] + step * (moved.noise * noiseAt(std::uint64_t(i)) + moved.along * slopes[i]);
  });
  return shifted;
}

bool isDifferentiable(const Value& value) {
  return value.isTensor() && isFloating(value.tensor().dtype()) && value.tensor().numel() > 0;
}

class Checker {
 public:
  Checker(const Stage& stage, const GraphModule& module, const SlotValues& inputs, const std::vector<Slot>& outputs,
          const RandomDraws& draws, std::stop_token stop)
      : m_stage(stage),
        m_module(module),
        m_inputs(inputs),
        m_outputs(outputs),
        m_draws(draws),
        m_stop(std::move(stop)) {}

  Result<GradientCheck> run(const SlotValues& gradients, const GradientsAt& gradientsAt) {
    KERF_TRY(GradientCheck check, checkHere(gradients));
    if (check.agrees() || !check.suspects.empty()) return check;
    KERF_CHECK(moveInputs());
    KERF_TRY(const SlotValues there, gradientsAt(m_inputs));
    KERF_TRY(GradientCheck second, checkHere(there));
    second.moved = true;
    if (second.agrees()) return second;
    if (!m_isCertain) return GradientCheck{.why = "differences of several steps disagree: too many kinks (relu, max)"};
    std::vector<const Moved*> all;
    for (const Moved& moved : m_moved) all.push_back(&moved);
    KERF_TRY(second.suspects, suspectsAmong(all));
    return second;
  }

 private:
  Result<GradientCheck> checkHere(const SlotValues& gradients) {
    m_moved.clear();
    m_step = 0;
    std::vector<std::string> misshaped;
    for (const auto& [slot, gradient] : gradients) {
      if (!slot.starts_with("grad:") || !isDifferentiable(gradient)) continue;
      const auto input = m_inputs.find("in:" + slot.substr(5));
      if (input == m_inputs.end() || !isDifferentiable(input->second)) continue;
      if (input->second.tensor().sizes() != gradient.tensor().sizes()) {
        misshaped.push_back(slot);  // no step tells what it should be, but this it cannot be
        continue;
      }
      KERF_TRY(m_moved.emplace_back(), movedInput(input->first, input->second, gradient));
    }
    if (!misshaped.empty())
      return GradientCheck{.done = true, .relativeError = HUGE_VAL, .inputs = misshaped.size(), .suspects = misshaped};
    if (m_moved.empty()) return GradientCheck{.why = "no input has a gradient"};
    GradientCheck check{.done = true, .inputs = m_moved.size()};
    std::vector<const Moved*> all;
    for (const Moved& moved : m_moved) all.push_back(&moved);
    KERF_CHECK(compare(all, check));
    if (!std::isfinite(check.differences) || !std::isfinite(check.recorded))
      return GradientCheck{.why = "the outputs or gradients are not finite"};
    return check;
  }

  /// All inputs that have gradients a little aside, each its own way.
  Result<void> moveInputs() {
    for (const Moved& moved : m_moved) {
      Moved aside = moved;
      aside.gradient = moved.value;  // only the noise counts
      aside.along = 0;
      KERF_TRY(Tensor shifted, shiftedInput(aside, nearby));
      m_inputs[moved.input] = Value(std::move(shifted));
    }
    return {};
  }

  /// sum of <output, tangent> with the inputs `moved` a step along their directions.
  Result<double> outputsAt(const std::vector<const Moved*>& moved, double step) {
    SlotValues inputs = m_inputs;
    for (const Moved* item : moved) {
      KERF_TRY(Tensor shifted, shiftedInput(*item, step));
      inputs[item->input] = Value(std::move(shifted));
    }
    KERF_TRY(const StageRun run,
             runStage(m_stage, m_module, inputs, {.draws = m_draws, .prints = false, .stop = m_stop}));
    double sum = 0;
    for (std::size_t i = 0; i < m_outputs.size(); ++i) {
      const auto tangent = m_inputs.find(fmt::format("tangent:{}", i));
      const auto output = run.values.find(m_outputs[i]);
      if (tangent == m_inputs.end() || output == run.values.end() || !output->second.isTensor()) continue;
      KERF_TRY(const Tensor a, flat(output->second));
      KERF_TRY(const Tensor b, flat(tangent->second));
      if (a.sizes() == b.sizes()) sum += dot(a, b);
    }
    return sum;
  }

  Result<void> compare(const std::vector<const Moved*>& moved, GradientCheck& check) {
    check.recorded = 0;
    double scale = 0, best = m_step;
    for (const Moved* item : moved) {
      check.recorded += item->slope;
      scale += std::abs(item->slope);
    }
    check.relativeError = HUGE_VAL;
    std::map<double, double> slopes;  // by step
    const double last = m_step;       // of a search among inputs, which one step is enough for
    for (const double step :
         last > 0 ? std::vector<double>{last} : std::vector<double>(std::begin(steps), std::end(steps))) {
      KERF_TRY(const double ahead, outputsAt(moved, step));
      KERF_TRY(const double behind, outputsAt(moved, -step));
      const double slope = slopes[step] = (ahead - behind) / (2 * step);
      const double error = std::abs(slope - check.recorded) / std::max({scale, std::abs(slope), 1e-300});
      if (!(error < check.relativeError)) continue;
      check.relativeError = error;
      check.differences = slope;
      best = step;
      if (error <= agreement / 10) break;
    }
    m_step = best;
    if (last == 0) m_isCertain = tells(slopes, check.recorded);
    return {};
  }

  /// Whether two neighbouring steps agree with each other much better than with the recorded slope: what kinks and
  /// rounding cost changes with the step.
  static bool tells(const std::map<double, double>& slopes, double recorded) {
    for (auto next = slopes.begin(), step = next++; next != slopes.end(); step = next++) {
      const double apart = std::abs(step->second - next->second);
      const double error = std::min(std::abs(step->second - recorded), std::abs(next->second - recorded));
      if (apart * closer <= error) return true;
    }
    return false;
  }

  /// Halves the inputs until those are left whose own sums do not fit; a few of them are enough.
  Result<std::vector<std::string>> suspectsAmong(std::vector<const Moved*> group) {
    constexpr int mostHalvings = 12;
    for (int i = 0; i < mostHalvings && group.size() > 1; ++i) {
      const std::vector<const Moved*> first(group.begin(), group.begin() + std::ptrdiff_t(group.size() / 2));
      GradientCheck check{.done = true};
      KERF_CHECK(compare(first, check));
      if (!check.agrees())
        group = first;
      else
        group.erase(group.begin(), group.begin() + std::ptrdiff_t(group.size() / 2));
    }
    std::vector<std::string> names;
    for (const Moved* item : group) names.push_back("grad:" + item->input.substr(3));
    return names;
  }

  const Stage& m_stage;
  const GraphModule& m_module;
  SlotValues m_inputs;
  const std::vector<Slot>& m_outputs;
  const RandomDraws& m_draws;
  std::stop_token m_stop;
  std::vector<Moved> m_moved;
  double m_step = 0;         ///< with which all inputs together came closest
  bool m_isCertain = false;  ///< the steps agree with each other
};

}  // namespace

bool GradientCheck::agrees() const { return !done || relativeError <= agreement; }

Result<GradientCheck> checkGradients(const Stage& stage, const GraphModule& module, const SlotValues& inputs,
                                     const SlotValues& gradients, const std::vector<Slot>& differentiable,
                                     const RandomDraws& draws, const GradientsAt& gradientsAt, std::stop_token stop) {
  return Checker(stage, module, inputs, differentiable, draws, std::move(stop)).run(gradients, gradientsAt);
}

}  // namespace kerf::inline verification
