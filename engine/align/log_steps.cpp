#include "engine/align/log_steps.h"

#include <unordered_map>

namespace kerf::inline align {

namespace {

std::string_view textBetween(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t start = text.find(before);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + before.size());
  return text.substr(0, text.find(after));
}

/// "t$3: f32[4]" of `in_out_ptr0=t$3: f32[4], xnumel=64`, with the argument's name.
std::vector<StepValue> kernelArguments(std::string_view text) {
  std::vector<StepValue> values = printedValues(text).tensors;
  std::size_t at = 0;
  for (StepValue& value : values) {
    const std::size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) break;
    const std::string_view before = text.substr(at, equals - at);
    const std::size_t comma = before.rfind(", ");
    value.name = comma == std::string_view::npos ? before : before.substr(comma + 2);
    const std::size_t bracket = text.find(']', equals);
    at = bracket == std::string_view::npos ? text.size() : bracket;
  }
  return values;
}

/// How many tensors printedValues() put a mark for.
std::size_t tensorsIn(std::string_view constants) {
  std::size_t count = 0;
  for (std::size_t at = constants.find("·"); at != std::string_view::npos; at = constants.find("·", at + 1)) ++count;
  return count;
}

void giveNamedHashes(std::vector<StepValue>& values, const std::vector<std::pair<std::string, HashLeaves>>& hashes) {
  std::unordered_map<std::string_view, const HashLeaves*> byName;
  for (const auto& [name, leaves] : hashes) byName.emplace(name, &leaves);
  for (StepValue& value : values) {
    value.hash.clear();
    value.l1.reset();
    const auto found = byName.find(value.name);
    if (found == byName.end()) continue;
    std::vector<StepValue> one{std::move(value)};
    giveHashes(one, *found->second);
    value = std::move(one.front());
  }
}

bool sameFigures(const StepValue& a, const StepValue& b) { return a.hash == b.hash && a.l1 == b.l1; }

/// "gelu", "native_layer_norm" of triton_per_fused_gelu_native_layer_norm_0 cannot be told apart for sure: the words.
std::string fusedWords(std::string_view kernel) {
  const std::size_t fused = kernel.find("_fused_");
  if (fused == std::string_view::npos) return {};
  kernel.remove_prefix(fused + 7);
  const std::size_t number = kernel.rfind('_');
  return std::string(kernel.substr(0, number));
}

bool isCall(const RunStep& step, std::string_view op) { return !step.kernel && step.op == op; }

/// How many steps from `at` on are DebugMode's way to a hash: a copy to float64, its norm or hash, and the number of it.
std::size_t ownHashCalls(const std::vector<RunStep>& steps, std::size_t at) {
  std::size_t next = at;
  const auto takes = [&](std::string_view op) {
    if (next >= steps.size() || !isCall(steps[next], op)) return false;
    ++next;
    return true;
  };
  takes("aten.clone");
  if (takes("aten._to_copy")) {
    const std::string& constants = steps[next - 1].constants;
    if (constants.find("float64") == std::string::npos && constants.find("int64") == std::string::npos &&
        constants.find("complex128") == std::string::npos && constants.find("dtype=torch.float32") == std::string::npos)
      return 0;
    takes("aten._to_copy");
  }
  if (!takes("aten.linalg_vector_norm") && !takes("aten.hash_tensor")) return 0;
  return takes("aten._local_scalar_dense") ? next - at : 0;
}

}  // namespace

std::string userLine(std::string_view traceback) {
  std::string found;
  for (std::size_t at = traceback.find("File \""); at != std::string_view::npos;
       at = traceback.find("File \"", at + 6)) {
    std::string_view frame = traceback.substr(at + 6);
    const std::string_view file = frame.substr(0, frame.find('"'));
    if (file.find("/torch/") != std::string_view::npos) continue;
    frame = frame.substr(0, frame.find("File \""));
    const std::string_view line = textBetween(frame, "\", line ", ","), function = textBetween(frame, ", in ", "\n");
    const std::string_view code = textBetween(frame, "\n    ", "\n");
    found = fmt::format("{}:{} in {}, code: {}", file, line, function, code);
  }
  return found;
}

void LogSteps::add(LogCall call) {
  while (!m_modules.empty() && m_modules.back().depth >= call.depth) m_modules.pop_back();
  if (call.kind == LogCall::Kind::Op) addOp(call);
  if (call.kind == LogCall::Kind::Kernel) addKernel(call);
  if (call.kind == LogCall::Kind::Marker) enter(call);
}

void LogSteps::enter(const LogCall& call) {
  if (call.header.starts_with("nn.Mod")) m_modules.push_back({call.depth, call.name});
}

void LogSteps::addOp(LogCall& call) {
  RunStep step;
  step.op = baseOpName(call.name);
  step.inPlace = writesInPlace(step.op);
  if (step.inPlace) step.op.pop_back();
  step.source = std::move(call.source);
  if (!m_modules.empty()) step.module = m_modules.back().name;
  PrintedValues arguments = printedValues(call.arguments);
  giveHashes(arguments.tensors, call.inputHashes);
  step.constants = std::move(arguments.constants);
  step.inputs = std::move(arguments.tensors);
  // What `out=` is given is no input: it is what is written to.
  if (const std::size_t out = step.constants.find("out=·"); out != std::string::npos) {
    const std::size_t before = tensorsIn(std::string_view(step.constants).substr(0, out));
    if (before < step.inputs.size()) step.inputs.resize(before);
    step.constants.erase(out >= 2 ? out - 2 : 0);
  }
  step.outputs = printedValues(call.output).tensors;
  giveHashes(step.outputs, call.outputHashes);
  m_steps.push_back(std::move(step));
}

void LogSteps::addKernel(LogCall& call) {
  RunStep step;
  step.op = std::move(call.name);
  step.kernel = true;
  step.source = std::move(call.source);
  if (!m_modules.empty()) step.module = m_modules.back().name;
  if (std::string words = fusedWords(step.op); !words.empty()) step.parts.push_back(std::move(words));
  std::vector<StepValue> before = kernelArguments(call.arguments), after = before;
  giveNamedHashes(before, call.kernelBefore);
  giveNamedHashes(after, call.kernelAfter);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool isOut = before[i].name.find("out_ptr") != std::string::npos;
    const bool both = before[i].measured() && after[i].measured();
    const bool written = both ? isOut || !sameFigures(before[i], after[i]) : isOut;
    const bool read = !isOut || before[i].name.starts_with("in_out");
    if (read) step.inputs.push_back(before[i]);
    if (written) step.outputs.push_back(after[i]);
  }
  m_steps.push_back(std::move(step));
}

RunRecording LogSteps::finish() {
  RunRecording recording;
  recording.kind = "DebugMode log";
  const bool kernels = std::ranges::any_of(m_steps, &RunStep::kernel);
  std::size_t left = 0;
  for (std::size_t at = 0; at < m_steps.size();) {
    const std::size_t own = kernels ? ownHashCalls(m_steps, at) : 0;
    if (own == 0) recording.steps.push_back(std::move(m_steps[at]));
    left += own;
    at += std::max<std::size_t>(own, 1);
  }
  if (left > 0)
    recording.notes.push_back(
        fmt::format("{} calls are left out by which DebugMode hashed arguments of kernels", left));
  nameSteps(recording);
  return recording;
}

}  // namespace kerf::inline align
