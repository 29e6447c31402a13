// Fused optimizer steps over lists of tensors: Adam, AdamW, SGD and Adagrad, in double, rounded once per state.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

std::optional<std::size_t> find(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}
bool flag(const BoundArguments& args, std::string_view name) {
  const auto at = find(args, name);
  return at && args.boolean(*at);
}
/// A number argument; the learning rate may be a one-element tensor.
Result<double> number(const BoundArguments& args, std::string_view name, double fallback = 0) {
  const auto at = find(args, name);
  if (!at || args.none(*at)) return fallback;
  if (!args.values[*at].isTensor()) return args.number(*at);
  if (args.tensor(*at).numel() != 1) return mismatch(args, "argument '{}' must hold one number", name);
  return args.tensor(*at).itemAsDouble();
}

struct Step {
  double rate = 0, beta1 = 0, beta2 = 0, decay = 0, epsilon = 0, momentum = 0, dampening = 0, rateDecay = 0;
  double gradScale = 1;
  bool amsgrad = false, maximize = false, nesterov = false, first = false, decoupled = false, skip = false;
};

Result<Step> stepOf(const BoundArguments& args) {
  Step s;
  KERF_TRY(s.rate, number(args, "lr"));
  KERF_TRY(s.beta1, number(args, "beta1"));
  KERF_TRY(s.beta2, number(args, "beta2"));
  KERF_TRY(s.decay, number(args, "weight_decay"));
  KERF_TRY(s.epsilon, number(args, "eps"));
  KERF_TRY(s.momentum, number(args, "momentum"));
  KERF_TRY(s.dampening, number(args, "dampening"));
  KERF_TRY(s.rateDecay, number(args, "lr_decay"));
  KERF_TRY(s.gradScale, number(args, "grad_scale", 1));
  KERF_TRY(const double foundInf, number(args, "found_inf"));
  s.skip = foundInf == 1;
  s.amsgrad = flag(args, "amsgrad");
  s.maximize = flag(args, "maximize");
  s.nesterov = flag(args, "nesterov");
  s.first = flag(args, "is_first_step");
  s.decoupled = args.op->schema.name.find("adamw") != std::string::npos;
  return s;
}

/// The k-th tensors of every list as doubles; missing lists stay empty.
using Columns = std::vector<Doubles>;

void gradients(const Step& s, Columns& c, bool addDecay) {
  for (std::size_t i = 0; i < c[0].size(); ++i) {
    double& g = c[1][i];
    g = (s.maximize ? -g : g) / s.gradScale;
    if (addDecay && s.decay != 0) g += c[0][i] * s.decay;
  }
}

/// params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs
void adam(const Step& s, Columns& c, double step) {
  const Doubles scaledBack = c[1];
  gradients(s, c, !s.decoupled);
  const double correction1 = 1 - std::pow(s.beta1, step), correction2 = std::sqrt(1 - std::pow(s.beta2, step));
  for (std::size_t i = 0; i < c[0].size(); ++i) {
    if (s.decoupled) c[0][i] -= s.rate * s.decay * c[0][i];
    c[2][i] += (1 - s.beta1) * (c[1][i] - c[2][i]);
    c[3][i] = s.beta2 * c[3][i] + (1 - s.beta2) * c[1][i] * c[1][i];
    double second = c[3][i];
    if (s.amsgrad) second = c[4][i] = std::max(c[4][i], second);
    c[0][i] -= s.rate / correction1 * c[2][i] / (std::sqrt(second) / correction2 + s.epsilon);
  }
  c[1] = scaledBack;
  for (double& g : c[1]) g /= s.gradScale;
}

/// params, grads, momentum buffers
void sgd(const Step& s, Columns& c, double) {
  const Doubles given = c[1];
  gradients(s, c, true);
  for (std::size_t i = 0; i < c[0].size(); ++i) {
    double g = c[1][i];
    if (s.momentum != 0) {
      c[2][i] = s.first ? g : s.momentum * c[2][i] + (1 - s.dampening) * g;
      g = s.nesterov ? g + s.momentum * c[2][i] : c[2][i];
    }
    c[0][i] -= s.rate * g;
  }
  c[1] = given;
  for (double& g : c[1]) g /= s.gradScale;
}

