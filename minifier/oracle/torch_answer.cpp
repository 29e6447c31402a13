// Answers of the torch worker: from JSON, and as fingerprints.
#include "minifier/oracle/torch_answer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "engine/support/read_json.h"
#include "minifier/core/accuracy_identity.h"
#include "minifier/oracle/python_failure.h"
#include "minifier/oracle/verdict_fingerprint.h"

namespace kerf::inline minifier::inline oracle {

namespace {

using nlohmann::json;

std::string textAt(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Python writes NaN and infinities as words that JSON does not have; the worker's numbers come through its text.
double numberAt(const json& object, const char* name, double otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::vector<std::string> textsAt(const json& object, const char* name) {
  std::vector<std::string> texts;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return texts;
  for (const json& item : *found)
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

std::chrono::nanoseconds secondsAt(const json& object, const char* name) {
  const std::chrono::duration<double> seconds(numberAt(object, name, 0));
  return std::chrono::duration_cast<std::chrono::nanoseconds>(seconds);
}

constexpr std::pair<std::string_view, TorchAnswer::Kind> kinds[] = {{"passes", TorchAnswer::Kind::Passes},
                                                                    {"fails", TorchAnswer::Kind::Fails},
                                                                    {"untestable", TorchAnswer::Kind::Untestable}};

/// The kernel of a fusion group is named after what is in it, and numbered: no part of what stays.
bool isKernelName(std::string_view name) { return name.starts_with("cpp_") || name.starts_with("triton_"); }

/// The first line; of Triton's compiler, which begins with the place and shows code, the last one.
std::string shownLine(const std::string& message) {
  const std::string first = message.substr(0, message.find('\n'));
  return first.starts_with("at ") && first.ends_with(':') ? tellingLine(message) : first;
}

std::string opOf(const TorchAnswer& answer) {
  const auto found = std::ranges::find_if_not(answer.names, isKernelName);
  return found == answer.names.end() ? std::string() : *found;
}

std::string accuracyKind(const TorchAnswer& answer) {
  if (!answer.accuracy) return "magnitude";
  if (answer.accuracy->line.find("dtype") < answer.accuracy->line.find("RMSE")) return "dtype";
  return std::isnan(answer.accuracy->compiledError) ? "nan" : "magnitude";
}

/// The number behind `name` in same()'s words; none where they have none.
std::optional<double> saidNumber(const std::string& line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string::npos) return std::nullopt;
  const char* begin = line.c_str() + at + name.size();
  char* end = nullptr;
  const double number = std::strtod(begin, &end);
  return end == begin ? std::nullopt : std::optional(number);
}

/// The error's ratio to what same() allows: multiplier times eager's own error, and a tenth of the tolerance. Which
/// output it is same() does not say.
std::optional<int> accuracyDecade(const TorchAccuracy& accuracy) {
  const auto multiplier = saidNumber(accuracy.line, "multiplier: "), tolerance = saidNumber(accuracy.line, "tol: ");
  if (!multiplier || !tolerance || accuracy.referenceError < 0) return std::nullopt;
  return decadeOf(accuracy.compiledError / (*multiplier * accuracy.referenceError + *tolerance / 10));
}

std::string torchAccuracyFingerprint(const TorchAnswer& answer) {
  AccuracyIdentity identity{accuracyKind(answer), {}, {}};
  if (identity.kind == "magnitude" && answer.accuracy) identity.decade = accuracyDecade(*answer.accuracy);
  return identity.text();
}

std::string exceptionFingerprint(const TorchAnswer& answer) {
  std::string text = fmt::format("{}:{}", answer.phase, answer.exception);
  if (const std::string op = opOf(answer); !op.empty()) text += ":" + op;
  const std::string masked = maskedMessage(shownLine(answer.message));
  if (!masked.empty()) return text + ":" + masked;
  if (!answer.frames.empty()) text += "@" + answer.frames.front();  // an assertion that says nothing
  return text;
}

}  // namespace

Result<TorchAnswer> parseTorchAnswer(std::string_view text) {
  std::string readable(text);
  for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
    for (std::size_t at = 0; (at = readable.find(": " + std::string(word), at)) != std::string::npos; at += 2)
      readable.replace(at + 2, word.size(), word == "NaN" ? "\"nan\"" : word[0] == '-' ? "-1e308" : "1e308");
  const json object = readJson<json>(readable);
  if (!object.is_object()) return fail(ErrorCode::Internal, "the torch worker's answer is not a JSON object");
  TorchAnswer answer;
  const std::string verdict = textAt(object, "verdict");
  for (const auto& [name, kind] : kinds)
    if (name == verdict) answer.kind = kind;
  answer.phase = textAt(object, "phase");
  answer.exception = textAt(object, "exception");
  answer.message = textAt(object, "message");
  answer.wrappers = textsAt(object, "wrappers");
  answer.names = textsAt(object, "names");
  answer.frames = textsAt(object, "frames");
  answer.time = secondsAt(object, "seconds");
  answer.compileTime = secondsAt(object, "compile_seconds");
  answer.runTime = secondsAt(object, "run_seconds");
  if (const auto accuracy = object.find("accuracy"); accuracy != object.end() && accuracy->is_object()) {
    const double unknown = textAt(*accuracy, "rmse_res") == "nan" ? std::nan("") : -1;
    answer.accuracy = TorchAccuracy{numberAt(*accuracy, "rmse_res", unknown), numberAt(*accuracy, "rmse_ref", -1),
                                    textAt(*accuracy, "shape"), textAt(*accuracy, "dtype"), textAt(*accuracy, "line")};
  }
  return answer;
}

std::string torchFingerprint(const TorchAnswer& answer) {
  if (answer.phase == "accuracy") return torchAccuracyFingerprint(answer);
  if (answer.phase == "compile" || answer.phase == "run") return exceptionFingerprint(answer);
  return answer.exception.empty() ? answer.phase : fmt::format("{}:{}", answer.phase, answer.exception);
}

Verdict verdictOf(const TorchAnswer& answer) {
  Verdict verdict;
  verdict.time = answer.time;
  const std::string message = shownLine(answer.message);
  switch (answer.kind) {
    case TorchAnswer::Kind::Passes:
      verdict.kind = VerdictKind::Passes;
      break;
    case TorchAnswer::Kind::Untestable:
      verdict.kind = VerdictKind::CannotTest;
      verdict.detail = message;
      break;
    case TorchAnswer::Kind::Fails:
      verdict.kind = VerdictKind::Fails;
      verdict.fingerprint = torchFingerprint(answer);
      verdict.detail = answer.accuracy ? answer.accuracy->line : fmt::format("{}: {}", answer.exception, message);
      break;
  }
  return verdict;
}

}  // namespace kerf::inline minifier::inline oracle