/// params, grads, state sums
void adagrad(const Step& s, Columns& c, double step) {
  const Doubles given = c[1];
  gradients(s, c, true);
  const double rate = s.rate / (1 + (step - 1) * s.rateDecay);
  for (std::size_t i = 0; i < c[0].size(); ++i) {
    c[2][i] += c[1][i] * c[1][i];
    c[0][i] -= rate * c[1][i] / (std::sqrt(c[2][i]) + s.epsilon);
  }
  c[1] = given;
  for (double& g : c[1]) g /= s.gradScale;
}

/// How many leading list arguments are state; the list of steps follows where there is one.
std::size_t stateLists(const BoundArguments& args) {
  std::size_t count = 0;
  while (count < args.values.size() && args.op->schema.arguments[count].type.find("[]") != std::string::npos &&
         args.op->schema.arguments[count].name != "state_steps")
    ++count;
  return count;
}

Result<void> checkLists(const BoundArguments& args) {
  const std::size_t lists = stateLists(args), count = args.tensors(0).size();
  for (std::size_t k = 0; k < lists; ++k) {
    const std::vector<Tensor> tensors = args.tensors(k);
    if (tensors.empty() && k >= 2) continue;
    if (tensors.size() != count) return mismatch(args, "the lists have {} and {} tensors", count, tensors.size());
    for (std::size_t i = 0; i < count; ++i)
      if (!guardOrTrue(tensors[i].symNumel() == args.tensors(0)[i].symNumel()))
        return mismatch(args, "tensor {} of argument '{}' has the wrong size", i, args.op->schema.arguments[k].name);
  }
  const auto steps = find(args, "state_steps");
  if (!steps) return {};
  const std::vector<Tensor> counts = args.tensors(*steps);
  if (counts.size() != count) return mismatch(args, "needs one step count for each parameter");
  for (const Tensor& step : counts)
    if (!guardOrTrue(step.symNumel() == 1)) return mismatch(args, "every step count must hold one number");
  return {};
}

/// Columns of the new state, per parameter.
template <auto update>
Result<std::vector<Columns>> updated(const BoundArguments& args) {
  KERF_CHECK(checkLists(args));
  KERF_TRY(const Step step, stepOf(args));
  const std::size_t lists = stateLists(args);
  const auto steps = find(args, "state_steps");
  if (step.amsgrad && (lists < 5 || args.tensors(4).empty())) return mismatch(args, "amsgrad needs max_exp_avg_sqs");
  std::vector<Columns> result;
  for (std::size_t i = 0; i < args.tensors(0).size(); ++i) {
    Columns columns(lists);
    for (std::size_t k = 0; k < lists; ++k) {
      const std::vector<Tensor> tensors = args.tensors(k);
      if (tensors.empty()) {
        columns[k].assign(columns[0].size(), 0);
        continue;
      }
      KERF_TRY(columns[k], doublesOf(tensors[i]));
    }
    const double count = steps ? args.tensors(*steps)[i].itemAsDouble() : 0;
    if (!step.skip) update(step, columns, count);
    result.push_back(std::move(columns));
  }
  return result;
}

Result<Value> listsShape(const BoundArguments& args) {
  KERF_CHECK(checkLists(args));
  ValueList outs;
  for (std::size_t k = 0; k < args.op->schema.returns.size(); ++k) {
    ValueList metas;
    for (const Tensor& t : args.tensors(k)) metas.emplace_back(metaTensor(t.dtype(), t.symSizes(), t.symStrides()));
    outs.emplace_back(std::move(metas));
  }
  return Value(std::move(outs));
}

template <auto update>
Result<Value> functionalKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  KERF_TRY(const std::vector<Columns> state, updated<update>(args));
  ValueList outs;
  for (std::size_t k = 0; k < metas.list().size(); ++k) {
    ValueList tensors;
    for (std::size_t i = 0; i < metas.list()[k].list().size(); ++i) {
      KERF_TRY(Tensor out, allocate(metas.list()[k].list()[i].tensor()));
      KERF_CHECK(writeValues(state[i][k], out));
      tensors.emplace_back(std::move(out));
    }
    outs.emplace_back(std::move(tensors));
  }
  return Value(std::move(outs));
}

Result<Value> nothing(const BoundArguments& args) {
  KERF_CHECK(checkLists(args));
  return Value();
}
template <auto update>
Result<Value> inplaceKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Columns> state, updated<update>(args));
  for (std::size_t k = 0; k < stateLists(args); ++k) {
    const std::vector<Tensor> tensors = args.tensors(k);
    for (std::size_t i = 0; i < tensors.size(); ++i) KERF_CHECK(writeValues(state[i][k], tensors[i]));
  }
  return Value();
}

constexpr OpTrait none = OpTrait::None;
constexpr OpTrait inplace = OpTrait::Inplace | OpTrait::Impure;
#define KERF_ADAM_OPTIONS(lr)                                                                           \
  "*, " lr                                                                                              \
  " lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? " \
  "grad_scale=None, Tensor? found_inf=None) -> "
#define KERF_ADAM_LISTS                                                                                         \
  "Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs, Tensor[] " \
  "state_steps, "
#define KERF_ADAM_INPLACE                                                                                 \
  "Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] " \
  "max_exp_avg_sqs, Tensor[] state_steps, "
#define KERF_ADAM_RESULTS                                                                              \
  "(Tensor[] self_out, Tensor[] grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, Tensor[] " \
  "max_exp_avg_sqs_out)"
#define KERF_SGD_OPTIONS(lr)                                  \
  "*, float weight_decay, float momentum, " lr                \
  " lr, float dampening, bool nesterov, bool maximize, bool " \
  "is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> "
#define KERF_ADAGRAD_OPTIONS                                                                                     \
  "*, float lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? " \
  "found_inf=None) -> "
constexpr OpRow fusedOptimizerRows[] = {
    {"aten::_fused_adam(" KERF_ADAM_LISTS KERF_ADAM_OPTIONS("float") KERF_ADAM_RESULTS, none, listsShape,
     functionalKernel<adam>},
    {"aten::_fused_adam.tensor_lr(" KERF_ADAM_LISTS KERF_ADAM_OPTIONS("Tensor") KERF_ADAM_RESULTS, none, listsShape,
     functionalKernel<adam>},
    {"aten::_fused_adam_(" KERF_ADAM_INPLACE KERF_ADAM_OPTIONS("float") "()", inplace, nothing, inplaceKernel<adam>},
    {"aten::_fused_adam_.tensor_lr(" KERF_ADAM_INPLACE KERF_ADAM_OPTIONS("Tensor") "()", inplace, nothing,
     inplaceKernel<adam>},
    {"aten::_fused_adamw(" KERF_ADAM_LISTS KERF_ADAM_OPTIONS("float") KERF_ADAM_RESULTS, none, listsShape,
     functionalKernel<adam>},
    {"aten::_fused_adamw.tensor_lr(" KERF_ADAM_LISTS KERF_ADAM_OPTIONS("Tensor") KERF_ADAM_RESULTS, none, listsShape,
     functionalKernel<adam>},
    {"aten::_fused_adamw_(" KERF_ADAM_INPLACE KERF_ADAM_OPTIONS("float") "()", inplace, nothing, inplaceKernel<adam>},
    {"aten::_fused_adamw_.tensor_lr(" KERF_ADAM_INPLACE KERF_ADAM_OPTIONS("Tensor") "()", inplace, nothing,
     inplaceKernel<adam>},
    {"aten::_fused_sgd(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, " KERF_SGD_OPTIONS(
         "float") "(Tensor[] self_out, Tensor[] grads_out, Tensor[] momentum_buffer_list_out)",
     none, listsShape, functionalKernel<sgd>},
    {"aten::_fused_sgd_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, " KERF_SGD_OPTIONS(
         "float") "()",
     inplace, nothing, inplaceKernel<sgd>},
    {"aten::_fused_sgd_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] "
     "momentum_buffer_list, " KERF_SGD_OPTIONS("Tensor") "()",
     inplace, nothing, inplaceKernel<sgd>},
    {"aten::_fused_adagrad(Tensor[] self, Tensor[] grads, Tensor[] state_sums, Tensor[] "
     "state_steps, " KERF_ADAGRAD_OPTIONS "(Tensor[] self_out, Tensor[] grads_out, Tensor[] state_sums_out)",
     none, listsShape, functionalKernel<adagrad>},
    {"aten::_fused_adagrad_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor[] "
     "state_steps, " KERF_ADAGRAD_OPTIONS "()",
     inplace, nothing, inplaceKernel<adagrad>},
};

const OpRegistration fusedOptimizerOps({.rows = fusedOptimizerRows});

}  // namespace

}  // namespace kerf::inline ops
